#ifndef ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_
#define ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_

// One ExportTable call: the items of a table, page after page.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/grpc/call_gate.h"
#include "engine/backup/table_export.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

// Reads a page when the one before was written, so that it holds one at a time whatever the client does. Each step is
// begun by the one before, so there is one at a time.
//
// The stream ends with OK behind the last item; with UNAVAILABLE when the daemon stops; when it is cancelled, with the
// step under way.
//
// Thread-safety: thread-safe. No thread waits.
// Lifetime: whoever holds it lets go when it calls `ended`, its last deed. Gate and engine must outlive it.
class ExportStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                           public std::enable_shared_from_this<ExportStream> {
 public:
  ExportStream(const CallGate* gate, grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
               std::function<void(ExportStream*)> ended)
      : gate_(gate), context_(context), request_(request), ended_(std::move(ended)) {}

  // Once, before anything else.
  void Start();

  // Ends the stream with the step under way.
  void Drain() { is_draining_.store(true); }

  void OnWriteDone(bool ok) override;
  void OnCancel() override { is_cancelled_.store(true); }
  void OnDone() override;

 private:
  class Page;

  void Opened(absl::StatusOr<std::shared_ptr<engine::TableExport>> opened);
  void ReadPage();
  // Why there must be no next step.
  absl::Status CheckGoesOn() const;
  void End(const absl::Status& status);

  const CallGate* const gate_;
  grpc::CallbackServerContext* const context_;
  const grpc::ByteBuffer* const request_;
  const std::function<void(ExportStream*)> ended_;
  std::atomic<bool> is_draining_ = false;
  std::atomic<bool> is_cancelled_ = false;

  // Belong to the step under way.
  RequestStats::Request counted_;
  std::string table_name_;
  std::optional<Caller> caller_;
  std::shared_ptr<engine::TableExport> export_;
  grpc::ByteBuffer sent_;
  bool has_more_ = true;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_
