#ifndef ARMATURE_DAEMON_GRPC_WATCH_STREAM_H_
#define ARMATURE_DAEMON_GRPC_WATCH_STREAM_H_

// One Watch call: sends the changes of a table as they are made.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/call_ledger.h"
#include "engine/access/resource_policy.h"
#include "engine/watch/table_watch.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

// The request is read only after its caller is known, and counts against the memory budget while it arrives. So the
// method is registered as one with a stream of requests, of which one is read.
//
// A page is asked for after the previous one was written, so that a client that does not read holds one page, and the
// engine nothing. Before a page is sent, the caller's rights are checked again if the credentials or the policy of the
// table have changed since, so that no change is sent that was made after a right had ended. The policy of a table ends
// with it; the changes before that are still sent.
//
// The stream ends with UNAVAILABLE when the daemon stops. A cancelled stream ends at once.
//
// Thread-safety: thread-safe. No thread waits.
// Lifetime: the owner releases it when it calls `ended`, its last action. Gate and engine must outlive it.
class WatchStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public std::enable_shared_from_this<WatchStream>,
                          private TrackedCall {
 public:
  WatchStream(const CallGate* gate, grpc::CallbackServerContext* context, std::function<void(WatchStream*)> ended)
      : TrackedCall(context),
        gate_(gate),
        context_(context),
        peer_(context->peer()),
        ended_(std::move(ended)),
        share_({gate->ledger()->budget(), Client()}) {}

  // Call it once, before anything else.
  void Start();

  // Ends the stream.
  void Drain();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // OK if the caller has the right. Notes the policy that it is checked by; not at the first call.
  absl::Status Allow();
  bool IsPolicyCurrent() const;
  absl::Status Open();
  void AskForPage();
  // Sends the page, after the caller was checked.
  void Check(engine::WatchPage page);
  void Send(const engine::WatchPage& page);
  void Stop(const absl::Status& why);
  void End(const absl::Status& status);

  const CallGate* const gate_;
  grpc::CallbackServerContext* const context_;
  const std::string peer_;
  const std::function<void(WatchStream*)> ended_;

  absl::Mutex mutex_;
  absl::Status stopped_ ABSL_GUARDED_BY(mutex_);  // reason to end
  std::shared_ptr<engine::TableWatch> watch_ ABSL_GUARDED_BY(mutex_);

  // Members of the current step.
  grpc::ByteBuffer request_bytes_;
  engine::WatchRequest request_;
  HeldMemory share_;  // the page that is being sent
  RequestStats::Request counted_;
  std::optional<Caller> caller_;
  engine::Engine* engine_ = nullptr;                      // once the caller has the right
  std::shared_ptr<const access::ResourcePolicy> policy_;  // of the table, noted by Allow; null: none
  grpc::ByteBuffer sent_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_WATCH_STREAM_H_
