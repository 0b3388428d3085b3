#include "daemon/grpc/call_ledger.h"

#include <algorithm>
#include <utility>

#include "daemon/grpc/error_map.h"
#include "daemon/net/coarse_clock.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {
namespace {

// Requests that arrive at once are not looked at.
constexpr int64_t kSlowNs = 30'000'000;
// Part of the budget that large requests of a connection hold.
constexpr size_t kLargePart = 16;
// Pauses are longer than looks by this factor: idle streams are looked at, too.
constexpr int kPartOfTime = 50;
// gRPC takes this much of a stream before anybody reads from it.
constexpr size_t kWindowBytes = 64 << 10;
// Part of the budget that is freed when a request was refused.
constexpr size_t kPartFreed = 4;
constexpr int kLogCallsEvery = 1000;
constexpr int64_t kRetryAfterMs = 100;
// Connections that are asked for their counts in each interval; that takes half a millisecond.
constexpr size_t kLooksPerSweep = 1000;
// Size of a request that was refused before it was read, estimated.
constexpr size_t kRefusedBytes = 4 << 10;
// Bytes around a message: its headers, and frames of the connection in an interval. Estimated high, because what is not
// subtracted would add up as long as a stream is open.
constexpr size_t kHeadBytes = 512;
constexpr size_t kControlBytes = 64;
// A message in frames and TLS records is larger by less than this part. So are window updates for answers.
constexpr size_t kFramingPart = 128;

// The lock that this thread holds during TryCancel, where gRPC may end the call at once.
thread_local const absl::Mutex* cancelling = nullptr;

}  // namespace

size_t TrackedCall::MetadataBytes() const {
  size_t bytes = 0;
  if (context_ == nullptr) return bytes;
  for (const auto& [name, value] : context_->client_metadata()) bytes += name.size() + value.size();
  return bytes;
}

void TrackedCall::Set(CallPhase phase, size_t bytes) {
  if (phase == CallPhase::kListening) has_listened_.store(true, std::memory_order_relaxed);
  since_ns_.store(CoarseNowNs(), std::memory_order_relaxed);
  bytes_.store(bytes, std::memory_order_relaxed);
  phase_.store(phase, std::memory_order_relaxed);
}

CallLedger::Shard& CallLedger::ShardOf(const TrackedCall* call) {
  return shards_[(reinterpret_cast<uintptr_t>(call) >> 6) % shards_.size()];
}

void CallLedger::Add(TrackedCall* call) {
  // In tests the peer is not that of the context.
  if (!call->network_.has_value()) call->network_ = NetworkOf(std::string_view(call->Peer()));
  if (call->network_.has_value()) {
    call->use_ = guard_.UseOf(call->Peer());
    call->use_->served_bytes.fetch_add(FloodGuard::kCallBytes + call->MetadataBytes(), std::memory_order_relaxed);
    call->use_->open_calls.fetch_add(1, std::memory_order_relaxed);
    call->is_surplus_ = call->use_->current_calls.fetch_add(1, std::memory_order_relaxed) >= kCurrentCallsMax;
  }
  Shard& shard = ShardOf(call);
  const absl::MutexLock lock(&shard.mutex);
  shard.calls.insert(call);
}

void CallLedger::Remove(TrackedCall* call) {
  if (call->use_ != nullptr) {
    call->use_->open_calls.fetch_sub(1, std::memory_order_relaxed);
    if (call->IsCurrent()) call->use_->current_calls.fetch_sub(1, std::memory_order_relaxed);
    const bool has_message = call->has_message_.load(std::memory_order_relaxed);
    if (!call->is_surplus_ && !has_message && !call->is_cancelled_.load(std::memory_order_relaxed)) {
      call->use_->served_bytes.fetch_add(kRefusedBytes, std::memory_order_relaxed);
    }
    // A part of its message may have arrived, of a stream that of one more.
    if (!has_message || call->has_listened_.load(std::memory_order_relaxed)) {
      call->use_->unread_calls.fetch_add(1, std::memory_order_relaxed);
    }
  }
  Shard& shard = ShardOf(call);
  if (cancelling == &shard.mutex) {
    shard.calls.erase(call);
    return;
  }
  const absl::MutexLock lock(&shard.mutex);
  shard.calls.erase(call);
}

