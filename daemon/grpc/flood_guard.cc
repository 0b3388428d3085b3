#include "daemon/grpc/flood_guard.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace armature::daemon {
namespace {

// Cost of a reset call, in bytes of frames that cost as much: about eight pings.
constexpr uint64_t kResetBytes = 128;
// Bytes that a connection may receive without a call in each interval: keep-alive, acknowledgements of settings.
constexpr uint64_t kFreeBytes = 512;
// The handshake of TLS and the first settings.
constexpr uint64_t kFirstBytes = 16 << 10;
// A client that receives answers sends window updates and pings: less than this part of what it receives.
constexpr uint64_t kUpdatesPart = 64;
// Received part of an unfinished request, in most cases. One may be the largest possible.
constexpr uint64_t kUnfinishedBytes = 1 << 20;
// A request of this many times the largest size is refused with a message that says so, which takes its last byte.
constexpr uint64_t kLargestPart = 2;
// Intervals of which bytes are carried along as one sum.
constexpr uint64_t kCarriedMax = 100;

}  // namespace

std::shared_ptr<ConnectionUse> FloodGuard::UseOf(const std::string& peer) {
  Shard& shard = shards_[absl::HashOf(peer) % shards_.size()];
  const absl::MutexLock lock(&shard.mutex);
  std::shared_ptr<ConnectionUse>& use = shard.uses[peer];
  if (use == nullptr) use = std::make_shared<ConnectionUse>();
  return use;
}

uint64_t FloodGuard::Unfinished(const ConnectionUse& use, uint64_t received) {
  const uint64_t bytes = use.balance_ + (received - std::min(received, use.seen_read_));
  const uint64_t asked = use.served_bytes.load(std::memory_order_relaxed) - use.seen_served_;
  return bytes - std::min(bytes, asked);
}

void FloodGuard::BeginLook(int64_t now_ns) {
  suspects_.clear();
  looks_at_all_ = true;
  for (auto& [network, excused] : excused_) GiveBack(now_ns, &excused);
  absl::erase_if(excused_, [](const auto& each) { return each.second.bytes == 0; });
}

void FloodGuard::GiveBack(int64_t now_ns, Excused* excused) const {
  const int64_t intervals = std::max<int64_t>((now_ns - excused->since_ns) / limits_.interval_ns, 0);
  excused->since_ns += intervals * limits_.interval_ns;
  excused->bytes -= std::min(excused->bytes, static_cast<uint64_t>(intervals) * limits_.network_bytes);
}

uint64_t FloodGuard::Excuse(const PeerNetwork& network, uint64_t bytes, int64_t now_ns) {
  if (bytes == 0) return 0;
  if (!excused_.contains(network) && excused_.size() >= limits_.excused_networks) return 0;
  Excused& excused = excused_.try_emplace(network, Excused{.since_ns = now_ns}).first->second;
  bytes = std::min(bytes, limits_.excused_bytes - excused.bytes);
  excused.bytes += bytes;
  return bytes;
}

