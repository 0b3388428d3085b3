#include "daemon/auth/failures.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "glog/logging.h"

namespace armature::daemon {
namespace {

constexpr absl::Duration kSweepInterval = absl::Seconds(1);

}  // namespace

std::string ForLog(std::string_view text) {
  constexpr size_t kBytesMax = 128;
  std::string out(text.substr(0, kBytesMax));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
  return out;
}

bool FailureLog::MayLog(absl::Time now, uint64_t* left_out) {
  absl::MutexLock lock(&mutex_);
  if (!lines_.Take(kLines, absl::ToUnixNanos(now))) {
    ++left_out_;
    return false;
  }
  *left_out = left_out_;
  left_out_ = 0;
  return true;
}

void FailureLog::Failed(AuthFailure failure, std::string_view peer, std::string_view key_id, absl::Time now) {
  counts_[static_cast<size_t>(failure)].fetch_add(1, std::memory_order_relaxed);
  uint64_t left_out = 0;
  if (!MayLog(now, &left_out)) return;
  LOG(WARNING) << "auth: refused peer=" << ForLog(peer) << " key=" << ForLog(key_id)
               << " reason=" << AuthFailureName(failure) << " left_out=" << left_out;
}

void FailureLog::Denied(std::string_view principal, std::string_view operation, std::string_view table,
                        absl::Time now) {
  counts_[static_cast<size_t>(AuthFailure::kAccessDenied)].fetch_add(1, std::memory_order_relaxed);
  uint64_t left_out = 0;
  if (!MayLog(now, &left_out)) return;
  LOG(WARNING) << "auth: denied principal=" << ForLog(principal) << " operation=" << ForLog(operation)
               << " table=" << ForLog(table) << " left_out=" << left_out;
}

std::string AddressOf(std::string_view peer) {
  if (!peer.starts_with('[')) return std::string(peer.substr(0, peer.rfind(':')));
  // Ends at the bracket or at the zone.
  const std::string text(peer.substr(1, peer.find_first_of("]%") - 1));
  in6_addr address{};
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return text;
  char printed[INET6_ADDRSTRLEN] = {};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    return inet_ntop(AF_INET, &address.s6_addr[12], printed, sizeof printed);
  }
  constexpr size_t kNetworkBytes = 8;
  for (size_t i = kNetworkBytes; i < sizeof address.s6_addr; ++i) address.s6_addr[i] = 0;
  inet_ntop(AF_INET6, &address, printed, sizeof printed);
  return Cat(printed, "/64");
}

TokenBucket& FailureLimiter::BucketOf(std::string_view peer, absl::Time now) {
  std::string address = AddressOf(peer);
  const auto found = buckets_.find(std::string_view(address));
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= options_.addresses_max && now - swept_ >= kSweepInterval) {
    swept_ = now;
    absl::erase_if(buckets_,
                   [&](auto& entry) { return entry.second.IsFull(options_.failures, absl::ToUnixNanos(now)); });
  }
  if (buckets_.size() >= options_.addresses_max) return shared_;
  return buckets_.emplace(std::move(address), TokenBucket(options_.failures)).first->second;
}

bool FailureLimiter::Failed(std::string_view peer, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  return !BucketOf(peer, now).Take(options_.failures, absl::ToUnixNanos(now));
}

void FailureLimiter::TakeBack(std::string_view peer, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  BucketOf(peer, now).Return(options_.failures);
}

}  // namespace armature::daemon