absl::Status CallLedger::CheckCalls(const TrackedCall& call) {
  if (!call.is_surplus_) return absl::OkStatus();
  refused_surplus_.fetch_add(1, std::memory_order_relaxed);
  CountCancelled(call);
  return ThrottlingError(Cat("A connection may have ", kCallsPerConnectionMax, " calls at once"), kRetryAfterMs);
}

absl::Status CallLedger::CheckRoom(const BudgetClient& client, size_t bytes) {
  return budget_->HasRoomFor(client, bytes) ? absl::OkStatus() : Refused();
}

absl::Status CallLedger::Refused() {
  refused_.fetch_add(1, std::memory_order_relaxed);
  return NoMemoryForAnswerError();
}

absl::Status CallLedger::Received(TrackedCall& call, size_t bytes) {
  call.has_message_.store(true, std::memory_order_relaxed);
  if (call.use_ != nullptr) {
    call.use_->served_bytes.fetch_add(bytes + bytes / kFramingPart + FloodGuard::kMessageBytes,
                                      std::memory_order_relaxed);
  }
  if (has_streaks_.load(std::memory_order_relaxed)) {
    const std::string& peer = call.Peer();
    const absl::MutexLock lock(&streaks_mutex_);
    const auto found = streaks_.find(peer);
    if (found != streaks_.end()) found->second.whole_bytes += bytes + bytes / kFramingPart + kHeadBytes;
  }
  return bytes <= limits_.message_bytes_max ? absl::OkStatus() : MessageTooLargeError(bytes, limits_.message_bytes_max);
}

void CallLedger::Cancelled(TrackedCall& call) {
  const bool was_current = call.IsCurrent();
  call.is_cancelled_.store(true, std::memory_order_relaxed);
  if (call.use_ != nullptr && was_current) call.use_->current_calls.fetch_sub(1, std::memory_order_relaxed);
  if (call.use_ != nullptr && !call.has_message_.load(std::memory_order_relaxed)) {
    call.use_->reset_calls.fetch_add(1, std::memory_order_relaxed);
  }
  // A parked call tells this long after, with many others; CheckCalls has counted one too many.
  if (!call.was_parked_.load(std::memory_order_relaxed) && !call.is_surplus_) CountCancelled(call);
}

void CallLedger::CountCancelled(const TrackedCall& call) {
  const std::string& peer = call.Peer();
  const absl::MutexLock lock(&cancelled_mutex_);
  // An interval is long: a client can begin and cancel thousands of calls in it.
  if (++cancelled_[peer] != limits_.cancelled_max + 1 || table_ == nullptr) return;
  is_hastened_.store(true);
  table_->Hasten();
}

void CallLedger::Parked(TrackedCall& call) {
  if (call.use_ == nullptr) return;
  call.is_parked_.store(true, std::memory_order_relaxed);
  call.was_parked_.store(true, std::memory_order_relaxed);
  call.use_->current_calls.fetch_sub(1, std::memory_order_relaxed);
  if (call.use_->parked_calls.fetch_add(1, std::memory_order_relaxed) >= kCallsPerConnectionMax) CountCancelled(call);
}

void CallLedger::Unparked(TrackedCall& call) {
  if (!call.is_parked_.exchange(false, std::memory_order_relaxed)) return;
  call.use_->parked_calls.fetch_sub(1, std::memory_order_relaxed);
  call.use_->current_calls.fetch_add(1, std::memory_order_relaxed);
}

bool CallLedger::MustWait(const TrackedCall& call, size_t bytes) {
  if (call.use_ == nullptr || table_ == nullptr) return false;
  const auto age = [&] { return table_->SinceReceivedMs(call.Peer()); };
  return late_.MustWait(&call.use_->burst, CoarseNowNs(), bytes, age,
                        [this](uint64_t most) { return table_->UnreadBytes(most); });
}

