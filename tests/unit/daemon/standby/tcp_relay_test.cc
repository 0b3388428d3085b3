#include "daemon/standby/tcp_relay.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "gtest/gtest.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::tcp_relay_test {

using test::Post;
using test::RawHttpClient;

class TcpRelayTest : public testing::Test {
 protected:
  explicit TcpRelayTest(ConnectionLimits limits = {}) : ledger_(limits) {
    relay_ = TcpRelay::Start("127.0.0.1:0", &ledger_).value();
  }
  // Waits until all connections are closed.
  void AwaitNone() {
    while (ledger_.counts().open > 0) std::this_thread::yield();
  }

  ConnectionLedger ledger_;
  InlineHandler handler_;
  std::unique_ptr<HttpServer> target_ = Serve(&handler_);
  std::unique_ptr<TcpRelay> relay_;
};

TEST_F(TcpRelayTest, ClosesConnectionsWithoutATarget) {
  EXPECT_EQ(RawHttpClient(relay_->address()).ReadToEnd(), "");
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  ASSERT_TRUE(relay_->SetTarget("").ok());
  AwaitNone();
  EXPECT_EQ(RawHttpClient(relay_->address()).ReadToEnd(), "");
  EXPECT_EQ(ledger_.counts().open, 0u);
}

TEST_F(TcpRelayTest, PassesRequestsAndLargeAnswersOn) {
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  RawHttpClient client(relay_->address());
  const std::string large(3'000'000, 'x');
  for (const std::string& body : {std::string("small"), large, std::string("again")}) {
    std::thread sender([&] { client.Send(Post(body)); });
    EXPECT_EQ(client.Read().body, body);
    sender.join();
  }
}

TEST_F(TcpRelayTest, EndsConnectionsWhoseTargetIsGone) {
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  {
    RawHttpClient open(relay_->address());
    open.Send(Post("before"));
    EXPECT_EQ(open.Read().body, "before");
    target_->Stop(absl::ZeroDuration());
    EXPECT_EQ(open.ReadToEnd(), "");
    EXPECT_EQ(RawHttpClient(relay_->address()).ReadToEnd(), "");
  }
  AwaitNone();
}

TEST_F(TcpRelayTest, DoesNotRelayToItself) {
  ASSERT_TRUE(relay_->SetTarget(relay_->address()).ok());
  EXPECT_EQ(RawHttpClient(relay_->address()).ReadToEnd(), "");
  AwaitNone();
  // Not by a chain that a limit has ended.
  const ConnectionCounts counts = ledger_.counts();
  EXPECT_EQ(counts.refused_total_limit + counts.refused_address_limit + counts.refused_descriptors, 0u);
}

TEST_F(TcpRelayTest, ListensOnAllAddressesOfAName) {
  const auto relay = TcpRelay::Start("localhost:0", &ledger_).value();
  const std::string port = SplitAddress(relay->address()).value().port;
  std::vector<std::string> addresses = {"127.0.0.1:" + port};
  if (test::HasV6Address("localhost")) addresses.push_back("[::1]:" + port);
  ASSERT_TRUE(relay->SetTarget(target_->address()).ok());
  for (const std::string& address : addresses) {
    RawHttpClient client(address);
    client.Send(Post("x"));
    EXPECT_EQ(client.Read().body, "x");
  }
  // It is itself at all of them.
  for (const std::string& address : addresses) {
    ASSERT_TRUE(relay->SetTarget(address).ok());
    EXPECT_EQ(RawHttpClient(addresses.front()).ReadToEnd(), "");
  }
  AwaitNone();
  const ConnectionCounts counts = ledger_.counts();
  EXPECT_EQ(counts.refused_total_limit + counts.refused_address_limit + counts.refused_descriptors, 0u);
}

TEST_F(TcpRelayTest, ConnectionsEndWithTheirTargetAndNewOnesGoToTheNewTarget) {
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  RawHttpClient former(relay_->address());
  former.Send(Post("former"));
  EXPECT_EQ(former.Read().body, "former");
  InlineHandler other([](const HttpRequest&) { return HttpResponse{.headers = {}, .body = "other"}; });
  const auto second = Serve(&other);
  ASSERT_TRUE(relay_->SetTarget(second->address()).ok());
  RawHttpClient client(relay_->address());
  client.Send(Post("x"));
  EXPECT_EQ(client.Read().body, "other");
  EXPECT_EQ(former.ReadToEnd(), "");
}

TEST_F(TcpRelayTest, TheEndOfOneDirectionReachesTheOtherSide) {
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  RawHttpClient client(relay_->address());
  client.Send(Post("last"));
  client.EndSending();
  EXPECT_EQ(client.Read().body, "last");
  EXPECT_EQ(client.ReadToEnd(), "");
  AwaitNone();  // the client has not closed its socket
}

TEST_F(TcpRelayTest, AClientThatDoesNotReadHoldsUpItsTargetAndNobodyElse) {
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  RawHttpClient stalled(relay_->address(), 4096);
  // More than all buffers on the way back can take.
  const std::string request = Post(std::string(1'000'000, 'x'));
  std::string many;
  for (int i = 0; i < 64; ++i) many += request;
  EXPECT_LT(stalled.SendWhatFits(many), many.size());
  RawHttpClient other(relay_->address());
  other.Send(Post("y"));
  EXPECT_EQ(other.Read().body, "y");
}

TEST_F(TcpRelayTest, RefusesMalformedTargetsAndClosesThoseOfUnknownOnes) {
  EXPECT_EQ(relay_->SetTarget("nowhere").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RawHttpClient(relay_->address()).ReadToEnd(), "");
  EXPECT_TRUE(relay_->SetTarget("no-such-host.invalid:80").ok());
  EXPECT_EQ(RawHttpClient(relay_->address()).ReadToEnd(), "");
}

TEST_F(TcpRelayTest, ClosesEverythingAtItsEnd) {
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  RawHttpClient client(relay_->address());
  client.Send(Post("x"));
  EXPECT_EQ(client.Read().body, "x");
  const std::string address = relay_->address();
  relay_.reset();
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(ledger_.counts().open, 0u);
  EXPECT_TRUE(TcpRelay::Start(address, &ledger_).ok());
}

class LimitedRelayTest : public TcpRelayTest {
 protected:
  LimitedRelayTest() : TcpRelayTest({.connections_max = 1}) {}
};

TEST_F(LimitedRelayTest, ConnectionsBeyondTheLimitAreClosed) {
  ASSERT_TRUE(relay_->SetTarget(target_->address()).ok());
  RawHttpClient first(relay_->address());
  first.Send(Post("x"));
  EXPECT_EQ(first.Read().body, "x");
  EXPECT_EQ(RawHttpClient(relay_->address()).ReadToEnd(), "");
  EXPECT_EQ(ledger_.counts().refused_total_limit, 1u);
}

}  // namespace armature::daemon::tcp_relay_test
