#include "daemon/net/connection_ledger.h"

#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "glog/logging.h"

namespace armature::daemon {
namespace {

// Descriptors that connections leave free: for the database's files, whose number grows with its size.
constexpr rlim_t kReservedDescriptors = 1024;
constexpr size_t kDescriptorsPerConnection = 2;
// Repeated warnings are logged once per this many.
constexpr int kLogEvery = 1000;

rlim_t ReservedOf(rlim_t descriptors) { return std::min(kReservedDescriptors, descriptors / 2); }

// The system gives out the lowest free descriptor: all below a new one are in use.
bool IsInReserve(int descriptor) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  return static_cast<rlim_t>(descriptor) >= limit.rlim_cur - ReservedOf(limit.rlim_cur);
}

}  // namespace

ConnectionLimits WithinDescriptors(ConnectionLimits limits, uint64_t descriptors) {
  const size_t fitting = std::max<size_t>((descriptors - ReservedOf(descriptors)) / kDescriptorsPerConnection, 1);
  if (limits.connections_max > fitting) {
    // The default is what most machines can do, and nobody's wish.
    const bool is_asked_for = limits.connections_max != ConnectionLimits().connections_max;
    LOG_AT_LEVEL(is_asked_for ? google::GLOG_WARNING : google::GLOG_INFO)
        << "server: --connections_max=" << limits.connections_max << " is lowered to " << fitting
        << ", because the limit of open files is " << descriptors;
    limits.connections_max = fitting;
  }
  if (limits.per_address_max == 0) limits.per_address_max = (limits.connections_max + 1) / 2;
  return limits;
}

std::optional<PeerNetwork> NetworkOf(const sockaddr_storage& peer) {
  PeerNetwork network = {};
  if (peer.ss_family == AF_INET) {
    // No IPv6 network begins with a zero byte and ends with an IPv4 address: ::/8 is reserved.
    const auto& address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    std::memcpy(network.data() + 4, &address, sizeof(address));
    return network;
  }
  if (peer.ss_family != AF_INET6) return std::nullopt;
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    std::memcpy(network.data() + 4, &address.s6_addr[12], 4);
  } else {
    std::memcpy(network.data(), &address.s6_addr[0], network.size());
  }
  return network;
}

void ConnectionLedger::ChangeLimits(ConnectionLimits limits) {
  const absl::MutexLock lock(&mutex_);
  limits_ = limits;
}

bool ConnectionLedger::TryAdd(int descriptor, const std::optional<PeerNetwork>& network) {
  const bool is_in_reserve = IsInReserve(descriptor);
  const absl::MutexLock lock(&mutex_);
  if (is_in_reserve) {
    ++counts_.refused_descriptors;
    LOG_EVERY_N(WARNING, kLogEvery) << "server: connections refused, because descriptors run out; raise the limit of "
                                       "open files connections="
                                    << counts_.open;
    return false;
  }
  if (counts_.open >= limits_.connections_max) {
    ++counts_.refused_total_limit;
    LOG_EVERY_N(WARNING, kLogEvery) << "server: too many connections, refused count=" << counts_.refused_total_limit;
    return false;
  }
  if (network.has_value()) {
    size_t& count = by_network_[*network];
    if (count >= limits_.per_address_max) {
      ++counts_.refused_address_limit;
      LOG_EVERY_N(WARNING, kLogEvery) << "server: too many connections from one address, refused count="
                                      << counts_.refused_address_limit;
      return false;
    }
    ++count;
  }
  ++counts_.open;
  return true;
}

void ConnectionLedger::Remove(const std::optional<PeerNetwork>& network) {
  const absl::MutexLock lock(&mutex_);
  --counts_.open;
  if (!network.has_value()) return;
  const auto found = by_network_.find(*network);
  if (--found->second == 0) by_network_.erase(found);
}

ConnectionCounts ConnectionLedger::counts() const {
  const absl::MutexLock lock(&mutex_);
  return counts_;
}

}  // namespace armature::daemon