void CallLedger::BreakCancelling(ConnectionTable* table) {
  absl::flat_hash_map<std::string, size_t> cancelled;
  {
    const absl::MutexLock lock(&cancelled_mutex_);
    cancelled.swap(cancelled_);
  }
  for (const auto& [peer, calls] : cancelled) {
    if (calls <= limits_.cancelled_max || !table->Bar(peer)) continue;
    LOG_EVERY_N(WARNING, kLogCallsEvery) << "grpc: connection broken off, because it cancels its calls peer=" << peer
                                         << " calls=" << calls;
    broken_cancelling_.fetch_add(1, std::memory_order_relaxed);
  }
}

void CallLedger::BreakFlooding(int64_t now_ns, ConnectionTable* table) {
  // A sweep may come early, and bytes whose call has not begun would be looked at twice.
  const bool is_early = now_ns - flood_look_ns_ < absl::ToInt64Nanoseconds(kInterval);
  if (!is_early && sweeps_to_look_ > 0) {
    --sweeps_to_look_;
    return;
  }
  guard_.BeginLook(now_ns);
  if (is_early) {
    guard_.LookAtResets();
  } else {
    flood_look_ns_ = now_ns;
    sweeps_to_look_ = table->connections() / kLooksPerSweep;
    table->LookAtAll(
        [this, now_ns](const std::string& peer, const TransferCounts& counts) { guard_.Look(peer, counts, now_ns); });
  }
  for (const std::string& peer : guard_.EndLook()) {
    if (!table->Bar(peer)) continue;
    LOG_EVERY_N(WARNING, kLogCallsEvery)
        << "grpc: connection broken off, because it sends frames without requests peer=" << peer;
    broken_flooding_.fetch_add(1, std::memory_order_relaxed);
  }
}

size_t CallLedger::Collect(int64_t now_ns, Connections* connections, size_t* busy) {
  size_t open = 0;
  for (Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    open += shard.calls.size();
    for (TrackedCall* const call : shard.calls) {
      const Waiting waiting{.call = call,
                            .phase = call->phase_.load(std::memory_order_relaxed),
                            .since_ns = call->since_ns_.load(std::memory_order_relaxed),
                            .bytes = call->bytes_.load(std::memory_order_relaxed)};
      if (waiting.phase != CallPhase::kListening && waiting.phase != CallPhase::kPushing) ++*busy;
      if (waiting.phase == CallPhase::kRunning || now_ns - waiting.since_ns < kSlowNs) continue;
      Connection& connection = (*connections)[call->Peer()];
      connection.calls.push_back(waiting);
      if (connection.use == nullptr) connection.use = call->use_;
      if (waiting.phase == CallPhase::kReading) ++connection.reading;
      connection.answer_bytes += waiting.bytes;
    }
  }
  return open;
}

void CallLedger::EstimateOne(int64_t now_ns, const TransferCounts& counts, Streak* streak,
                             Connection* connection) const {
  const uint64_t received = counts.received - streak->start.received;
  const uint64_t acknowledged = counts.acknowledged - streak->start.acknowledged;
  streak->held_bytes += counts.received - streak->seen_received;
  streak->seen_received = counts.received;
  const size_t other_bytes = std::exchange(streak->whole_bytes, 0) + kControlBytes;
  streak->held_bytes -= std::min(streak->held_bytes, other_bytes);
  // Streams that have begun and sent nothing hold nothing.
  connection->request_bytes =
      std::min<size_t>(streak->held_bytes + connection->reading * kWindowBytes, counts.received);
  const double seconds = static_cast<double>(now_ns - streak->start_ns) / kNsPerSecond;
  connection->is_slow = static_cast<double>(received + acknowledged) <
                        seconds * static_cast<double>(limits_.bytes_per_second_min * connection->calls.size());
}

// A connection that has ended, or is on a Unix socket.
void CallLedger::EstimateUnknown(const std::string& peer, Connection* connection) {
  connection->is_slow = true;
  if (!NetworkOf(std::string_view(peer)).has_value()) {
    connection->request_bytes = connection->reading * (limits_.request_bytes_max + kWindowBytes);
    return;
  }
  connection->request_bytes = connection->reading * kWindowBytes;
  const auto found = streaks_.find(peer);
  if (found == streaks_.end()) return;
  found->second.is_seen = true;
  connection->request_bytes = std::max(connection->request_bytes, found->second.held_bytes);
}

