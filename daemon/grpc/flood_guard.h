#ifndef ARMATURE_DAEMON_GRPC_FLOOD_GUARD_H_
#define ARMATURE_DAEMON_GRPC_FLOOD_GUARD_H_

// Recognition of gRPC connections that make the daemon work without asking it for anything.

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
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/late_calls.h"
#include "daemon/net/connection_ledger.h"

namespace armature::daemon {

// Use that a connection makes of the daemon. Thread-safety: the atomic members may be changed by any thread.
struct ConnectionUse {
  std::atomic<uint64_t> served_bytes = 0;  // of calls and whole messages, estimated high
  std::atomic<uint64_t> reset_calls = 0;   // cancelled before their request was whole
  std::atomic<uint64_t> unread_calls = 0;  // ended, of which a part of a message may have arrived
  std::atomic<int64_t> open_calls = 0;
  std::atomic<int64_t> parked_calls = 0;   // part of the open ones
  std::atomic<int64_t> current_calls = 0;  // open ones that are neither parked nor known to be cancelled
  CallBurst burst;

 private:
  friend class FloodGuard;
  // Members of the thread that calls Look.
  uint64_t seen_read_ = 0;
  uint64_t seen_acknowledged_ = 0;
  uint64_t seen_served_ = 0;
  uint64_t seen_resets_ = 0;
  uint64_t seen_unread_calls_ = 0;
  int64_t seen_ns_ = 0;
  uint64_t balance_ = 0;          // bytes read that belong to no call
  uint64_t fresh_ = 0;            // part of the balance beyond what is permitted, found by the last look
  uint64_t fresh_intervals_ = 0;  // in which it was received
  uint64_t excusable_ = 0;        // bytes that calls may have received in part
  bool has_ended_ = false;        // at the last look
  bool is_seen_ = false;
};

// Bytes that a connection has transferred, by the system's count.
struct TransferCounts {
  uint64_t received = 0;
  uint64_t acknowledged = 0;
  uint64_t received_before = 0;  // up to a moment at most about a second ago
  uint64_t unread = 0;           // part of the received bytes that gRPC has not read
  bool has_ended = false;
};

// gRPC serves frames without limit: pings, settings, calls that are reset at once. Each is a few bytes, and together
// they keep its threads from everybody else. gRPC does not count them, so the guard compares the bytes that gRPC has
// read from a connection with those of its calls. The rest, and calls that are reset before their request is whole, may
// not exceed a rate for each connection, and one for all connections of a network. Two looks decide: at the first one
// the call may not have begun that bytes belong to. Calls that begin until the second one explain them first, so a
// flood beside calls is proven when it exceeds what the calls of an interval bring.
//
// Nobody knows how much has arrived of a call that ended before its request was whole: its deadline has passed, or it
// was refused unread. Such a call excuses as many bytes as an unfinished request may have. The sum that is excused is
// limited for each network, so that empty calls do not hide a flood.
//
// Thread-safety: UseOf is thread-safe; one thread calls the others.
class FloodGuard {
 public:
  // Rates in bytes, for each interval.
  struct Limits {
    int64_t interval_ns = 100'000'000;
    uint64_t connection_bytes = 64 << 10;
    uint64_t network_bytes = 256 << 10;
    // Size of the largest request. Unfinished requests are no flood.
    size_t request_bytes_max = 16 << 20;
    // Bytes of each network that calls without a whole request excuse at once. They come back with network_bytes.
    uint64_t excused_bytes = 64 << 20;
    // Networks that are excused something at a time: more than a daemon has clients that fail.
    size_t excused_networks = 10'000;
  };

  FloodGuard() : FloodGuard(Limits{}) {}
  explicit FloodGuard(Limits limits) : limits_(limits) {}
  FloodGuard(const FloodGuard&) = delete;
  FloodGuard& operator=(const FloodGuard&) = delete;

  // Bytes of a call besides its metadata, and of a message besides its content: heads of frames and records of TLS.
  static constexpr size_t kCallBytes = 256;
  static constexpr size_t kMessageBytes = 128;

  // Use of the connection with this peer. Never null; the same object until the connection is forgotten.
  std::shared_ptr<ConnectionUse> UseOf(const std::string& peer);

  // Size of the requests that have arrived in part, of a connection that has received so many bytes. Estimated low.
  static uint64_t Unfinished(const ConnectionUse& use, uint64_t received);

  // Begins a look at all connections. Look is called for each, then EndLook.
  void BeginLook(int64_t now_ns);
  void Look(const std::string& peer, const TransferCounts& counts, int64_t now_ns);
  // In place of Look for each: looks at the calls that were reset, and not at bytes. For looks that come early, when
  // bytes may belong to calls that have not begun.
  void LookAtResets();
  // Returns the peers of the connections that flood. After Look, forgets the connections that were not looked at.
  std::vector<std::string> EndLook();

 private:
  struct Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<std::string, std::shared_ptr<ConnectionUse>> uses ABSL_GUARDED_BY(mutex);
  };
  void AddSuspect(const std::string& peer, const PeerNetwork& network, uint64_t bytes);
  // A connection that receives more than it asks for.
  struct Suspect {
    std::string peer;
    PeerNetwork network{};
    uint64_t bytes = 0;  // in an interval
    bool is_over = false;
  };
  // Bytes that a network was excused, and that have not come back.
  struct Excused {
    uint64_t bytes = 0;
    int64_t since_ns = 0;
  };
  void GiveBack(int64_t now_ns, Excused* excused) const;
  // Returns as many of `bytes` as are excused.
  uint64_t Excuse(const PeerNetwork& network, uint64_t bytes, int64_t now_ns);

  const Limits limits_;
  std::array<Shard, 16> shards_;
  std::vector<Suspect> suspects_;
  bool looks_at_all_ = true;
  absl::flat_hash_map<PeerNetwork, Excused> excused_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_FLOOD_GUARD_H_
