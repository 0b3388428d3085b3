#ifndef ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_
#define ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_

// Counts requests and their durations by front end, operation and result, and logs slow requests.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "engine/operations.h"
#include "engine/request_trace.h"
#include "storage/base/api_error.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {

// The front end of a request: a call of its own, or (kPipeline) one of many in a Pipeline stream.
enum class Front : uint8_t { kGrpc, kHttp, kPipeline };
inline constexpr size_t kFrontCount = 3;
std::string_view FrontName(Front front);

// Operations are numbered as in engine::kOperations. The last number stands for all others.
inline constexpr size_t kOperationCount = engine::kOperations.size() + 1;
constexpr std::string_view OperationName(size_t operation) {
  return operation < engine::kOperations.size() ? engine::kOperations[operation].name : "other";
}

// "ok", or the name of the exception. Numbers: success, the documented exceptions, the internal error.
inline constexpr size_t kResultCount = static_cast<size_t>(kLastApiErrorType) + 2;
size_t ResultOf(const absl::Status& status);
std::string_view ResultName(size_t result);

// Thread-safety: thread-safe. Cost: a few relaxed additions and two clock reads per request. No lock is taken, and
// nothing is allocated unless slow requests are logged.
class RequestStats {
 public:
  // A started request. Cheap to copy. Does nothing if it was made without stats.
  class Request {
   public:
    Request() = default;
    // Call it once for all copies. `request_id`: the id that the client knows.
    void Finish(const absl::Status& status, std::string_view request_id) const;
    // Trace for the engine; null unless slow requests are logged.
    const std::shared_ptr<engine::RequestTrace>& trace() const { return trace_; }

   private:
    friend class RequestStats;
    Request(RequestStats* stats, Front front, size_t operation);

    RequestStats* stats_ = nullptr;
    Front front_ = Front::kGrpc;
    size_t operation_ = 0;
    int64_t start_ns_ = 0;
    std::shared_ptr<engine::RequestTrace> trace_;
  };

  // Requests that take at least `slow_ns` are logged; 0: none.
  explicit RequestStats(int64_t slow_ns) : slow_ns_(slow_ns) {}

  Request Begin(Front front, std::string_view operation);
  // Begin for `stats` that may be null.
  static Request Begin(RequestStats* stats, Front front, std::string_view operation) {
    return stats == nullptr ? Request() : stats->Begin(front, operation);
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

  void TellSlow(const Request& request, int64_t took_ns, const absl::Status& status, std::string_view request_id);

  const int64_t slow_ns_;
  std::array<PerFront, kFrontCount> fronts_;
  // At most a few slow requests are logged per second, so that logging does not slow an overloaded daemon further.
  std::atomic<int64_t> slow_second_ = 0;
  std::atomic<uint64_t> slow_lines_ = 0;  // logged in that second
  std::atomic<uint64_t> slow_lost_ = 0;   // not logged since the last line
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_