void CallLedger::Estimate(int64_t now_ns, const ConnectionTable& table, Connections* connections) {
  const absl::MutexLock lock(&streaks_mutex_);
  for (auto& [peer, streak] : streaks_) streak.is_seen = false;
  for (auto& [peer, connection] : *connections) {
    const std::optional<TransferCounts> counts = table.Transferred(peer);
    if (!counts.has_value()) {
      EstimateUnknown(peer, &connection);
      continue;
    }
    const auto [found, is_new] = streaks_.try_emplace(peer);
    Streak& streak = found->second;
    // Another connection from the same port, beside a call of the former one.
    const bool is_another = counts->received < streak.seen_received || counts->acknowledged < streak.start.acknowledged;
    if (is_another) streak = {};
    streak.is_seen = true;
    if (is_new || is_another) {
      streak.start_ns = now_ns;
      streak.start = *counts;
      streak.seen_received = counts->received;
      // A fast client has sent much of its request by now.
      streak.held_bytes = std::min<size_t>(counts->received - counts->received_before,
                                           connection.reading * (limits_.request_bytes_max + kWindowBytes));
      if (connection.use != nullptr) {
        streak.held_bytes =
            std::min<size_t>(streak.held_bytes, FloodGuard::Unfinished(*connection.use, counts->received));
      }
    }
    EstimateOne(now_ns, *counts, &streak, &connection);
  }
  absl::erase_if(streaks_, [](const auto& each) { return !each.second.is_seen; });
  has_streaks_.store(!streaks_.empty(), std::memory_order_relaxed);
}

void CallLedger::Count(int64_t now_ns, const ConnectionTable& table, Connections* connections, size_t* busy) {
  const size_t open = Collect(now_ns, connections, busy);
  Estimate(now_ns, table, connections);
  size_t estimate = open * kCallBytes;
  BytesByClient by_client;
  has_large_ = false;
  for (const auto& [peer, connection] : *connections) {
    if (connection.request_bytes == 0) continue;
    estimate += connection.request_bytes;
    by_client[ClientOf(NetworkOf(std::string_view(peer)))] += connection.request_bytes;
    has_large_ = has_large_ || connection.request_bytes > budget_->bytes_max() / kLargePart;
  }
  budget_->SetEstimate(estimate, std::move(by_client));
}

absl::Duration CallLedger::Tick(int64_t now_ns, ConnectionTable* table) {
  const int64_t begin_ns = MonotonicNs();
  if (is_hastened_.exchange(false) || now_ns >= next_sweep_ns_) {
    next_sweep_ns_ = now_ns + absl::ToInt64Nanoseconds(kInterval);
    Sweep(now_ns, table);
  } else {
    Look(now_ns, table);
  }
  const absl::Duration took = absl::Nanoseconds(MonotonicNs() - begin_ns);
  return std::max(has_large_ ? kLookAtLarge : kLook, kPartOfTime * took);
}

void CallLedger::Look(int64_t now_ns, ConnectionTable* table) {
  Connections connections;
  size_t busy = 0;
  Count(now_ns, *table, &connections, &busy);
  if (busy > busy_.load(std::memory_order_relaxed)) busy_.store(busy, std::memory_order_relaxed);
  // Answers may exceed it for a moment, and requests must not pay for that.
  const bool is_exceeded = IsExceeded(connections);
  if (std::exchange(was_exceeded_, is_exceeded) && is_exceeded) {
    EndExcess(now_ns, /*is_wanted=*/false, connections, table);
  }
}

bool CallLedger::IsExceeded(const Connections& connections) const {
  return budget_->excess() > 0 || std::any_of(connections.begin(), connections.end(), [this](const auto& each) {
           const BudgetClient client = ClientOf(NetworkOf(std::string_view(each.first)));
           return budget_->held_by(client) > budget_->client_bytes_max();
         });
}

void CallLedger::Sweep(int64_t now_ns, ConnectionTable* table) {
  Connections connections;
  size_t busy = 0;
  Count(now_ns, *table, &connections, &busy);
  // Clients may be between two calls just now.
  busy_.store(std::max(busy, busy_.load(std::memory_order_relaxed) / 2), std::memory_order_relaxed);
  was_exceeded_ = IsExceeded(connections);
  BreakCancelling(table);
  BreakFlooding(now_ns, table);
  EndStalled(now_ns, &connections);
  const uint64_t refused = refused_.load(std::memory_order_relaxed) + budget_->refused();
  const bool is_wanted = std::exchange(refused_seen_, refused) != refused;
  EndExcess(now_ns, is_wanted, connections, table);
}

