#include "daemon/telemetry/request_stats.h"

#include <optional>
#include <utility>

#include "glog/logging.h"

namespace armature::daemon {
namespace {

constexpr size_t kOk = 0;
constexpr size_t kInternal = kResultCount - 1;
constexpr uint64_t kSlowLinesPerSecond = 10;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr size_t kOther = kOperationCount - 1;

size_t NumberOf(const engine::Operation* found) {
  if (found == nullptr || found->plane == engine::Plane::kStream) return kOther;
  return static_cast<size_t>(found - engine::kOperations.data());
}

bool IsWholeStream(std::string_view operation) {
  const engine::Operation* const found = engine::FindOperation(operation);
  return found != nullptr && found->is_whole_stream();
}

size_t At(Front front) { return static_cast<size_t>(front); }

}  // namespace

size_t ResultOf(const absl::Status& status) {
  if (status.ok()) return kOk;
  if (const std::optional<ApiError> error = GetApiError(status)) return static_cast<size_t>(error->type);
  const bool is_unavailable =
      status.code() == absl::StatusCode::kUnavailable || status.code() == absl::StatusCode::kResourceExhausted;
  return is_unavailable ? static_cast<size_t>(ApiErrorType::kServiceUnavailable) : kInternal;
}

std::string_view ResultName(size_t result) {
  if (result == kOk) return "ok";
  return result == kInternal ? "InternalServerError" : ApiErrorName(static_cast<ApiErrorType>(result));
}

RequestStats::Request::Request(RequestStats* stats, Front front, size_t operation, std::string_view name,
                               std::string_view peer)
    : stats_(stats), front_(front), operation_(operation), start_ns_(MonotonicNs()) {
  place_ = stats->running_.Enter(name, front, peer, start_ns_, &trace_);
}

RequestStats::Request RequestStats::Begin(Front front, std::string_view operation, std::string_view peer) {
  fronts_[At(front)].begun.fetch_add(1, std::memory_order_relaxed);
  const engine::Operation* const found = engine::FindOperation(operation);
  return {this, front, NumberOf(found), found == nullptr ? OperationName(kOther) : found->name, peer};
}

RequestFacts RequestStats::Request::Facts(int64_t took_ns, const absl::Status& status,
                                          std::string_view request_id) const {
  RequestFacts facts;
  if (place_ != nullptr) {
    facts = RunningRequests::FactsOf(*place_);
  } else {
    facts.operation = OperationName(operation_);
    facts.front = front_;
    facts.begun_ns = start_ns_;
    if (trace_ != nullptr) facts.Take(*trace_);
  }
  facts.took_ns = took_ns;
  facts.result = ResultName(ResultOf(status));
  facts.request_id = request_id;
  return facts;
}

void RequestStats::Request::Finish(const absl::Status& status, std::string_view request_id) const {
  if (stats_ == nullptr) return;
  const int64_t took_ns = MonotonicNs() - start_ns_;
  Operation& operation = stats_->fronts_[At(front_)].operations[operation_];
  operation.times.Add(took_ns);
  operation.finished[ResultOf(status)].fetch_add(1, std::memory_order_relaxed);
  if (took_ns >= stats_->kept_ns()) {
    RequestFacts facts = Facts(took_ns, status, request_id);
    if (!IsWholeStream(facts.operation)) {
      if (stats_->slow_ns() > 0) stats_->Log(facts);
      stats_->slow_.Add(std::move(facts));
    }
  }
  RunningRequests::Leave(place_);
}

void RequestStats::Log(const RequestFacts& facts) {
  const int64_t second = MonotonicNs() / 1'000'000'000;
  if (slow_second_.exchange(second, std::memory_order_relaxed) != second) slow_lines_.store(0);
  if (slow_lines_.fetch_add(1, std::memory_order_relaxed) >= kSlowLinesPerSecond) {
    slow_lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const auto ms = [&](engine::WaitFor what) { return facts.waits_ns[static_cast<size_t>(what)] / kNsPerMs; };
  LOG(WARNING) << "request: slow operation=" << facts.operation << " front=" << FrontName(facts.front)
               << " table=" << facts.table << " result=" << facts.result << " request_id=" << facts.request_id
               << " ms=" << facts.took_ns / kNsPerMs << " queue_ms=" << ms(engine::WaitFor::kQueue)
               << " lock_ms=" << ms(engine::WaitFor::kLock) << " read_ms=" << ms(engine::WaitFor::kRead)
               << " commit_ms=" << ms(engine::WaitFor::kCommit) << " index_ms=" << ms(engine::WaitFor::kIndex)
               << " not_told=" << slow_lost_.exchange(0);
}

uint64_t RequestStats::finished(Front front, size_t operation, size_t result) const {
  return fronts_[At(front)].operations[operation].finished[result].load(std::memory_order_relaxed);
}

TimeHistogram::Counts RequestStats::times(Front front, size_t operation) const {
  return fronts_[At(front)].operations[operation].times.counts();
}

uint64_t RequestStats::in_flight(Front front) const {
  const PerFront& from = fronts_[At(front)];
  // In this order of reads, the difference is never negative.
  uint64_t finished = 0;
  for (const Operation& operation : from.operations) {
    for (const std::atomic<uint64_t>& each : operation.finished) finished += each.load(std::memory_order_acquire);
  }
  const uint64_t begun = from.begun.load(std::memory_order_acquire);
  return begun > finished ? begun - finished : 0;
}

}  // namespace armature::daemon
