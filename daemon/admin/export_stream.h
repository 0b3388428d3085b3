#ifndef ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_
#define ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_

// One ExportTable call: streams the items of a table, page by page.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/http/h2_stream.h"
#include "daemon/rpc/rpc_call.h"
#include "engine/backup/table_export.h"

namespace armature::daemon {

// The request is read only after its caller is known.
//
// Reads a page after the previous one was sent, so that it holds one page at a time.
//
// The stream ends with OK after the last item, with UNAVAILABLE when the daemon stops. A cancelled stream ends after
// the page that is being read.
//
// Thread-safety: Drain is thread-safe; the rest belongs to the thread of the call's loop. Lifetime: the call holds it,
// and so does the engine while it reads. Gate and engine outlive it.
class ExportStream final : public RpcHandler, public std::enable_shared_from_this<ExportStream> {
 public:
  ExportStream(const CallGate* gate, std::shared_ptr<RpcCall> call) : gate_(gate), call_(std::move(call)) {}

  // Call it once, before anything else.
  void Start();

  // Ends the stream after the page that is being read.
  void Drain();

  void OnMessage(InMessage message) override;
  void OnReadEnd() override;
  void OnSent(uint32_t weight) override;
  void OnCancel() override;
  void OnDone() override { OnCancel(); }

 private:
  class Page;

  void Opened(absl::StatusOr<std::shared_ptr<engine::TableExport>> opened);
  void ReadPage();
  void PageRead(const absl::StatusOr<bool>& has_more, std::string page);
  void Send(std::string bytes);
  // Ends the stream, once the engine does not read.
  void Stop(const absl::Status& why);
  void End(const absl::Status& status);

  const CallGate* const gate_;
  const std::shared_ptr<RpcCall> call_;
  RequestStats::Request counted_;
  std::optional<Caller> caller_;
  std::string table_name_;
  std::shared_ptr<engine::TableExport> export_;
  absl::Status stopped_;  // reason to end
  bool has_request_ = false;
  bool is_reading_ = false;  // the engine reads
  bool has_more_ = true;
  bool is_over_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_EXPORT_STREAM_H_
