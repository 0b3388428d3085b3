#include "armature/client/table_export.h"

#include <utility>

#include "client/src/grpc_connection.h"
#include "client/src/response_stream.h"
#include "storage/base/status_macros.h"

namespace armature::client {

struct TableExportStream {
  admin::v1::ExportTableRequest request;
  ResponseStream<admin::v1::ExportTableResponse> responses;
};

absl::StatusOr<std::unique_ptr<TableExport>> TableExport::Open(std::shared_ptr<Connection> connection,
                                                               const ClientOptions& client_options,
                                                               const admin::v1::ExportTableRequest& request,
                                                               const CallOptions& options) {
  const absl::Duration patience = options.timeout.value_or(client_options.timeout);
  CallContext context = ContextOf(client_options, options);
  ARM_ASSIGN_OR_RETURN(Stubs* const stubs, connection->StubsForStream(context));
  context.deadline = absl::InfiniteFuture();
  std::unique_ptr<TableExportStream> stream(
      new TableExportStream{request, ResponseStream<admin::v1::ExportTableResponse>(std::move(connection))});
  auto& stub = std::get<std::unique_ptr<admin::v1::AdminService::Stub>>(stubs->all);
  stream->responses.Start(
      context, [&](grpc::ClientContext* call, grpc::ClientReadReactor<admin::v1::ExportTableResponse>* reactor) {
        stub->async()->ExportTable(call, &stream->request, reactor);
      });
  std::unique_ptr<TableExport> opened(new TableExport(std::move(stream), patience));
  admin::v1::ExportTableResponse first;
  ARM_ASSIGN_OR_RETURN(const bool has_first, opened->Next(&first));
  if (!has_first || !first.has_head()) return DataLossError("the export does not begin with its head");
  opened->head_ = std::move(*first.mutable_head());
  return opened;
}

TableExport::TableExport(std::unique_ptr<TableExportStream> stream, absl::Duration patience)
    : stream_(std::move(stream)), patience_(patience) {}

TableExport::~TableExport() { stream_->responses.CancelAndWait(); }

absl::StatusOr<bool> TableExport::Next(admin::v1::ExportTableResponse* page) {
  return stream_->responses.Next(page, patience_);
}

}  // namespace armature::client
