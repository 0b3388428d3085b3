#ifndef ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_
#define ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_

// One ExportTable call: streams the items of a table, page by page.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/call_ledger.h"
#include "engine/backup/table_export.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

// The request is read only after its caller is known, and counts against the memory budget while it arrives. So the
// method is registered as one with a stream of requests, of which one is read.
//
// Reads a page after the previous one was written, so that it holds one page at a time. Each step starts the next one.
//
// The stream ends with OK after the last item, with UNAVAILABLE when the daemon stops. A cancelled stream ends after
// the current step.
//
// Thread-safety: thread-safe. No thread waits.
// Lifetime: the owner releases it when it calls `ended`, its last action. Gate and engine must outlive it.
class ExportStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                           public std::enable_shared_from_this<ExportStream>,
                           private TrackedCall {
 public:
  ExportStream(const CallGate* gate, grpc::CallbackServerContext* context, std::function<void(ExportStream*)> ended)
      : TrackedCall(context),
        gate_(gate),
        context_(context),
        ended_(std::move(ended)),
        share_({gate->ledger()->budget(), Client()}) {}

  // Call it once, before anything else.
  void Start();

  // Ends the stream after the current step.
  void Drain() { is_draining_.store(true); }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override { is_cancelled_.store(true); }
  void OnDone() override;

 private:
  class Page;

  void Opened(absl::StatusOr<std::shared_ptr<engine::TableExport>> opened);
  void ReadPage();
  void Send(const grpc::ByteBuffer& message);
  // OK if there may be a next step. Otherwise the reason to end.
  absl::Status CheckGoesOn() const;
  void End(const absl::Status& status);

  const CallGate* const gate_;
  grpc::CallbackServerContext* const context_;
  const std::function<void(ExportStream*)> ended_;
  std::atomic<bool> is_draining_ = false;
  std::atomic<bool> is_cancelled_ = false;

  // Members of the current step.
  grpc::ByteBuffer request_;
  HeldMemory share_;  // the page that is being sent
  RequestStats::Request counted_;
  std::string table_name_;
  std::optional<Caller> caller_;
  std::shared_ptr<engine::TableExport> export_;
  grpc::ByteBuffer sent_;
  bool has_more_ = true;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_
