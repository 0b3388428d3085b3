#ifndef ARMATURE_DAEMON_HTTP_SERVER_STATE_H_
#define ARMATURE_DAEMON_HTTP_SERVER_STATE_H_

// State shared by all parts of one HttpServer.

#include <atomic>
#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"

namespace armature::daemon {

// Counts bytes of requests being received and of unsent answers, over all connections.
//
// Thread-safety: thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // Never refuses, because answers exist already. IsSpent() is true if no more may be received.
  void Add(size_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
  void Remove(size_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool IsSpent() const { return held() > bytes_max_; }
  size_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  const size_t bytes_max_;
  std::atomic<size_t> held_ = 0;
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

  void Set(size_t bytes) {
    if (bytes <= kFreeBytes) bytes = 0;
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

// Counts connections. Thread-safety: thread-safe.
class ConnectionCount {
 public:
  // False, without counting, if there are `max` already.
  bool TryAdd(size_t max) {
    absl::MutexLock lock(&mutex_);
    if (count_ >= max) return false;
    ++count_;
    return true;
  }
  void Remove() {
    absl::MutexLock lock(&mutex_);
    if (--count_ == 0) none_.SignalAll();
  }
  size_t value() const {
    absl::MutexLock lock(&mutex_);
    return count_;
  }
  // Waits until there are none. False if `timeout` ends first.
  bool AwaitNone(absl::Duration timeout) const {
    absl::MutexLock lock(&mutex_);
    const absl::Time deadline = absl::Now() + timeout;
    while (count_ > 0) {
      if (none_.WaitWithDeadline(&mutex_, deadline)) return count_ == 0;
    }
    return true;
  }

 private:
  mutable absl::Mutex mutex_;
  mutable absl::CondVar none_;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct ServerState {
  ServerState(const HttpServerOptions& server_options, HttpHandler* request_handler)
      : options(server_options), handler(request_handler), budget(server_options.held_bytes_max) {}

  const HttpServerOptions options;
  HttpHandler* const handler;
  MemoryBudget budget;
  ConnectionCount connections;
  // The server stops: answers close their connections.
  std::atomic<bool> draining = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_SERVER_STATE_H_
