#include "daemon/net/connection_ledger.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

namespace armature::daemon::connection_ledger_test {

constexpr int kSocket = 3;

sockaddr_storage Ipv4(const char* text) {
  sockaddr_storage peer = {};
  auto& address = reinterpret_cast<sockaddr_in&>(peer);
  address.sin_family = AF_INET;
  EXPECT_EQ(inet_pton(AF_INET, text, &address.sin_addr), 1);
  return peer;
}

sockaddr_storage Ipv6(const char* text) {
  sockaddr_storage peer = {};
  auto& address = reinterpret_cast<sockaddr_in6&>(peer);
  address.sin6_family = AF_INET6;
  EXPECT_EQ(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
  return peer;
}

TEST(ConnectionLedger, AnIpv6NetworkCountsAsOneAddress) {
  EXPECT_EQ(NetworkOf(Ipv6("2001:db8:1:2::1")), NetworkOf(Ipv6("2001:db8:1:2:ffff::9")));
  EXPECT_NE(NetworkOf(Ipv6("2001:db8:1:2::1")), NetworkOf(Ipv6("2001:db8:1:3::1")));
  EXPECT_NE(NetworkOf(Ipv4("10.0.0.1")), NetworkOf(Ipv4("10.0.0.2")));
  EXPECT_EQ(NetworkOf(Ipv4("10.0.0.1")), NetworkOf(Ipv6("::ffff:10.0.0.1")));
  sockaddr_storage file = {};
  file.ss_family = AF_UNIX;
  EXPECT_FALSE(NetworkOf(file).has_value());
}

TEST(ConnectionLedger, LimitsConnectionsInAllAndByAddress) {
  ConnectionLedger ledger({.connections_max = 3, .per_address_max = 2});
  const auto one = NetworkOf(Ipv4("10.0.0.1"));
  const auto two = NetworkOf(Ipv4("10.0.0.2"));
  EXPECT_TRUE(ledger.TryAdd(kSocket, one));
  EXPECT_TRUE(ledger.TryAdd(kSocket, one));
  EXPECT_FALSE(ledger.TryAdd(kSocket, one));
  EXPECT_TRUE(ledger.TryAdd(kSocket, two));
  EXPECT_FALSE(ledger.TryAdd(kSocket, two));
  ledger.Remove(one);
  EXPECT_TRUE(ledger.TryAdd(kSocket, two));
  EXPECT_EQ(ledger.counts().open, 3u);
  EXPECT_EQ(ledger.counts().refused_address_limit, 1u);
  EXPECT_EQ(ledger.counts().refused_total_limit, 1u);
}

TEST(ConnectionLedger, ClientsOfSocketFilesHaveNoAddressLimit) {
  ConnectionLedger ledger({.connections_max = 3, .per_address_max = 1});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ledger.TryAdd(kSocket, std::nullopt));
  EXPECT_FALSE(ledger.TryAdd(kSocket, std::nullopt));
}

TEST(ConnectionLedger, LimitsFitTheDescriptors) {
  EXPECT_EQ(WithinDescriptors({.connections_max = 20'000, .per_address_max = 0}, 1 << 20).connections_max, 20'000u);
  EXPECT_EQ(WithinDescriptors({.connections_max = 20'000, .per_address_max = 0}, 1 << 20).per_address_max, 10'000u);
  EXPECT_EQ(WithinDescriptors({.connections_max = 20'000, .per_address_max = 0}, 1024).connections_max, 256u);
  EXPECT_EQ(WithinDescriptors({.connections_max = 20'000, .per_address_max = 0}, 1024).per_address_max, 128u);
  EXPECT_EQ(WithinDescriptors({.connections_max = 20'000, .per_address_max = 7}, 1024).per_address_max, 7u);
}

TEST(ConnectionLedger, HighDescriptorsAreReserved) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit scarce = {.rlim_cur = 512, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &scarce), 0);
  ConnectionLedger ledger({});
  EXPECT_TRUE(ledger.TryAdd(255, std::nullopt));
  EXPECT_FALSE(ledger.TryAdd(256, std::nullopt));
  EXPECT_EQ(ledger.counts().refused_descriptors, 1u);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

}  // namespace armature::daemon::connection_ledger_test
