#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PIPELINE_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PIPELINE_H_

// Many concurrent operations on items over one stream, without a thread for each operation.

#include <cstddef>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/api/v1/items.pb.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"

namespace armature::client {

class Client;
class PipelineStream;

struct PipelineOptions {
  // Maximum number of operations without an answer; Ask blocks at this number. At least 1. The daemon itself runs a few
  // hundred operations of one stream at once.
  size_t in_flight_max = 256;
  // Maximum size in bytes of the requests of operations without an answer. A larger request is sent alone.
  size_t in_flight_bytes_max = 16 << 20;
  // Lifetime of the stream. Operations without an answer at its end fail with DEADLINE_EXCEEDED.
  absl::Duration lifetime = absl::InfiniteDuration();
  // `timeout`: the longest wait for the daemon when the stream is opened.
  CallOptions call = {};
};

namespace pipeline_internal {

using In = api::v1::PipelineRequest;
using Out = api::v1::PipelineResponse;

template <class Request>
struct Operation;

template <class RequestMessage, class ResponseMessage, RequestMessage* (In::*kRequest)(),
          ResponseMessage* (Out::*kResponse)(), Out::ResultCase kCase>
struct Fields {
  using Response = ResponseMessage;
  static RequestMessage* RequestIn(In* in) { return (in->*kRequest)(); }
  static ResponseMessage* ResponseIn(Out* out) { return (out->*kResponse)(); }
  static constexpr Out::ResultCase kResult = kCase;
};

#define ARMATURE_PIPELINE_OPERATION(Name, field)                                                     \
  template <>                                                                                        \
  struct Operation<api::v1::Name##Request> : Fields<api::v1::Name##Request, api::v1::Name##Response, \
                                                    &In::mutable_##field, &Out::mutable_##field, Out::k##Name> {};
ARMATURE_PIPELINE_OPERATION(GetItem, get_item)
ARMATURE_PIPELINE_OPERATION(PutItem, put_item)
ARMATURE_PIPELINE_OPERATION(UpdateItem, update_item)
ARMATURE_PIPELINE_OPERATION(DeleteItem, delete_item)
ARMATURE_PIPELINE_OPERATION(Query, query)
ARMATURE_PIPELINE_OPERATION(Scan, scan)
ARMATURE_PIPELINE_OPERATION(BatchGetItem, batch_get_item)
ARMATURE_PIPELINE_OPERATION(BatchWriteItem, batch_write_item)
ARMATURE_PIPELINE_OPERATION(TransactGetItems, transact_get_items)
ARMATURE_PIPELINE_OPERATION(TransactWriteItems, transact_write_items)
#undef ARMATURE_PIPELINE_OPERATION

}  // namespace pipeline_internal

// One stream of operations: GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan, and the operations of batches and
// transactions. The type of the request selects the operation.
//
//   absl::StatusOr<std::unique_ptr<Pipeline>> pipeline = client.OpenPipeline();
//   if (!pipeline.ok()) return pipeline.status();
//   for (const api::v1::PutItemRequest& put : puts) {
//     (*pipeline)->Ask(put, [](absl::StatusOr<api::v1::PutItemResponse> answer) { ... });
//   }
//   return (*pipeline)->Close();
//
// Operations run concurrently and are answered in any order. The caller waits for an answer before it asks for an
// operation that depends on it.
//
// The pipeline repeats no operation and does not reopen a broken stream. The caller decides about both with IsTransient
// (retry_policy.h) and CertainlyNotApplied (errors.h). Answers count for no session of WithReadYourWrites.
//
// Thread-safety: thread-safe. Lifetime: independent of the client. The destructor cancels the outstanding operations
// and returns when their callbacks have run. It must not run in a callback. Errors of an operation: those of the call
// of the same name. INVALID_ARGUMENT, without a name, for a request larger than kRequestBytesMax or send_bytes_max
// (options.h), which is not sent. If the stream ends before the answer: the reason that the daemon or gRPC gave,
// DEADLINE_EXCEEDED after `lifetime`, UNAVAILABLE for a broken connection. Then the operation may have been applied,
// unless CertainlyNotApplied.
class Pipeline {
 public:
  template <class Request>
  using ResponseOf = typename pipeline_internal::Operation<Request>::Response;
  template <class Request>
  using Done = absl::AnyInvocable<void(absl::StatusOr<ResponseOf<Request>>) &&>;

  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Blocks while the outstanding operations reach a limit of the options. `done` is called once, on a thread of gRPC
  // or, if the stream has ended, on this thread. It must be short: all answers of the stream wait for it. It may call
  // Ask of this or another stream; then Ask does not block.
  template <class Request>
  void Ask(Request request, Done<Request> done) {
    using Operation = pipeline_internal::Operation<Request>;
    api::v1::PipelineRequest message;
    *Operation::RequestIn(&message) = std::move(request);
    Send(std::move(message), [done = std::move(done)](absl::StatusOr<api::v1::PipelineResponse> answer) mutable {
      if (!answer.ok()) return std::move(done)(answer.status());
      if (answer->result_case() != Operation::kResult) {
        return std::move(done)(absl::InternalError("the daemon has answered another operation"));
      }
      std::move(done)(std::move(*Operation::ResponseIn(&*answer)));
    });
  }

  // Asks for an operation, and returns its answer as a future.
  template <class Request>
  std::future<absl::StatusOr<ResponseOf<Request>>> Ask(Request request) {
    std::promise<absl::StatusOr<ResponseOf<Request>>> promise;
    std::future<absl::StatusOr<ResponseOf<Request>>> future = promise.get_future();
    Ask(std::move(request), [promise = std::move(promise)](absl::StatusOr<ResponseOf<Request>> answer) mutable {
      promise.set_value(std::move(answer));
    });
    return future;
  }

  // Blocks until all operations asked so far are answered and their callbacks have returned. Not in a callback.
  void WaitUntilIdle();

  // Accepts no further operations, waits for all answers, and ends the stream. Not in a callback. Errors: the reason
  // why the stream broke; the operations outstanding at that time have the same error.
  absl::Status Close();

  // OK while the stream accepts operations, and after a successful Close.
  absl::Status status() const;

 private:
  friend class Client;
  using Answered = absl::AnyInvocable<void(absl::StatusOr<api::v1::PipelineResponse>) &&>;

  static absl::StatusOr<std::unique_ptr<Pipeline>> Open(std::shared_ptr<Connection> connection,
                                                        const ClientOptions& client_options,
                                                        const PipelineOptions& options);
  explicit Pipeline(std::unique_ptr<PipelineStream> stream);

  void Send(api::v1::PipelineRequest request, Answered answered);

  const std::unique_ptr<PipelineStream> stream_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PIPELINE_H_
