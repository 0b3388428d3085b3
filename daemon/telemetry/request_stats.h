#ifndef ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_
#define ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_

// Counts requests and their times, by front, operation and result, and tells of slow ones.

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

// Where a request came from: as a call of its own, or (kPipeline) as one of many in a stream of Pipeline.
enum class Front : uint8_t { kGrpc, kHttp, kPipeline };
inline constexpr size_t kFrontCount = 3;
std::string_view FrontName(Front front);

// Operations are numbered as in engine::kOperations. The last number stands for all others, and for those on streams of
// changes while they are not available.
inline constexpr size_t kOperationCount = engine::kOperations.size() + 1;
constexpr std::string_view OperationName(size_t operation) {
  return operation < engine::kOperations.size() ? engine::kOperations[operation].name : "other";
}

// "ok", or the name of the exception that a client gets. Numbered: success, the documented ones, the internal error.
inline constexpr size_t kResultCount = static_cast<size_t>(ApiErrorType::kAccessDenied) + 2;
size_t ResultOf(const absl::Status& status);
std::string_view ResultName(size_t result);

// Thread-safety: thread-safe. Cost: a request costs a few relaxed additions and two looks at the clock; no lock is
// taken, and nothing is allocated unless slow requests are told of.
class RequestStats {
 public:
  // A request that has begun. Cheap to copy; does nothing if it was made without stats.
  class Request {
   public:
    Request() = default;
    // To be called once, of all copies. `request_id`: as the client knows it.
    void Finish(const absl::Status& status, std::string_view request_id) const;
    // For the engine; null unless slow requests are told of.
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

  // Requests that take `slow_ns` or longer are told of in the log; 0: none.
  explicit RequestStats(int64_t slow_ns) : slow_ns_(slow_ns) {}

  Request Begin(Front front, std::string_view operation);
  // The same for `stats` that may be null.
  static Request Begin(RequestStats* stats, Front front, std::string_view operation) {
    return stats == nullptr ? Request() : stats->Begin(front, operation);
  }

  // Operations and results by their numbers above.
  uint64_t finished(Front front, size_t operation, size_t result) const;
  TimeHistogram::Counts times(Front front, size_t operation) const;
  // Begun and not finished.
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
  // Lines of slow requests are at most a few a second: when everything is slow, the log must not make it slower.
  std::atomic<int64_t> slow_second_ = 0;
  std::atomic<uint64_t> slow_lines_ = 0;  // in that second
  std::atomic<uint64_t> slow_lost_ = 0;   // not told of since the last line
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_TELEMETRY_REQUEST_STATS_H_
