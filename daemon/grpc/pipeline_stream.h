#ifndef ARMATURE_DAEMON_GRPC_PIPELINE_STREAM_H_
#define ARMATURE_DAEMON_GRPC_PIPELINE_STREAM_H_

// One Pipeline call: many operations over one stream, answered as they finish.

#include <atomic>
#include <cstddef>
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

namespace armature::daemon {

// Limits of one stream. When they are reached, the daemon stops reading until answers are sent; nothing is refused.
struct PipelineLimits {
  // Weight of operations from being read until their answer is sent. An operation on a single item has weight 1, a page
  // (Query, Scan) 8, a batch or transaction 32, so that the answers of a client that does not read are limited, too.
  uint32_t room = 256;
  // Bytes of answers waiting to be sent.
  size_t unsent_bytes = 4 << 20;
};

// Reads operations one by one, starts each, and sends its answer when it is ready. A failed operation has an answer,
// too. Each operation is authorised like a call of its own. If the credentials were reloaded, the caller is
// authenticated again first, and an unknown caller ends the stream.
//
// The stream ends with OK when the client has sent all requests and got all answers, with UNAVAILABLE when the daemon
// stops. Running operations of a cancelled stream end when they notice.
//
// Thread-safety: Drain is thread-safe, and so is the answering of operations; the rest belongs to the thread of the
// call's loop. Lifetime: the call holds it, and so do running operations. The gate outlives it.
class PipelineStream final : public RpcHandler, public std::enable_shared_from_this<PipelineStream> {
 public:
  PipelineStream(const CallGate* gate, std::shared_ptr<RpcCall> call, const PipelineLimits& limits = {})
      : gate_(gate), call_(std::move(call)), limits_(limits) {}

  // Call it once, before anything else.
  void Start();

  // Stops reading, answers the operations that were read, and ends the stream.
  void Drain();

  void OnMessage(InMessage message) override;
  void OnReadEnd() override;
  void OnSent(uint32_t weight) override;
  void OnCancel() override;
  void OnDone() override { OnCancel(); }

 private:
  // A running operation.
  struct Operation {
    uint64_t id = 0;
    uint32_t number = 0;
    uint32_t room = 0;
    bool only_reads = false;  // see engine::OnlyReads
    RequestStats::Request counted;
  };

  void Identified(absl::StatusOr<Caller> caller);
  // Starts the operation in the message, on this or another thread.
  void StartRequest();
  // `admitted`: an error is the answer of the operation, which does not run.
  void RunRequest(const absl::Status& admitted);
  // The message has been handled.
  void Handled();
  void Send(const Operation& operation, const absl::Status& result, OutMessage response);
  // Takes the next step, if there is one.
  void GoOn();
  bool MayRead() const;
  bool MayFinish() const;
  absl::Status FinalStatus() const;
  void End(const absl::Status& status);

  const CallGate* const gate_;
  const std::shared_ptr<RpcCall> call_;
  const PipelineLimits limits_;
  RequestStats::Request counted_;  // of the stream itself
  std::string request_id_;         // of the stream; empty unless slow requests are logged

  // Members of the message being handled, used by one thread at a time.
  std::optional<InMessage> message_;
  std::optional<Caller> caller_;

  std::atomic<uint32_t> room_taken_ = 0;  // weight of the operations that were read and not answered
  bool is_reading_ = false;               // a message is asked for
  bool is_handling_ = true;               // a message, or initially the authentication
  bool has_read_all_ = false;
  bool is_draining_ = false;
  bool is_over_ = false;
  absl::Status refused_;  // reason to end the stream
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_PIPELINE_STREAM_H_
