#ifndef ARMATURE_DAEMON_GRPC_CALL_LEDGER_H_
#define ARMATURE_DAEMON_GRPC_CALL_LEDGER_H_

// Open calls of gRPC, their part of the memory budget, and the end of those that make no progress.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/grpc/answer_relay.h"
#include "daemon/grpc/flood_guard.h"
#include "daemon/grpc/late_calls.h"
#include "daemon/net/memory_budget.h"
#include "grpcpp/server_context.h"

namespace armature::daemon {

enum class CallPhase : uint8_t {
  kReading,  // its request has not arrived as a whole
  kRunning,
  kSending,    // its answer has not been sent as a whole
  kPushing,    // as kSending, of a stream whose client may read as slowly as it likes while the budget has room
  kListening,  // a stream that waits for its next message, a part of which may have arrived
};

// State of a call that the ledger uses. Part of the call's reactor.
//
// Thread-safety: Set and the readers are thread-safe.
class TrackedCall {
 public:
  // The context may be null in tests.
  explicit TrackedCall(grpc::CallbackServerContext* context)
      : context_(context),
        peer_(context == nullptr ? std::string() : context->peer()),
        network_(NetworkOf(std::string_view(peer_))) {}
  TrackedCall(const TrackedCall&) = delete;
  TrackedCall& operator=(const TrackedCall&) = delete;

  // The client, for the budget.
  BudgetClient Client() const { return ClientOf(network_); }

  // `bytes`: size of the unsent answers.
  void Set(CallPhase phase, size_t bytes = 0);

 protected:
  virtual ~TrackedCall() = default;

 private:
  friend class CallLedger;

  // Size of what the client says about the call.
  size_t MetadataBytes() const;
  // True if it counts among those of its connection.
  bool IsCurrent() const {
    return !is_parked_.load(std::memory_order_relaxed) && !is_cancelled_.load(std::memory_order_relaxed);
  }

  // Replaced in tests.
  virtual const std::string& Peer() const { return peer_; }
  virtual void Cancel() { context_->TryCancel(); }

  grpc::CallbackServerContext* const context_;
  const std::string peer_;  // gRPC does not tell the peer of a call that was cancelled
  std::optional<PeerNetwork> network_;
  std::atomic<CallPhase> phase_ = CallPhase::kRunning;
  std::atomic<size_t> bytes_ = 0;
  std::atomic<int64_t> since_ns_ = 0;      // of the phase, or of the last progress in it
  std::atomic<bool> has_message_ = false;  // a whole one
  std::atomic<bool> has_listened_ = false;
  std::atomic<bool> is_cancelled_ = false;
  std::atomic<bool> is_parked_ = false;
  std::atomic<bool> was_parked_ = false;
  bool is_surplus_ = false;             // the connection had as many as it may have
  std::shared_ptr<ConnectionUse> use_;  // null on Unix sockets
};

// The connections of calls. A client's address is as gRPC writes it; clients on Unix sockets have none.
class ConnectionTable {
 public:
  virtual ~ConnectionTable() = default;
  // nullopt if the connection is unknown, or on a Unix socket.
  virtual std::optional<TransferCounts> Transferred(const std::string& peer) const = 0;
  // Breaks the connection off; of those on Unix sockets all that have much unsent output.
  virtual void Break(const std::string& peer) = 0;
  // Breaks the connection off, discards what has arrived, and refuses its client further connections for a while; the
  // latter also if the connection has ended since LookAtAll last told of it. False if it is unknown.
  virtual bool Bar(const std::string& peer) = 0;
  // Calls `look` for each connection with an address, and twice more for one that has received much and ended.
  using LookAt = absl::FunctionRef<void(const std::string& peer, const TransferCounts& counts)>;
  virtual void LookAtAll(LookAt look) = 0;
  virtual size_t connections() const = 0;
  // Has Sweep called soon. Thread-safe.
  virtual void Hasten() = 0;
  // Milliseconds since bytes last arrived from the peer, in ticks of the system. nullopt as above. Thread-safe.
  virtual std::optional<int64_t> SinceReceivedMs(const std::string& peer) const = 0;
  // Bytes that have arrived on connections with an address, and were not read, of each at most `most`; of some hundred
  // connections if there are more. Thread-safe.
  virtual uint64_t UnreadBytes(uint64_t most) const = 0;
};

struct CallLimits {
  // A call that has been receiving its request or sending its answer for this long is ended if its connection transfers
  // less than `bytes_per_second_min`, as in HttpServerOptions.
  absl::Duration stall_timeout = absl::Seconds(20);
  size_t bytes_per_second_min = 1024;
  // When the budget is spent, or has no room for a request, connections with answers that have waited for their clients
  // this long are broken off, and requests under way ended, first those of the connection that holds most.
  absl::Duration grace = absl::Seconds(1);
  // The largest request, and the largest message: it has the names around the items besides.
  size_t request_bytes_max = 16 << 20;
  size_t message_bytes_max = (16 << 20) + (64 << 10);
  // Calls that a connection may cancel within an interval: all that it may have open, five times.
  size_t cancelled_max = 512;
};

struct CallLedgerCounts {
  uint64_t ended_stalled = 0;      // calls ended because their client stalled
  uint64_t ended_spent = 0;        // calls ended because the budget was spent
  uint64_t broken_cancelling = 0;  // connections broken off because they cancelled too many calls
  uint64_t broken_flooding = 0;    // connections broken off because of frames that belong to no call
  uint64_t refused = 0;            // calls refused because the budget was spent
  uint64_t refused_surplus = 0;    // calls refused because their connection had too many
};

// The budget counts large answers exactly, from their end to the moment when the system has taken them. gRPC does not
// tell how much of a message it holds, and it takes more than the largest request if the client announces more. So
// messages under way are estimated: by what their connection has received since the first of them began, less the
// messages that were received as a whole. This falls short by no more than the arrivals between two looks. Each open
// call counts with kCallBytes besides.
//
// Thread-safety: thread-safe, except Tick and Sweep, which one thread calls. Lifetime: `budget` outlives it; it
// outlives the calls.
class CallLedger {
 public:
  // Memory that gRPC and the daemon allocate for a call.
  static constexpr size_t kCallBytes = 8 << 10;
  static constexpr absl::Duration kInterval = absl::Milliseconds(100);
  // Between two looks at requests under way, and while some of them are large: on loopback a client sends gigabytes a
  // second.
  static constexpr absl::Duration kLook = absl::Milliseconds(20);
  static constexpr absl::Duration kLookAtLarge = absl::Milliseconds(10);

