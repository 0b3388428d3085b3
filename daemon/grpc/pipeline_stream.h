#ifndef ARMATURE_DAEMON_GRPC_PIPELINE_STREAM_H_
#define ARMATURE_DAEMON_GRPC_PIPELINE_STREAM_H_

// One Pipeline call: many operations over one stream, answered as they finish.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "daemon/api/item_messages.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/call_ledger.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

// Limits of one stream. When they are reached, the daemon stops reading until answers are sent; nothing is refused.
struct PipelineLimits {
  // Weight of operations from being read until their answer is sent. An operation on a single item has weight 1, a page
  // (Query, Scan) 8, a batch or transaction 32, so that the answers of a client that does not read are limited, too.
  size_t room = 256;
  // Bytes of answers waiting to be sent.
  size_t unsent_bytes = 4 << 20;
};

// Reads operations one by one, starts each, and sends its answer when it is ready. A failed operation has an answer,
// too. Each operation is authorised like a call of its own. If the credentials were reloaded, the caller is
// authenticated again first, and an unknown caller ends the stream.
//
// The stream ends with OK when the client has sent all requests and got all answers, with UNAVAILABLE when the daemon
// stops. A cancelled stream ends when the running operations notice. A stream whose client does not read its answers is
// ended by the CallLedger.
//
// Thread-safety: thread-safe. No thread waits, and gRPC is never called with the lock held.
// Lifetime: the owner releases it when it calls `ended`, its last action. The gate must outlive it.
class PipelineStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                             public std::enable_shared_from_this<PipelineStream>,
                             private TrackedCall {
 public:
  PipelineStream(const CallGate* gate, grpc::CallbackServerContext* context, PipelineLimits limits,
                 std::function<void(PipelineStream*)> ended)
      : TrackedCall(context),
        gate_(gate),
        context_(context),
        limits_(limits),
        ended_(std::move(ended)),
        client_(Client()),
        share_({gate->ledger()->budget(), client_}) {}

  // Call it once, before anything else.
  void Start();

  // Stops reading, answers the operations that were read, and ends the stream.
  void Drain();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // A running operation.
  struct Operation {
    uint64_t id = 0;
    uint32_t number = 0;
    size_t room = 0;
    bool only_reads = false;  // see engine::OnlyReads
    RequestStats::Request counted;
  };
  struct Answer {
    grpc::ByteBuffer message;
    size_t room = 0;
  };
  enum class Step { kNothing, kRead, kWrite, kFinish };

  void Identified(absl::StatusOr<Caller> caller, bool has_request);
  // Runs the operation in the message, on this or another thread.
  void StartRequest();
  // `admitted`: an error is the answer of the operation, which does not run.
  void RunRequest(const absl::Status& admitted);
  void RunOperation(const PipelineOperation& asked, const absl::Status& parsed);
  // `memory`: taken for the response.
  void Send(const Operation& operation, const absl::Status& result, grpc::ByteBuffer response, HeldMemory memory);
  // Takes the next steps until there is none.
  void Pump();
  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRead() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayFinish() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FinalStatus() const;
  void End(const absl::Status& status);
  // The client no longer reads answers.
  void Break() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts the unsent answers against the memory budget.
  void CountUnsent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const CallGate* const gate_;
  grpc::CallbackServerContext* const context_;
  const PipelineLimits limits_;
  const std::function<void(PipelineStream*)> ended_;
  const BudgetClient client_;
  RequestStats::Request counted_;  // of the stream itself
  std::string request_id_;         // of the stream; empty unless slow requests are logged

  // Members of the message being handled, used by one thread at a time.
  grpc::ByteBuffer request_;
  std::optional<Caller> caller_;

  // Members of the current write.
  Answer sent_;
  bool more_follow_ = false;

  mutable absl::Mutex mutex_;
  std::deque<Answer> unsent_ ABSL_GUARDED_BY(mutex_);
  size_t unsent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // including `sent_`
  HeldMemory share_ ABSL_GUARDED_BY(mutex_);
  size_t operations_ ABSL_GUARDED_BY(mutex_) = 0;    // read, but not yet answered
  size_t room_taken_ ABSL_GUARDED_BY(mutex_) = 0;    // weight of these operations
  int starting_ ABSL_GUARDED_BY(mutex_) = 0;         // threads about to call gRPC
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;  // a gRPC read is pending
  bool is_handling_ ABSL_GUARDED_BY(mutex_) = true;  // a message, or initially the authentication
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_read_all_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status refused_ ABSL_GUARDED_BY(mutex_);  // reason to end the stream
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_PIPELINE_STREAM_H_
