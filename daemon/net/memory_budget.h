#ifndef ARMATURE_DAEMON_NET_MEMORY_BUDGET_H_
#define ARMATURE_DAEMON_NET_MEMORY_BUDGET_H_

// Memory of requests and answers, over all connections of all front ends.

#include <atomic>
#include <cstddef>

namespace armature::daemon {

// Counts bytes of requests being received and of unsent answers, over all connections.
//
// Thread-safety: thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Never refuses, because answers exist already. IsSpent() is true if no more may be received.
  void Add(size_t bytes) { counted_.fetch_add(bytes, std::memory_order_relaxed); }
  void Remove(size_t bytes) { counted_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool IsSpent() const { return held() > bytes_max_; }
  bool HasRoomFor(size_t bytes) const { return held() + bytes <= bytes_max_; }
  // Bytes beyond the limit.
  size_t excess() const {
    const size_t bytes = held();
    return bytes > bytes_max_ ? bytes - bytes_max_ : 0;
  }
  size_t bytes_max() const { return bytes_max_; }
  size_t held() const { return counted_.load(std::memory_order_relaxed) + estimate_.load(std::memory_order_relaxed); }

  // Replaces the part that cannot be counted, but only estimated from time to time.
  void SetEstimate(size_t bytes) { estimate_.store(bytes, std::memory_order_relaxed); }

 private:
  const size_t bytes_max_;
  std::atomic<size_t> counted_ = 0;
  std::atomic<size_t> estimate_ = 0;
};

// The part of a budget that one connection holds.
//
// Small amounts are not counted, so that an ordinary request touches no shared counter.
// Thread-safety: thread-compatible.
class MemoryShare {
 public:
  explicit MemoryShare(MemoryBudget* budget) : budget_(budget) {}
  ~MemoryShare() { Set(0); }
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  static bool Counts(size_t bytes) { return bytes > kFreeBytes; }

  void Set(size_t bytes) {
    if (!Counts(bytes)) bytes = 0;
    if (bytes > counted_) budget_->Add(bytes - counted_);
    if (bytes < counted_) budget_->Remove(counted_ - bytes);
    counted_ = bytes;
  }
  bool is_counted() const { return counted_ > 0; }

 private:
  static constexpr size_t kFreeBytes = 8 << 10;

  MemoryBudget* const budget_;
  size_t counted_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_NET_MEMORY_BUDGET_H_
