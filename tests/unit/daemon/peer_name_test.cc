#include "daemon/grpc/peer_name.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <string_view>

#include "daemon/net/connection_ledger.h"
#include "gtest/gtest.h"

namespace armature::daemon::peer_name_test {

sockaddr_storage V6(const char* host, uint32_t zone = 0) {
  sockaddr_storage peer = {};
  auto& address = reinterpret_cast<sockaddr_in6&>(peer);
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(80);
  address.sin6_scope_id = zone;
  EXPECT_EQ(inet_pton(AF_INET6, host, &address.sin6_addr), 1);
  return peer;
}

TEST(PeerNameTest, IsTheNameThatGrpcHasForAPeer) {
  sockaddr_storage v4 = {};
  auto& address = reinterpret_cast<sockaddr_in&>(v4);
  address.sin_family = AF_INET;
  address.sin_port = htons(443);
  EXPECT_EQ(inet_pton(AF_INET, "192.0.2.1", &address.sin_addr), 1);
  EXPECT_EQ(PeerNameOf(v4), "ipv4:192.0.2.1:443");
  EXPECT_EQ(PeerNameOf(V6("::1")), "ipv6:%5B::1%5D:80");
  EXPECT_EQ(PeerNameOf(V6("::ffff:192.0.2.1")), "ipv4:192.0.2.1:80");
  EXPECT_EQ(PeerNameOf(V6("fe80::1", 4)), "ipv6:%5Bfe80::1%254%5D:80");
  sockaddr_storage local = {};
  local.ss_family = AF_UNIX;
  EXPECT_EQ(PeerNameOf(local), "unix:");
}

TEST(PeerNameTest, ANameHasTheNetworkOfItsAddress) {
  for (const sockaddr_storage& peer : {V6("::1"), V6("fe80::1", 4), V6("2001:db8::1"), V6("::ffff:192.0.2.1")}) {
    EXPECT_EQ(NetworkOf(std::string_view(PeerNameOf(peer))), NetworkOf(peer)) << PeerNameOf(peer);
  }
}

}  // namespace armature::daemon::peer_name_test
