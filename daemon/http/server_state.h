#ifndef ARMATURE_DAEMON_HTTP_SERVER_STATE_H_
#define ARMATURE_DAEMON_HTTP_SERVER_STATE_H_

// State shared by all parts of one HttpServer.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/http/h2_session.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/memory_budget.h"
#include "storage/base/monotonic_wait.h"

namespace armature::daemon {

// Counts connections. Thread-safety: thread-safe.
class ConnectionCount {
 public:
  void Add() {
    absl::MutexLock lock(&mutex_);
    ++count_;
  }
  void Remove() {
    absl::MutexLock lock(&mutex_);
    if (--count_ == 0) none_.Notify();
  }
  size_t value() const {
    absl::MutexLock lock(&mutex_);
    return count_;
  }
  // Waits until there are none. False if `timeout` ends first.
  bool AwaitNone(absl::Duration timeout) const {
    const int64_t due_ns = MonotonicAfter(timeout);
    absl::MutexLock lock(&mutex_);
    while (count_ > 0 && MonotonicNs() < due_ns) none_.Until(&mutex_, due_ns);
    return count_ == 0;
  }

 private:
  mutable absl::Mutex mutex_;
  mutable MonotonicWait none_;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct ServerState {
  ServerState(const HttpServerOptions& server_options, HttpHandler* request_handler)
      : options(server_options),
        handler(request_handler),
        own_ledger({.connections_max = server_options.connections_max}),
        own_budget(server_options.held_bytes_max, server_options.held_bytes_max),
        ledger(options.ledger == nullptr ? &own_ledger : options.ledger),
        budget(options.budget == nullptr ? &own_budget : options.budget),
        h2_limits{.pace = {.stall_ns = absl::ToInt64Nanoseconds(options.stall_timeout),
                           .bytes_per_second_min = options.bytes_per_second_min}} {}

  const HttpServerOptions options;
  HttpHandler* const handler;
  ConnectionLedger own_ledger;
  MemoryBudget own_budget;
  ConnectionLedger* const ledger;
  MemoryBudget* const budget;
  ConnectionCount connections;
  std::atomic<uint64_t> late_requests = 0;
  const H2Limits h2_limits;
  std::atomic<size_t> h2_connections = 0;
  std::array<std::atomic<uint64_t>, kH2Breaks> h2_broken = {};  // by H2Break
  // The server stops: answers close their connections.
  std::atomic<bool> draining = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_SERVER_STATE_H_