  // `on_crowd`, `is_elsewhere`: as LateCalls calls them.
  CallLedger(MemoryBudget* budget, CallLimits limits, LateCalls::OnCrowd on_crowd = {},
             LateCalls::IsElsewhere is_elsewhere = {})
      : budget_(budget), limits_(limits), late_(std::move(on_crowd), std::move(is_elsewhere)) {}
  CallLedger(const CallLedger&) = delete;
  CallLedger& operator=(const CallLedger&) = delete;

  // A call is there from Add to Remove. Its context must be valid so long.
  void Add(TrackedCall* call);
  void Remove(TrackedCall* call) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  MemoryBudget* budget() { return budget_; }
  // Ends calls.
  AnswerRelay* relay() { return &relay_; }
  // Number of calls in progress at the last sweep, or somewhat before it: streams that wait for their clients are not.
  size_t busy() const { return busy_.load(std::memory_order_relaxed); }
  // OK, or ThrottlingException if the connection of the call has too many; the call counts as a cancelled one then. To
  // be asked once, before anything else.
  absl::Status CheckCalls(const TrackedCall& call);
  // OK, or ServiceUnavailable if the budget, or the client's share of it, has no room for `bytes` more.
  absl::Status CheckRoom(const BudgetClient& client, size_t bytes);
  // Counts a call that is refused for lack of memory. Returns the error.
  absl::Status Refused();
  // Tells that a message of the call has arrived as a whole. OK, or MessageTooLargeError: the daemon compares the size
  // itself, because gRPC does not tell that of a message which it refuses.
  absl::Status Received(TrackedCall& call, size_t bytes);
  // Tells that the client has cancelled the call. A GuardedCall knows it from its Begin on. A connection that
  // cancels more than `cancelled_max` calls in an interval is broken off: each costs the daemon more than the client.
  void Cancelled(TrackedCall& call);
  // Tells that the call waits, and that it does no longer. The client cannot cancel it meanwhile. But calls beyond
  // those that a connection may have open are there only because others were cancelled, and count as such. Each is
  // called once at most.
  void Parked(TrackedCall& call);
  void Unparked(TrackedCall& call);
  // True if a call of this size that has just been read is to wait, see LateCalls.
  bool MustWait(const TrackedCall& call, size_t bytes);
  LateCalls* late() { return &late_; }
  const LateCalls& late() const { return late_; }
  // Whom Cancelled tells that a connection must be broken off, and MustWait asks. Call before the first call is added.
  void set_table(ConnectionTable* table) { table_ = table; }

