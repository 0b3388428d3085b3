#ifndef ARMATURE_DAEMON_NET_CONNECTION_LEDGER_H_
#define ARMATURE_DAEMON_NET_CONNECTION_LEDGER_H_

// Connections of all front ends, limited in all and by address.

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {

// The part of a client's address that counts: an IPv4 address, or the first half of an IPv6 address, because a client
// may use all addresses of its network. Clients on Unix sockets have none.
using PeerNetwork = std::array<uint8_t, 8>;
std::optional<PeerNetwork> NetworkOf(const sockaddr_storage& peer);

struct ConnectionLimits {
  size_t connections_max = 20'000;
  size_t per_address_max = SIZE_MAX;  // connections from one network
};

// `limits` for a process that may have `descriptors` open: connections with two descriptors each must leave the reserve
// free. A per_address_max of 0 becomes half of connections_max, so that one client cannot keep out all others.
ConnectionLimits WithinDescriptors(ConnectionLimits limits, uint64_t descriptors);

struct ConnectionCounts {
  size_t open = 0;
  // Connections that were refused, by reason.
  uint64_t refused_total_limit = 0;
  uint64_t refused_address_limit = 0;
  uint64_t refused_descriptors = 0;
};

// Thread-safety: thread-safe.
class ConnectionLedger {
 public:
  explicit ConnectionLedger(ConnectionLimits limits) : limits_(limits) {}
  ConnectionLedger(const ConnectionLedger&) = delete;
  ConnectionLedger& operator=(const ConnectionLedger&) = delete;

  // Counts a connection. `descriptor`: its highest descriptor. False, with nothing counted but the refusal, if a limit
  // is reached, or if connections would use the descriptors that are reserved for the database's files.
  bool TryAdd(int descriptor, const std::optional<PeerNetwork>& network);
  // Takes back what TryAdd has counted.
  void Remove(const std::optional<PeerNetwork>& network);

  // The limits from now on. Connections beyond them stay open.
  void ChangeLimits(ConnectionLimits limits);

  ConnectionCounts counts() const;

 private:
  mutable absl::Mutex mutex_;
  ConnectionLimits limits_ ABSL_GUARDED_BY(mutex_);
  ConnectionCounts counts_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<PeerNetwork, size_t> by_network_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_NET_CONNECTION_LEDGER_H_
