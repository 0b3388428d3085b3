#include "daemon/standby/standby.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::standby_test {

using test::Post;
using test::RawHttpClient;
using test::RawResponse;
using testing::HasSubstr;

// As zlib computes it, bit by bit.
uint32_t Crc32(std::string_view bytes) {
  uint32_t sum = 0xFFFFFFFF;
  for (const char byte : bytes) {
    sum ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (0xEDB88320 & (0 - (sum & 1)));
  }
  return ~sum;
}

class StandbyTest : public testing::Test {
 protected:
  std::unique_ptr<Standby> Start(bool forwards) {
    StandbyOptions options;
    options.grpc_listen = options.http_listen = options.metrics_listen = "127.0.0.1:0";
    options.forwards = forwards;
    options.ledger = &ledger_;
    options.problem_reasons = {"lease", "rights"};
    return Standby::Start(options).value();
  }
  static RawResponse Get(const std::string& address, const std::string& path) {
    RawHttpClient client(address);
    client.Send(Cat("GET ", path, " HTTP/1.1\r\nHost: x\r\n\r\n"));
    return client.Read();
  }

  ConnectionLedger ledger_{ConnectionLimits{}};
};

TEST_F(StandbyTest, RefusesRequestsAndNamesTheOwner) {
  const auto standby = Start(/*forwards=*/false);
  EXPECT_EQ(standby->grpc_address(), "");
  RawHttpClient client(standby->http_address());
  client.Send(Post("{}"));
  RawResponse answer = client.Read();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.count("x-armature-owner"), 0u);
  EXPECT_THAT(answer.body, HasSubstr("#ServiceUnavailable\""));
  EXPECT_EQ(answer.headers["x-amz-crc32"], Cat(Crc32(answer.body)));
  standby->SetOwner("grpc=db1:7700 http=db1:7701");
  client.Send(Post("{}"));
  answer = client.Read();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers["x-armature-owner"], "db1:7701");
  standby->SetOwner("grpc=db2:7700");
  client.Send(Post("{}"));
  EXPECT_EQ(client.Read().headers.count("x-armature-owner"), 0u);
}

// gRPC's clients with several addresses would stay where a connection is answered.
TEST_F(StandbyTest, ClosesConnectionsWithHttp2Unanswered) {
  const auto standby = Start(/*forwards=*/false);
  RawHttpClient client(standby->http_address());
  client.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(StandbyTest, OperatorsSeeThatItLivesAndIsNotReady) {
  const auto standby = Start(/*forwards=*/false);
  EXPECT_EQ(Get(standby->metrics_address(), "/healthz").status, 200);
  EXPECT_EQ(Get(standby->metrics_address(), "/readyz").status, 503);
  EXPECT_THAT(Get(standby->metrics_address(), "/metrics").body, HasSubstr("\narmature_standby 1\n"));
  EXPECT_EQ(Get(standby->metrics_address(), "/else").status, 404);
}

TEST_F(StandbyTest, LoadBalancersMayAskTheAddressOfClients) {
  const auto standby = Start(/*forwards=*/false);
  standby->SetOwner("http=db1:7701");
  for (const std::string& address : {standby->http_address(), standby->metrics_address()}) {
    EXPECT_EQ(Get(address, "/healthz").status, 200);
    RawResponse ready = Get(address, "/readyz?from=balancer");
    EXPECT_EQ(ready.status, 503);
    EXPECT_EQ(ready.body, "standby\n");
  }
  // Other pages, and operations, are refused as before.
  EXPECT_EQ(Get(standby->http_address(), "/metrics").status, 503);
  RawHttpClient client(standby->http_address());
  client.Send("POST /readyz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_THAT(client.Read().body, HasSubstr("#ServiceUnavailable\""));
}

TEST_F(StandbyTest, TellsWhyItCouldNotTakeOver) {
  const auto standby = Start(/*forwards=*/false);
  EXPECT_THAT(Get(standby->metrics_address(), "/metrics").body,
              HasSubstr("armature_standby_unfit{reason=\"lease\"} 0\narmature_standby_unfit{reason=\"rights\"} 0\n"));
  standby->SetProblems({{"lease", "the lease is 2s here"}, {"clock", "the clock is ahead"}});
  for (const std::string& address : {standby->http_address(), standby->metrics_address()}) {
    const RawResponse ready = Get(address, "/readyz");
    EXPECT_EQ(ready.status, 503);
    EXPECT_EQ(ready.body, "standby, cannot take over: the lease is 2s here; the clock is ahead\n");
  }
  EXPECT_THAT(Get(standby->metrics_address(), "/metrics").body,
              HasSubstr("armature_standby_unfit{reason=\"lease\"} 1\narmature_standby_unfit{reason=\"rights\"} 0\n"));
  standby->SetProblems({});
  EXPECT_EQ(Get(standby->metrics_address(), "/readyz").body, "standby\n");
}

TEST_F(StandbyTest, ForwardsBothFrontsToTheOwner) {
  const auto standby = Start(/*forwards=*/true);
  InlineHandler grpc([](const HttpRequest&) { return HttpResponse{.headers = {}, .body = "grpc"}; });
  InlineHandler http([](const HttpRequest&) { return HttpResponse{.headers = {}, .body = "http"}; });
  const auto grpc_owner = Serve(&grpc);
  const auto http_owner = Serve(&http);
  standby->SetOwner(Cat("grpc=", grpc_owner->address(), " http=", http_owner->address()));
  for (const auto& [address, body] : {std::pair(standby->grpc_address(), "grpc"), {standby->http_address(), "http"}}) {
    RawHttpClient client(address);
    client.Send(Post("x"));
    EXPECT_EQ(client.Read().body, body);
  }
  // The owner is gone.
  standby->SetOwner("");
  EXPECT_EQ(RawHttpClient(standby->http_address()).ReadToEnd(), "");
}

TEST_F(StandbyTest, ItsAddressesAreFreeAfterIt) {
  auto standby = Start(/*forwards=*/false);
  StandbyOptions options;
  options.http_listen = standby->http_address();
  options.ledger = &ledger_;
  EXPECT_FALSE(Standby::Start(options).ok());
  standby.reset();
  EXPECT_TRUE(Standby::Start(options).ok());
}

TEST_F(StandbyTest, SeesAnAddressThatIsNotFree) {
  auto standby = Start(/*forwards=*/false);
  const std::string address = standby->http_address();
  EXPECT_THAT(std::string(CheckFree(address).message()), HasSubstr(Cat("cannot listen on ", address)));
  standby.reset();
  EXPECT_TRUE(CheckFree(address).ok());
  // Nothing listened: it is free still.
  StandbyOptions options;
  options.http_listen = address;
  options.ledger = &ledger_;
  EXPECT_TRUE(Standby::Start(options).ok());
  EXPECT_FALSE(CheckFree("no address").ok());
}

}  // namespace armature::daemon::standby_test