  // Sweeps every kInterval, and when Cancelled has asked for it. Between that it counts what requests under way hold,
  // and ends some if the budget is exceeded in two looks. Returns the time after which it is to be called again, so
  // that it takes a fiftieth of its thread's time, if that is within kInterval.
  absl::Duration Tick(int64_t now_ns, ConnectionTable* table);
  // Counts what requests under way hold, and ends calls as CallLimits says.
  void Sweep(int64_t now_ns, ConnectionTable* table);

  CallLedgerCounts counts() const;

 private:
  struct Waiting {
    TrackedCall* call;
    CallPhase phase;
    int64_t since_ns;
    size_t bytes;
  };
  // The calls of a connection that wait for its client.
  struct Connection {
    std::vector<Waiting> calls;
    size_t reading = 0;
    size_t answer_bytes = 0;
    size_t request_bytes = 0;  // estimated
    bool is_slow = false;
    std::shared_ptr<ConnectionUse> use;  // null on Unix sockets

    size_t held_bytes() const { return answer_bytes + request_bytes; }
  };
  // A connection since it first had a call that waits.
  struct Streak {
    int64_t start_ns = 0;
    TransferCounts start;
    uint64_t seen_received = 0;  // when it was last looked at
    size_t held_bytes = 0;       // of messages under way, then
    size_t whole_bytes = 0;      // of messages that arrived as a whole since then
    bool is_seen = false;
  };
  struct Shard {
    absl::Mutex mutex;
    absl::flat_hash_set<TrackedCall*> calls ABSL_GUARDED_BY(mutex);
  };
  using Connections = absl::flat_hash_map<std::string, Connection>;
  using ConnectionList = std::vector<const Connections::value_type*>;

  Shard& ShardOf(const TrackedCall* call);
  // Returns the number of open calls.
  size_t Collect(int64_t now_ns, Connections* connections, size_t* busy);
  void Estimate(int64_t now_ns, const ConnectionTable& table, Connections* connections);
  // Gives the budget the estimate of all connections. `busy`: calls in progress.
  void Count(int64_t now_ns, const ConnectionTable& table, Connections* connections, size_t* busy);
  // Counts, and ends calls if the budget was exceeded at the last look, too.
  void Look(int64_t now_ns, ConnectionTable* table);
  bool IsExceeded(const Connections& connections) const;
  void EstimateUnknown(const std::string& peer, Connection* connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(streaks_mutex_);
  void EstimateOne(int64_t now_ns, const TransferCounts& counts, Streak* streak, Connection* connection) const;
  void CountCancelled(const TrackedCall& call);
  void EndStalled(int64_t now_ns, Connections* connections);
  void BreakCancelling(ConnectionTable* table);
  void BreakFlooding(int64_t now_ns, ConnectionTable* table);
  // `is_wanted`: a request was refused, and somebody else needs the room of those who do not read.
  void EndExcess(int64_t now_ns, bool is_wanted, const Connections& connections, ConnectionTable* table);
  // Ends calls of these connections, those of the largest first, until `wanted` bytes are freed.
  void EndLargest(int64_t now_ns, size_t wanted, ConnectionList connections, ConnectionTable* table);
  bool Cancel(const Waiting& waiting);

  MemoryBudget* const budget_;
  const CallLimits limits_;
  ConnectionTable* table_ = nullptr;
  AnswerRelay relay_;
  LateCalls late_;
  std::atomic<size_t> busy_ = 0;
  std::array<Shard, 16> shards_;
  absl::Mutex streaks_mutex_;
  absl::flat_hash_map<std::string, Streak> streaks_ ABSL_GUARDED_BY(streaks_mutex_);
  std::atomic<bool> has_streaks_ = false;
  absl::Mutex cancelled_mutex_;
  absl::flat_hash_map<std::string, size_t> cancelled_ ABSL_GUARDED_BY(cancelled_mutex_);
  std::atomic<uint64_t> broken_cancelling_ = 0;
  FloodGuard guard_;
  size_t sweeps_to_look_ = 0;
  int64_t flood_look_ns_ = 0;
  std::atomic<uint64_t> broken_flooding_ = 0;
  std::atomic<uint64_t> ended_stalled_ = 0;
  std::atomic<uint64_t> ended_spent_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<uint64_t> refused_surplus_ = 0;
  uint64_t refused_seen_ = 0;  // by Sweep
  int64_t next_sweep_ns_ = 0;
  // At the last look: some requests under way were large; the budget was exceeded.
  bool has_large_ = false;
  bool was_exceeded_ = false;
  std::atomic<bool> is_hastened_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_CALL_LEDGER_H_
