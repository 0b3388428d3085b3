#ifndef ARMATURE_DAEMON_NET_MEMORY_BUDGET_H_
#define ARMATURE_DAEMON_NET_MEMORY_BUDGET_H_

// Memory of requests and answers, over all connections of all front ends.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/net/connection_ledger.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

// Clients count by their networks. All clients on Unix sockets, which have none, count as one.
using BudgetClient = MemoryClient;
inline BudgetClient ClientOf(const std::optional<PeerNetwork>& network) { return network.value_or(PeerNetwork{}); }

// The usual size of a large answer. A read that may have one is refused before it runs, unless there is room for it.
inline constexpr size_t kLargeAnswerBytes = 1 << 20;

// Counts bytes of requests being received and of unsent answers, over all connections.
//
// Large requests and answers, those that a HeldMemory counts, may use all but the last eighth, and those of one client
// no more than its share. Small ones are admitted until all is used.
//
// Thread-safety: thread-safe.
class MemoryBudget final : public MemoryLender {
 public:
  // `client_bytes_max`: share of one client.
  MemoryBudget(size_t bytes_max, size_t client_bytes_max)
      : bytes_max_(bytes_max), large_max_(bytes_max - bytes_max / 8), client_max_(client_bytes_max) {}

  bool TryTake(const BudgetClient& client, size_t bytes) override;
  void Take(const BudgetClient& client, size_t bytes) override;
  void Return(const BudgetClient& client, size_t bytes) override;

  // True if not even small requests may be received.
  bool IsFull() const { return held() > bytes_max_; }
  // True if a large request or answer of `bytes` may be added.
  bool HasRoomFor(const BudgetClient& client, size_t bytes) const;
  // True if more than three quarters of what large messages or this client may use is used.
  bool IsTight(const BudgetClient& client) const;

  size_t bytes_max() const { return bytes_max_; }
  size_t client_bytes_max() const { return client_max_; }
  size_t held() const { return counted_.load(std::memory_order_relaxed); }
  size_t held_by(const BudgetClient& client) const;

  // Number of the refusals of TryTake.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  size_t HeldBy(const BudgetClient& client) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t bytes_max_;
  const size_t large_max_;
  const size_t client_max_;
  std::atomic<size_t> counted_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<BudgetClient, size_t> by_client_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_NET_MEMORY_BUDGET_H_
