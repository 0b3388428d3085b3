#include "armature/client/pipeline.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "client/src/pipeline_stream.h"
#include "storage/base/status_macros.h"

namespace armature::client {

absl::StatusOr<std::unique_ptr<Pipeline>> Pipeline::Open(std::shared_ptr<Connection> connection,
                                                         const ClientOptions& client_options,
                                                         const PipelineOptions& options) {
  if (options.in_flight_max < 1) return absl::InvalidArgumentError("in_flight_max must be at least 1");
  if (options.lifetime <= absl::ZeroDuration()) return absl::InvalidArgumentError("lifetime must be positive");
  const absl::Time now = client_options.clock->Now();
  CallContext context;
  context.metadata = client_options.metadata;
  context.metadata.insert(context.metadata.end(), options.call.metadata.begin(), options.call.metadata.end());
  context.deadline = now + options.call.timeout.value_or(client_options.timeout);
  ARM_ASSIGN_OR_RETURN(Stubs* const stubs, connection->StubsForStream(context));
  context.deadline = now + options.lifetime;
  const size_t request_bytes_max = std::min(kRequestBytesMax, static_cast<size_t>(client_options.send_bytes_max));
  auto stream = std::make_unique<PipelineStream>(std::move(connection), options, request_bytes_max);
  stream->Start(*stubs, context);
  return std::unique_ptr<Pipeline>(new Pipeline(std::move(stream)));
}

Pipeline::Pipeline(std::unique_ptr<PipelineStream> stream) : stream_(std::move(stream)) {}

Pipeline::~Pipeline() { stream_->CancelAndWait(); }

void Pipeline::Send(api::v1::PipelineRequest request, Answered answered) {
  stream_->Send(std::move(request), std::move(answered));
}

void Pipeline::WaitUntilIdle() { stream_->WaitUntilIdle(); }

absl::Status Pipeline::Close() { return stream_->Close(); }

absl::Status Pipeline::status() const { return stream_->status(); }

}  // namespace armature::client
