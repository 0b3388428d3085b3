#ifndef ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_
#define ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_

// Counts requests and their durations by front end, operation and result; knows those that run; logs and keeps slow
// ones.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/telemetry/request_facts.h"
#include "daemon/telemetry/running_requests.h"
#include "daemon/telemetry/slow_requests.h"
#include "engine/operations.h"
#include "engine/request_trace.h"
#include "storage/base/api_error.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {

// Operations are numbered as in engine::kOperations. The last number stands for all others.
inline constexpr size_t kOperationCount = engine::kOperations.size() + 1;
constexpr std::string_view OperationName(size_t operation) {
  return operation < engine::kOperations.size() ? engine::kOperations[operation].name : "other";
}

// "ok", or the name of the exception. Numbers: success, the documented exceptions, the internal error.
inline constexpr size_t kResultCount = static_cast<size_t>(kLastApiErrorType) + 2;
size_t ResultOf(const absl::Status& status);
std::string_view ResultName(size_t result);

// Thread-safety: thread-safe. Cost: a few relaxed additions and two clock reads per request, beside that of
// RunningRequests.
class RequestStats {
 public:
  // A started request. Cheap to copy. Does nothing if it was made without stats.
  class Request {
   public:
    Request() = default;
    // Call it once for all copies. `request_id`: the id that the client knows.
    void Finish(const absl::Status& status, std::string_view request_id) const;
    // Trace for the engine; may be null.
    const std::shared_ptr<engine::RequestTrace>& trace() const { return trace_; }
    // Notes the table for the lists of requests.
    void set_table(std::string_view table) const {
      if (trace_ != nullptr) trace_->set_table(table);
    }
    // True if slow requests are logged: the client gets an id, to ask the operator about a slow one.
    bool has_id() const { return stats_ != nullptr && stats_->slow_ns() > 0; }

   private:
    friend class RequestStats;
    Request(RequestStats* stats, Front front, size_t operation, std::string_view name, std::string_view peer);
    RequestFacts Facts(int64_t took_ns, const absl::Status& status, std::string_view request_id) const;

    RequestStats* stats_ = nullptr;
    Front front_ = Front::kGrpc;
    size_t operation_ = 0;
    int64_t start_ns_ = 0;
    std::shared_ptr<engine::RequestTrace> trace_;
    RunningRequests::Place* place_ = nullptr;
  };

  // Requests that take this long are kept unless the operator says how long a slow request takes.
  static constexpr int64_t kSlowNs = 1'000'000'000;

  // Requests that take at least `slow_ns` are logged and kept, with the durations of their waits. 0: none is logged,
  // and those of kSlowNs are kept, without waits.
  explicit RequestStats(int64_t slow_ns) : slow_ns_(slow_ns), running_(slow_ns > 0) {}
  // For requests that begin from now on.
  void set_slow_ns(int64_t slow_ns) {
    running_.set_timed(slow_ns > 0);
    slow_ns_.store(slow_ns, std::memory_order_relaxed);
  }

  // `peer`: address of the client.
  Request Begin(Front front, std::string_view operation, std::string_view peer = {});
  // Begin for `stats` that may be null.
  static Request Begin(RequestStats* stats, Front front, std::string_view operation, std::string_view peer = {}) {
    return stats == nullptr ? Request() : stats->Begin(front, operation, peer);
  }

  const RunningRequests& running() const { return running_; }
  const SlowRequests& slow() const { return slow_; }
  // The duration from which on requests are kept as slow ones.
  int64_t kept_ns() const {
    const int64_t slow = slow_ns();
    return slow > 0 ? slow : kSlowNs;
  }

  // Number of finished requests. Operations and results are given by the numbers above.
  uint64_t finished(Front front, size_t operation, size_t result) const;
  TimeHistogram::Counts times(Front front, size_t operation) const;
  // Number of requests started and not finished.
  uint64_t in_flight(Front front) const;

 private:
  struct Operation {
    std::array<std::atomic<uint64_t>, kResultCount> finished = {};
    TimeHistogram times;
  };
  struct PerFront {
    std::array<Operation, kOperationCount> operations;
    std::atomic<uint64_t> begun = 0;
  };

  void Log(const RequestFacts& facts);

  int64_t slow_ns() const { return slow_ns_.load(std::memory_order_relaxed); }

  std::atomic<int64_t> slow_ns_;
  RunningRequests running_;
  SlowRequests slow_;
  std::array<PerFront, kFrontCount> fronts_;
  // At most a few slow requests are logged per second, so that logging does not slow an overloaded daemon further.
  std::atomic<int64_t> slow_second_ = 0;
  std::atomic<uint64_t> slow_lines_ = 0;  // logged in that second
  std::atomic<uint64_t> slow_lost_ = 0;   // not logged since the last line
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_
