#include "armature/client/table_export.h"

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/src/grpc_connection.h"
#include "grpcpp/support/client_callback.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {

using Response = admin::v1::ExportTableResponse;

// Thread-safety: thread-safe. gRPC is called without the lock.
class TableExportStream final : public grpc::ClientReadReactor<Response> {
 public:
  TableExportStream(std::shared_ptr<Connection> connection, const admin::v1::ExportTableRequest& request)
      : connection_(std::move(connection)), request_(request) {}

  void Start(Stubs& stubs, const CallContext& call) {
    SetUp(call, &context_);
    std::get<std::unique_ptr<admin::v1::AdminService::Stub>>(stubs.all)->async()->ExportTable(&context_, &request_,
                                                                                              this);
    // Reads begin on the caller's thread. Without the hold the stream could end between two of them.
    AddHold();
    StartRead(&read_);
    StartCall();
  }

  // See TableExport::Next.
  absl::StatusOr<bool> Next(Response* page, absl::Duration patience) {
    {
      absl::MutexLock lock(&mutex_);
      if (!mutex_.AwaitWithTimeout(absl::Condition(this, &TableExportStream::HasNews), patience)) {
        return absl::DeadlineExceededError(
            Av(Cat("the daemon has sent nothing for ", Sv(absl::FormatDuration(patience)))));
      }
      if (!has_page_) {
        if (!status_.ok()) return status_;
        return false;
      }
      has_page_ = false;
      page->Swap(&read_);
    }
    StartRead(&read_);
    return true;
  }

  // Returns when no callback of the stream is running or will run.
  void CancelAndWait() {
    bool has_hold = false;
    {
      absl::MutexLock lock(&mutex_);
      is_closing_ = true;
      has_hold = has_page_;
      has_page_ = false;
    }
    // Cancelling a call that has ended is legal.
    context_.TryCancel();
    if (has_hold) RemoveHold();
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_done_));
  }

  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      has_page_ = ok && !is_closing_;
      if (has_page_) return;
    }
    // There is no further read.
    RemoveHold();
  }

  void OnDone(const grpc::Status& status) override {
    absl::MutexLock lock(&mutex_);
    status_ = StatusOf(status);
    is_done_ = true;
  }

 private:
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return has_page_ || is_done_; }

  const std::shared_ptr<Connection> connection_;  // owns the stubs
  const admin::v1::ExportTableRequest request_;
  grpc::ClientContext context_;
  Response read_;  // owned by the pending read, or by Next
  absl::Mutex mutex_;
  bool has_page_ ABSL_GUARDED_BY(mutex_) = false;  // `read_` has a page, and no read is pending
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_done_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<TableExport>> TableExport::Open(std::shared_ptr<Connection> connection,
                                                               const ClientOptions& client_options,
                                                               const admin::v1::ExportTableRequest& request,
                                                               const CallOptions& options) {
  const absl::Duration patience = options.timeout.value_or(client_options.timeout);
  CallContext context = ContextOf(client_options, options);
  ARM_ASSIGN_OR_RETURN(Stubs* const stubs, connection->StubsForStream(context));
  context.deadline = absl::InfiniteFuture();
  auto stream = std::make_unique<TableExportStream>(std::move(connection), request);
  stream->Start(*stubs, context);
  std::unique_ptr<TableExport> opened(new TableExport(std::move(stream), patience));
  Response first;
  ARM_ASSIGN_OR_RETURN(const bool has_first, opened->Next(&first));
  if (!has_first || !first.has_head()) return DataLossError("the export does not begin with its head");
  opened->head_ = std::move(*first.mutable_head());
  return opened;
}

TableExport::TableExport(std::unique_ptr<TableExportStream> stream, absl::Duration patience)
    : stream_(std::move(stream)), patience_(patience) {}

TableExport::~TableExport() { stream_->CancelAndWait(); }

absl::StatusOr<bool> TableExport::Next(Response* page) { return stream_->Next(page, patience_); }

}  // namespace armature::client