void FloodGuard::Look(const std::string& peer, const TransferCounts& counts, int64_t now_ns) {
  const std::optional<PeerNetwork> network = NetworkOf(std::string_view(peer));
  if (!network.has_value()) return;
  const std::shared_ptr<ConnectionUse> use = UseOf(peer);
  const uint64_t served = use->served_bytes.load(std::memory_order_relaxed);
  const uint64_t resets = use->reset_calls.load(std::memory_order_relaxed);
  const uint64_t unread_calls = use->unread_calls.load(std::memory_order_relaxed);
  int64_t open = std::max<int64_t>(use->open_calls.load(std::memory_order_relaxed), 0);
  const bool is_first = use->seen_ns_ == 0;
  const int64_t passed_ns = is_first ? 0 : now_ns - use->seen_ns_;
  const uint64_t intervals = static_cast<uint64_t>(std::max<int64_t>(passed_ns / limits_.interval_ns, 1));

  // Another connection from the same port: at most two looks ago the former one was forgotten unnoticed.
  if (counts.received < use->seen_read_ || counts.acknowledged < use->seen_acknowledged_) {
    use->seen_read_ = use->seen_acknowledged_ = 0;
  }
  // Both counts grow between the questions for them, so the difference may be too low.
  const uint64_t read_to = std::max(counts.received - std::min(counts.received, counts.unread), use->seen_read_);
  const uint64_t read = std::exchange(use->seen_read_, read_to);
  const uint64_t asked = (served - use->seen_served_) + (counts.acknowledged - use->seen_acknowledged_) / kUpdatesPart +
                         kFreeBytes * intervals + (is_first ? kFirstBytes : 0);
  const uint64_t reset_bytes = (resets - use->seen_resets_) * kResetBytes;
  use->seen_acknowledged_ = counts.acknowledged;
  use->seen_served_ = served;
  use->seen_resets_ = resets;
  uint64_t unread = unread_calls - use->seen_unread_calls_;
  // The open calls of a connection that has ended will end unread, and are excused as such.
  if (counts.has_ended) {
    if (!use->has_ended_) unread += static_cast<uint64_t>(open);
    open = 0;
  }
  use->has_ended_ = counts.has_ended;
  use->excusable_ += unread * kLargestPart * limits_.request_bytes_max;
  use->excusable_ = std::min(use->excusable_, limits_.excused_bytes);
  use->seen_unread_calls_ = unread_calls;
  use->seen_ns_ = now_ns;
  use->is_seen_ = true;

  use->balance_ += read_to - read;
  use->balance_ -= std::min(use->balance_, asked);
  const uint64_t unfinished =
      open == 0 ? 0 : kLargestPart * limits_.request_bytes_max + static_cast<uint64_t>(open) * kUnfinishedBytes;
  const uint64_t excess = use->balance_ - std::min(use->balance_, unfinished);
  // Calls that have begun since the last look explain what was read before it; what a busy client sends meanwhile is
  // other bytes.
  const uint64_t unexplained = use->fresh_ - std::min(use->fresh_, asked);
  const uint64_t proven = std::min(excess, unexplained);
  const uint64_t excused = Excuse(*network, std::min(proven, use->excusable_), now_ns);
  use->excusable_ -= excused;
  // A rate, not a sum: what a connection was permitted in an interval does not add up.
  const uint64_t rate = std::min(proven - excused, use->fresh_ / std::max<uint64_t>(use->fresh_intervals_, 1));
  const uint64_t carried = use->fresh_ == 0 ? 0 : use->fresh_intervals_ * (use->fresh_ - proven) / use->fresh_;
  use->fresh_intervals_ = std::min(intervals + carried, kCarriedMax);
  use->fresh_ = excess - proven;
  use->balance_ -= proven;
  AddSuspect(peer, *network, rate + reset_bytes / intervals);
}

void FloodGuard::AddSuspect(const std::string& peer, const PeerNetwork& network, uint64_t bytes) {
  if (bytes > 0) suspects_.push_back({peer, network, bytes, bytes > limits_.connection_bytes});
}

void FloodGuard::LookAtResets() {
  looks_at_all_ = false;
  for (Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    for (const auto& [peer, use] : shard.uses) {
      const uint64_t resets = use->reset_calls.load(std::memory_order_relaxed);
      const uint64_t bytes = (resets - std::exchange(use->seen_resets_, resets)) * kResetBytes;
      const std::optional<PeerNetwork> network = bytes == 0 ? std::nullopt : NetworkOf(std::string_view(peer));
      if (network.has_value()) AddSuspect(peer, *network, bytes);
    }
  }
}

std::vector<std::string> FloodGuard::EndLook() {
  struct Sum {
    uint64_t bytes = 0;
    uint64_t connections = 0;
  };
  absl::flat_hash_map<PeerNetwork, Sum> networks;
  for (const Suspect& suspect : suspects_) {
    Sum& sum = networks[suspect.network];
    sum.bytes += suspect.bytes;
    ++sum.connections;
  }
  std::vector<std::string> flooders;
  for (Suspect& suspect : suspects_) {
    const Sum& sum = networks[suspect.network];
    // Clients that do no more than others do may share a network with a flood.
    const bool is_part = sum.bytes > limits_.network_bytes && suspect.bytes * sum.connections >= sum.bytes;
    if (suspect.is_over || is_part) flooders.push_back(std::move(suspect.peer));
  }
  suspects_.clear();
  if (!looks_at_all_) return flooders;
  for (Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    absl::erase_if(shard.uses, [](const auto& each) { return !std::exchange(each.second->is_seen_, false); });
  }
  return flooders;
}

}  // namespace armature::daemon
