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
#include "daemon/api/pipeline_messages.h"
#include "daemon/grpc/call_gate.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace armature::daemon {

// How much one stream may hold. Beyond, the daemon reads no further until something is answered; nothing is refused.
struct PipelineLimits {
  // Room for operations from when they are read until their answer is on its way. One of a single item takes 1, a page
  // (Query, Scan) takes 8, a batch or transaction 32: so the answers of a client that does not read are bounded too.
  size_t room = 256;
  // Of answers that wait to be sent.
  size_t unsent_bytes = 4 << 20;
};

// Reads one operation after the other, starts it, and sends its answer when it is there. An operation that fails is an
// answer like any other. Each operation is authorised as a call of its own; if the credentials have been read again,
// the caller is identified anew first, and a caller who is no longer known ends the stream.
//
// The stream ends with OK when the client has sent all and got all answers; with UNAVAILABLE when the daemon stops;
// when it is cancelled, as soon as the operations under way notice.
//
// Thread-safety: thread-safe. No thread waits, and gRPC is never called with the lock held.
// Lifetime: whoever holds it lets go when it calls `ended`, its last deed. The gate must outlive it.
class PipelineStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                             public std::enable_shared_from_this<PipelineStream> {
 public:
  PipelineStream(const CallGate* gate, grpc::CallbackServerContext* context, PipelineLimits limits,
                 std::function<void(PipelineStream*)> ended)
      : gate_(gate), context_(context), limits_(limits), ended_(std::move(ended)) {}

  // Once, before anything else.
  void Start();

  // Reads nothing more, answers what was read, and ends the stream.
  void Drain();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // An operation on its way.
  struct Operation {
    uint64_t id = 0;
    uint32_t number = 0;
    size_t room = 0;
    RequestStats::Request counted;
  };
  struct Answer {
    grpc::ByteBuffer message;
    size_t room = 0;
  };
  enum class Step { kNothing, kRead, kWrite, kFinish };

  void Identified(absl::StatusOr<Caller> caller, bool has_request);
  void RunRequest();
  void RunOperation(const PipelineOperation& asked, const absl::Status& parsed);
  void Send(const Operation& operation, const absl::Status& status, grpc::ByteBuffer response);
  // Does what is to be done next, until nothing is.
  void Pump();
  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRead() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayFinish() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FinalStatus() const;
  void End(const absl::Status& status);
  // Nobody is there to read answers.
  void Break() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const CallGate* const gate_;
  grpc::CallbackServerContext* const context_;
  const PipelineLimits limits_;
  const std::function<void(PipelineStream*)> ended_;
  RequestStats::Request counted_;  // the stream itself
  std::string request_id_;         // of the stream; empty unless slow requests are told of

  // Belong to whoever handles the message that was read: to one thread at a time.
  grpc::ByteBuffer request_;
  std::optional<Caller> caller_;

  // Belongs to the write under way.
  Answer sent_;
  bool more_follow_ = false;

  mutable absl::Mutex mutex_;
  std::deque<Answer> unsent_ ABSL_GUARDED_BY(mutex_);
  size_t unsent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // with that of `sent_`
  size_t operations_ ABSL_GUARDED_BY(mutex_) = 0;    // read and not yet sent
  size_t room_taken_ ABSL_GUARDED_BY(mutex_) = 0;    // by these
  int starting_ ABSL_GUARDED_BY(mutex_) = 0;         // threads that are about to call gRPC
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;  // gRPC is
  bool is_handling_ ABSL_GUARDED_BY(mutex_) = true;  // a message, or at first the question who calls
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_read_all_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status refused_ ABSL_GUARDED_BY(mutex_);  // why the stream must end
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_PIPELINE_STREAM_H_