void CallLedger::EndExcess(int64_t now_ns, bool is_wanted, const Connections& connections, ConnectionTable* table) {
  size_t wanted = budget_->excess();
  if (is_wanted) wanted += budget_->bytes_max() / kPartFreed;
  ConnectionList all;
  absl::flat_hash_map<BudgetClient, ConnectionList> of_client;
  for (const auto& each : connections) {
    if (each.second.held_bytes() == 0) continue;
    all.push_back(&each);
    of_client[ClientOf(NetworkOf(std::string_view(each.first)))].push_back(&each);
  }
  for (auto& [client, its_connections] : of_client) {
    const size_t held = budget_->held_by(client) + (is_wanted ? budget_->client_bytes_max() / kPartFreed : 0);
    if (held <= budget_->client_bytes_max()) continue;
    EndLargest(now_ns, held - budget_->client_bytes_max(), std::move(its_connections), table);
  }
  if (wanted > 0 && (budget_->excess() > 0 || budget_->IsTight({}))) {
    EndLargest(now_ns, wanted, std::move(all), table);
  }
}

void CallLedger::EndStalled(int64_t now_ns, Connections* connections) {
  const int64_t timeout_ns = absl::ToInt64Nanoseconds(limits_.stall_timeout);
  for (auto& [peer, connection] : *connections) {
    if (!connection.is_slow) continue;
    for (const Waiting& waiting : connection.calls) {
      if (waiting.phase == CallPhase::kListening || waiting.phase == CallPhase::kPushing) continue;
      if (now_ns - waiting.since_ns < timeout_ns) continue;
      if (!Cancel(waiting)) continue;
      ended_stalled_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void CallLedger::EndLargest(int64_t now_ns, size_t wanted, ConnectionList connections, ConnectionTable* table) {
  std::sort(connections.begin(), connections.end(),
            [](const auto* a, const auto* b) { return a->second.held_bytes() > b->second.held_bytes(); });
  const int64_t grace_ns = absl::ToInt64Nanoseconds(limits_.grace);
  for (const auto* each : connections) {
    size_t ended = 0;
    bool has_unread = false;
    for (const Waiting& waiting : each->second.calls) {
      // A stream that listens may have received no part of a message.
      if (waiting.phase == CallPhase::kListening && each->second.request_bytes < kWindowBytes) continue;
      const bool is_answer = waiting.phase == CallPhase::kSending || waiting.phase == CallPhase::kPushing;
      // A request grows until it is whole. An answer only shrinks.
      if (is_answer && now_ns - waiting.since_ns < grace_ns) continue;
      has_unread = has_unread || is_answer;
      if (Cancel(waiting)) ++ended;
    }
    // gRPC keeps the answers of a cancelled call until its connection has written what it had begun to write.
    if (has_unread) table->Break(each->first);
    if (ended == 0) continue;
    ended_spent_.fetch_add(ended, std::memory_order_relaxed);
    const size_t held = each->second.held_bytes();
    LOG_EVERY_N(WARNING, kLogCallsEvery) << "grpc: the memory for requests and answers is used up, calls ended peer="
                                         << each->first << " calls=" << ended << " bytes=" << held;
    if (held >= wanted) return;
    wanted -= held;
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
  waiting.call->Cancel();
  cancelling = nullptr;
  return true;
}

CallLedgerCounts CallLedger::counts() const {
  return {.ended_stalled = ended_stalled_.load(std::memory_order_relaxed),
          .ended_spent = ended_spent_.load(std::memory_order_relaxed),
          .broken_cancelling = broken_cancelling_.load(std::memory_order_relaxed),
          .broken_flooding = broken_flooding_.load(std::memory_order_relaxed),
          .refused = refused_.load(std::memory_order_relaxed),
          .refused_surplus = refused_surplus_.load(std::memory_order_relaxed)};
}

}  // namespace armature::daemon
