#include "daemon/grpc/call_ledger.h"

#include <algorithm>
#include <utility>

#include "daemon/net/coarse_clock.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

// Requests that arrive at once are not looked at.
constexpr int64_t kSlowNs = 50'000'000;
constexpr double kNsPerSecond = 1e9;
// gRPC takes this much of a stream before anybody reads from it.
constexpr size_t kWindowBytes = 64 << 10;
// Part of the budget that is freed when a request was refused.
constexpr size_t kPartFreed = 4;
constexpr int kLogEvery = 1000;

// The lock that this thread holds during TryCancel, where gRPC may end the call at once.
thread_local const absl::Mutex* cancelling = nullptr;

}  // namespace

void TrackedCall::Set(CallPhase phase, size_t bytes) {
  since_ns_.store(CoarseNowNs(), std::memory_order_relaxed);
  bytes_.store(bytes, std::memory_order_relaxed);
  phase_.store(phase, std::memory_order_relaxed);
}

CallLedger::Shard& CallLedger::ShardOf(const TrackedCall* call) {
  return shards_[(reinterpret_cast<uintptr_t>(call) >> 6) % shards_.size()];
}

void CallLedger::Add(TrackedCall* call) {
  Shard& shard = ShardOf(call);
  const absl::MutexLock lock(&shard.mutex);
  shard.calls.insert(call);
}

void CallLedger::Remove(TrackedCall* call) {
  Shard& shard = ShardOf(call);
  if (cancelling == &shard.mutex) {
    shard.calls.erase(call);
    return;
  }
  const absl::MutexLock lock(&shard.mutex);
  shard.calls.erase(call);
}

absl::Status CallLedger::CheckRoom(size_t bytes) {
  if (budget_->HasRoomFor(bytes)) return absl::OkStatus();
  refused_.fetch_add(1, std::memory_order_relaxed);
  return ServiceUnavailableError("The server's memory for requests and answers is used up: try again");
}

size_t CallLedger::Collect(int64_t now_ns, Connections* connections) {
  size_t open = 0;
  for (Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    open += shard.calls.size();
    for (TrackedCall* const call : shard.calls) {
      const Waiting waiting{.call = call,
                            .phase = call->phase_.load(std::memory_order_relaxed),
                            .since_ns = call->since_ns_.load(std::memory_order_relaxed),
                            .bytes = call->bytes_.load(std::memory_order_relaxed)};
      if (waiting.phase == CallPhase::kRunning || now_ns - waiting.since_ns < kSlowNs) continue;
      Connection& connection = (*connections)[call->context_->peer()];
      connection.calls.push_back(waiting);
      if (waiting.phase == CallPhase::kReading) ++connection.reading;
      connection.answer_bytes += waiting.bytes;
    }
  }
  return open;
}

void CallLedger::Estimate(int64_t now_ns, const ConnectionTable& table, Connections* connections) {
  for (auto& [peer, streak] : streaks_) streak.is_seen = false;
  for (auto& [peer, connection] : *connections) {
    const std::optional<TransferCounts> counts = table.Transferred(peer);
    const auto [found, is_new] = streaks_.try_emplace(peer);
    Streak& streak = found->second;
    streak.is_seen = true;
    if (is_new) {
      streak.start_ns = now_ns;
      streak.start = counts.value_or(TransferCounts{});
    }
    const size_t most = connection.reading * (limits_.request_bytes_max + kWindowBytes);
    if (!counts.has_value()) {
      connection.request_bytes = most;
      connection.is_slow = true;
      continue;
    }
    const uint64_t received = counts->received - streak.start.received;
    const uint64_t acknowledged = counts->acknowledged - streak.start.acknowledged;
    connection.request_bytes = std::min<size_t>(received + connection.reading * kWindowBytes, most);
    const double seconds = static_cast<double>(now_ns - streak.start_ns) / kNsPerSecond;
    connection.is_slow = static_cast<double>(received + acknowledged) <
                         seconds * static_cast<double>(limits_.bytes_per_second_min * connection.calls.size());
  }
  absl::erase_if(streaks_, [](const auto& each) { return !each.second.is_seen; });
}

void CallLedger::Sweep(int64_t now_ns, ConnectionTable* table) {
  Connections connections;
  const size_t open = Collect(now_ns, &connections);
  Estimate(now_ns, *table, &connections);
  size_t estimate = open * kCallBytes;
  for (const auto& [peer, connection] : connections) estimate += connection.request_bytes;
  budget_->SetEstimate(estimate);
  EndStalled(now_ns, &connections);
  size_t wanted = budget_->excess();
  // Somebody else needs the room of those who do not read.
  const uint64_t refused = refused_.load(std::memory_order_relaxed);
  if (std::exchange(refused_seen_, refused) != refused) wanted += budget_->bytes_max() / kPartFreed;
  if (wanted > 0) EndLargest(now_ns, wanted, connections, table);
}

void CallLedger::EndStalled(int64_t now_ns, Connections* connections) {
  const int64_t timeout_ns = absl::ToInt64Nanoseconds(limits_.stall_timeout);
  for (auto& [peer, connection] : *connections) {
    if (!connection.is_slow) continue;
    for (const Waiting& waiting : connection.calls) {
      if (now_ns - waiting.since_ns < timeout_ns || !Cancel(waiting)) continue;
      ended_stalled_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void CallLedger::EndLargest(int64_t now_ns, size_t wanted, const Connections& connections, ConnectionTable* table) {
  std::vector<const Connections::value_type*> largest;
  for (const auto& each : connections) largest.push_back(&each);
  const auto held = [](const auto* each) { return each->second.request_bytes + each->second.answer_bytes; };
  std::sort(largest.begin(), largest.end(), [&](const auto* a, const auto* b) { return held(a) > held(b); });
  const int64_t grace_ns = absl::ToInt64Nanoseconds(limits_.grace);
  for (const auto* each : largest) {
    size_t ended = 0;
    bool has_unread = false;
    for (const Waiting& waiting : each->second.calls) {
      // A request grows until it is whole. An answer only shrinks.
      const bool is_reading = waiting.phase == CallPhase::kReading;
      if (!is_reading && now_ns - waiting.since_ns < grace_ns) continue;
      has_unread = has_unread || !is_reading;
      if (Cancel(waiting)) ++ended;
    }
    // gRPC keeps the answers of a cancelled call until its connection has written what it had begun to write.
    if (has_unread) table->Break(each->first);
    if (ended == 0) continue;
    ended_spent_.fetch_add(ended, std::memory_order_relaxed);
    LOG_EVERY_N(WARNING, kLogEvery) << "grpc: the memory for requests and answers is used up, calls ended peer="
                                    << each->first << " calls=" << ended << " bytes=" << held(each);
    if (held(each) >= wanted) return;
    wanted -= held(each);
  }
}

// The lock keeps the call's context alive.
bool CallLedger::Cancel(const Waiting& waiting) {
  Shard& shard = ShardOf(waiting.call);
  const absl::MutexLock lock(&shard.mutex);
  if (!shard.calls.contains(waiting.call)) return false;
  // The call has made progress, or another one has taken its place.
  if (waiting.call->since_ns_.load(std::memory_order_relaxed) != waiting.since_ns) return false;
  cancelling = &shard.mutex;
  waiting.call->context_->TryCancel();
  cancelling = nullptr;
  return true;
}

CallLedgerCounts CallLedger::counts() const {
  return {.ended_stalled = ended_stalled_.load(std::memory_order_relaxed),
          .ended_spent = ended_spent_.load(std::memory_order_relaxed),
          .refused = refused_.load(std::memory_order_relaxed)};
}

}  // namespace armature::daemon
