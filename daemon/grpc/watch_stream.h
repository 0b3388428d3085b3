#ifndef ARMATURE_DAEMON_GRPC_WATCH_STREAM_H_
#define ARMATURE_DAEMON_GRPC_WATCH_STREAM_H_

// One Watch call: sends the changes of a table as they are made.

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/rpc/rpc_call.h"
#include "engine/access/resource_policy.h"
#include "engine/watch/table_watch.h"

namespace armature::daemon {

// The request is read only after its caller is known.
//
// A page is asked for after the previous one was written, so that a client that does not read holds one page, and the
// engine nothing. Before a page is sent, the caller's rights are checked again if the credentials or the policy of the
// table have changed since, so that no change is sent that was made after a right had ended. The policy of a table ends
// with it; the changes before that are still sent.
//
// The stream ends with UNAVAILABLE when the daemon stops. A cancelled stream ends at once.
//
// Thread-safety: Drain is thread-safe; the rest belongs to the thread of the call's loop, except that the engine sends
// pages on others, one at a time. Lifetime: the call holds it, and so does the engine while it makes a page. Gate and
// engine outlive it.
class WatchStream final : public RpcHandler, public std::enable_shared_from_this<WatchStream> {
 public:
  WatchStream(const CallGate* gate, std::shared_ptr<RpcCall> call) : gate_(gate), call_(std::move(call)) {}

  // Call it once, before anything else.
  void Start();

  // Ends the stream.
  void Drain();

  void OnMessage(InMessage message) override;
  void OnReadEnd() override;
  void OnSent(uint32_t weight) override;
  void OnCancel() override;
  void OnDone() override { OnCancel(); }

 private:
  // OK if the caller has the right. Notes the policy that it is checked by; not at the first call.
  absl::Status Allow();
  bool IsPolicyCurrent() const;
  absl::Status Open(const InMessage& message);
  void AskForPage();
  // Sends the page, after the caller was checked. On any thread.
  void Check(engine::WatchPage page);
  void Send(const engine::WatchPage& page);
  void End(const absl::Status& status);
  // The same on any thread.
  void EndLater(const absl::Status& status);

  const CallGate* const gate_;
  const std::shared_ptr<RpcCall> call_;
  RequestStats::Request counted_;
  std::optional<Caller> caller_;
  bool has_request_ = false;
  bool is_over_ = false;
  engine::WatchRequest request_;
  std::shared_ptr<engine::TableWatch> watch_;

  // Members of the current step.
  engine::Engine* engine_ = nullptr;                      // once the caller has the right
  std::shared_ptr<const access::ResourcePolicy> policy_;  // of the table, noted by Allow; null: none
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_WATCH_STREAM_H_
