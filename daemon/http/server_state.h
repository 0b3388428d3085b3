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
#include "daemon/http/memory_budget.h"
#include "daemon/http/request_parser.h"

namespace armature::daemon {

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
      : options(server_options),
        limits{.line_bytes_max = server_options.line_bytes_max,
               .head_bytes_max = server_options.head_bytes_max,
               .body_bytes_max = server_options.body_bytes_max},
        handler(request_handler),
        budget(server_options.held_bytes_max) {}

  const HttpServerOptions options;
  const RequestLimits limits;
  HttpHandler* const handler;
  MemoryBudget budget;
  ConnectionCount connections;
  // The server stops: answers close their connections.
  std::atomic<bool> draining = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_SERVER_STATE_H_
