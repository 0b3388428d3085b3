#ifndef ARMATURE_DAEMON_RPC_RPC_CALL_H_
#define ARMATURE_DAEMON_RPC_RPC_CALL_H_

// One gRPC call: a stream of an HTTP/2 connection, with messages in both directions and a status at its end
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/h2_router.h"
#include "daemon/http/h2_stream.h"
#include "daemon/http/io_loop.h"
#include "daemon/http/loop_guest.h"
#include "daemon/rpc/rpc_status.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

class RpcCall;

// A message that a client has sent.
struct InMessage {
  std::string bytes;
  HeldMemory memory = {};  // counts them, if they are many
};

// Handles the messages of one call. Called on the thread of the call's loop, and not before RpcCall::Start has returned
// from the function that set it.
class RpcHandler {
 public:
  virtual ~RpcHandler() = default;
  // Once for each RpcCall::Read.
  virtual void OnMessage(InMessage message) = 0;
  // The client sends no more messages. After the last OnMessage.
  virtual void OnReadEnd() {}
  // A message with this weight has left for the client's connection. Not within RpcCall::Write: the handler may send
  // the next message.
  virtual void OnSent(uint32_t /*weight*/) {}
  // The client has gone or stalled, or the deadline has passed. Not after RpcCall::Finish. The handler ends what it
  // runs, and may call Finish, which has no effect any more.
  virtual void OnCancel() {}
  // The call has ended, and the handler is released. Called once, and last.
  virtual void OnDone() {}
};

// Begins a call whose head is there: sets its handler, or finishes it. On the thread of the call's loop; does not
// block.
using OpenCall = std::function<void(const std::shared_ptr<RpcCall>& call)>;

struct RpcLimits {
  // The largest message: the largest request has the names around its items besides.
  size_t message_bytes_max = (16 << 20) + (64 << 10);
  // Compared with H2Peer::running.
  int calls_max = H2Peer::kRunningMax;
  // How a call ends for which the connection has too many others, and one for whose request there is no memory.
  std::function<RpcStatus()> too_many = [] {
    return RpcStatus{.code = RpcCode::kResourceExhausted, .message = "Too many calls"};
  };
  std::function<RpcStatus()> no_memory = [] {
    return RpcStatus{.code = RpcCode::kUnavailable, .message = "There is no memory for the request"};
  };
  // How a call ends whose request has not come in time.
  std::function<RpcStatus()> stalled = [] {
    return RpcStatus{.code = RpcCode::kUnavailable, .message = "The request did not arrive in time"};
  };
  // Counts calls without memory. May be null; outlives the calls.
  std::atomic<uint64_t>* refused_memory = nullptr;
};

// Thread-safety: Write, Finish, Post, is_cancelled and the facts of the head are thread-safe; the rest belongs to the
// loop's thread. Lifetime: the stream holds it, and so does whoever will answer.
class RpcCall final : public StreamHandler, public LoopGuest, public std::enable_shared_from_this<RpcCall> {
 public:
  RpcCall(H2Stream* stream, const H2Request& request, std::shared_ptr<const H2Peer> peer, std::shared_ptr<IoLoop> loop,
          const RpcLimits* limits);
  ~RpcCall() override;

  // ---- The head of the call

