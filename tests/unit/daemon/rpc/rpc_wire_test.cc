#include "daemon/rpc/rpc_wire.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/net/percent_encoding.h"

namespace armature::daemon::rpc_wire_test {

struct TimeoutCase {
  std::string_view text;
  std::optional<int64_t> ns;
};

TEST(RpcWire, TimeoutsHaveUnits) {
  constexpr TimeoutCase kCases[] = {
      {"1n", 1},
      {"2u", 2'000},
      {"3m", 3'000'000},
      {"4S", 4'000'000'000},
      {"5M", 300'000'000'000},
      {"6H", 21'600'000'000'000},
      {"0S", 0},
      {"00000001S", 1'000'000'000},
      {"99999999n", 99'999'999},
      {"99999999S", 99'999'999'000'000'000},
      {"99999999M", 5'999'999'940'000'000'000},
  };
  for (const TimeoutCase& each : kCases) EXPECT_EQ(ParseRpcTimeoutNs(each.text), each.ns) << each.text;
}

TEST(RpcWire, HugeTimeoutsAreCut) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ParseRpcTimeoutNs("2562047H"), 9'223'369'200'000'000'000);
  EXPECT_EQ(ParseRpcTimeoutNs("2562048H"), kMax);
  EXPECT_EQ(ParseRpcTimeoutNs("99999999H"), kMax);
}

TEST(RpcWire, MalformedTimeoutsAreRefused) {
  for (const std::string_view text : {"", "S", "1", "12", "100000000S", "000000001n", "+1S", "-1S", "1s", "1h", "1x",
                                      "1 S", " 1S", "1S ", "1.5S", "1SS", "0x1S", "٣S"}) {
    EXPECT_EQ(ParseRpcTimeoutNs(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseRpcTimeoutNs(std::string_view("1\0", 2)), std::nullopt);
}

TEST(RpcWire, StatusTextsAreEncoded) {
  EXPECT_EQ(PercentEncoded(""), "");
  EXPECT_EQ(PercentEncoded(" plain text, ~ \"quoted\""), " plain text, ~ \"quoted\"");
  EXPECT_EQ(PercentEncoded("100% of\n\t\x7f"), "100%25 of%0A%09%7F");
  EXPECT_EQ(PercentEncoded("Größe €"), "Gr%C3%B6%C3%9Fe %E2%82%AC");
  EXPECT_EQ(PercentEncoded(std::string_view("\0\x1f\xff", 3)), "%00%1F%FF");
  EXPECT_EQ(PercentEncoded("%41"), "%2541");
}

TEST(RpcWire, BinaryMetadataHasNoPadding) {
  EXPECT_EQ(BinaryMetadata(""), "");
  EXPECT_EQ(BinaryMetadata("f"), "Zg");
  EXPECT_EQ(BinaryMetadata("fo"), "Zm8");
  EXPECT_EQ(BinaryMetadata("foo"), "Zm9v");
  EXPECT_EQ(BinaryMetadata("foob"), "Zm9vYg");
  EXPECT_EQ(BinaryMetadata(std::string_view("\xfb\xff\0", 3)), "+/8A");
}

TEST(RpcWire, ContentTypesOfRpcAreKnown) {
  for (const std::string_view type :
       {"application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8", "Application/GRPC+json"}) {
    EXPECT_TRUE(IsRpcContentType(type)) << type;
  }
  for (const std::string_view type : {"", "application/grp", "application/grpc-web", "application/grpc-web+proto",
                                      "application/grpcx", "application/json", " application/grpc"}) {
    EXPECT_FALSE(IsRpcContentType(type)) << type;
  }
}

}  // namespace armature::daemon::rpc_wire_test