  const std::string& path() const { return path_; }
  const std::string& authority() const { return authority_; }
  // The metadata "authorization"; empty, which authenticates nobody, if it is repeated.
  const std::optional<std::string>& authorization() const { return authorization_; }
  const H2Peer& peer() const { return *peer_; }
  // A time of MonotonicNs; nullopt: none.
  std::optional<int64_t> deadline_ns() const { return deadline_ns_; }
  // True on the thread of the call's loop.
  bool IsOwnThread() const { return loop_->IsOwnThread(); }
  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_relaxed); }
  // Where the memory of answers comes from.
  MemorySource memory() const;

  // ---- Reading. On the loop's thread.

  // Sets the handler of the call. Call it once: within OpenCall, or before the first Read if the caller is
  // authenticated first.
  void set_handler(std::shared_ptr<RpcHandler> handler) { handler_ = std::move(handler); }
  // The handler is ready for one message more. Until the first Read, no more than a small message is taken from the
  // client. `is_owed`: the client must send the message, or the end of its messages, at the minimum rate; otherwise it
  // may begin the message whenever it likes.
  void Read(bool is_owed = false);
  // True if the request that has arrived is to be refused, since the loop has more requests than it can serve. Ask once
  // for each request: refusals are counted.
  bool IsLate();
  // The client may read as slowly as it likes while there is memory.
  void SetPatient();
  // Bytes of messages that have not left for the client's connection.
  size_t unsent_bytes() const { return stream_ == nullptr ? 0 : stream_->unsent_bytes(); }

  // Metadata before the first message: lower-case names, values of printable ASCII. On the loop's thread, before the
  // first answer.
  void set_metadata(std::vector<std::pair<std::string, std::string>> metadata) { metadata_ = std::move(metadata); }

  // ---- Answering. On any thread.

  // Sends a message. `message.head`: what comes before `message.bytes` in the message, without gRPC's prefix.
  void Write(OutMessage message);
  // Ends the call. Call it once; later calls have no effect.
  void Finish(RpcStatus status);
  // The only answer of a call, and its end.
  void Finish(OutMessage message, RpcStatus status = {});
  // Runs `work` on the loop's thread; never if the loop has ended.
  void Post(absl::AnyInvocable<void() &&> work);

  // ---- For the connection and the loop

  void OnData(std::string_view bytes) override;
  void OnEnd() override;
  void OnShed() override;
  void OnStalled() override;
  void OnSent(uint32_t weight) override;
  void OnClosed() override;
  void OnPosted() override;
  void OnTimer() override;

 private:
  friend class RpcFront;

  // Work and messages that other threads have left for the loop's.
  struct Outbox {
    std::vector<OutMessage> messages;
    std::optional<RpcStatus> end;
    std::vector<absl::AnyInvocable<void() &&>> work;
  };

  void ReadHead(const H2Request& request);
  // Calls `open`, unless the head is malformed.
  void Begin(const OpenCall& open);
  // Cuts messages out of `bytes`, as many as the handler is ready for and the loop has time for. Keeps the rest.
  // `has_turn`: one message more, at least.
  void Take(std::string_view bytes, bool has_turn);
  void Pause();
  void KeepBacklog(std::string held, std::string_view rest);
  // False if the call has ended.
  bool BeginMessage();
  bool Grant();
  void EndMessage();
  void DeliverEnd();
  // Leaves a message, or the end, or both, for the loop's thread.
  void Leave(std::optional<OutMessage> message, std::optional<RpcStatus> end);
  // After is_posted_ was set, without the lock.
  void PostOutbox();
  void SendOutbox();
  void Send(OutMessage message);
  void End(const RpcStatus& status);
  // There is no memory for the rest of the request.
  void Refuse();
  void UpdateOwed();
  void ClearTimer();
  void Cancel();
  // Ends the call for a reason that its handler does not know.
  void BreakOff(const RpcStatus& status);

  const std::shared_ptr<IoLoop> loop_;
  const std::shared_ptr<const H2Peer> peer_;
  const RpcLimits* const limits_;
  std::string path_;
  std::string authority_;
  std::optional<std::string> authorization_;
  std::optional<int64_t> deadline_ns_;
  std::vector<std::pair<std::string, std::string>> metadata_;  // of the answer
  bool is_encoded_ = false;
  bool has_bad_timeout_ = false;
  std::optional<IoLoop::Timers::iterator> timer_;
  std::atomic<bool> is_cancelled_ = false;

  H2Stream* stream_;  // null once it has ended
  std::shared_ptr<RpcHandler> handler_;
  size_t messages_ = 0;   // that have arrived
  size_t reads_ = 0;      // messages that the handler is ready for
  bool is_owed_ = false;  // the next one, or the end
  bool is_delivering_ = false;
  bool is_paused_ = false;  // others have their turn before the next message
  bool has_read_all_ = false;
  bool has_told_end_ = false;
  bool has_sent_head_ = false;
  bool has_ended_ = false;

  // The message that arrives.
  std::string prefix_;  // gRPC's five bytes, as far as they are there
  size_t message_size_ = 0;
  InMessage message_;
  std::string backlog_;  // bytes for which the handler is not ready, from backlog_begin_ on
  size_t backlog_begin_ = 0;

  absl::Mutex mutex_;
  Outbox outbox_ ABSL_GUARDED_BY(mutex_);
  bool is_posted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_RPC_RPC_CALL_H_
