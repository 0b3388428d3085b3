#include "tools/armature/doctor/daemon_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace armature::cli::daemon_settings_test {

using testing::ElementsAre;

constexpr uint64_t kGib = uint64_t{1} << 30;

TEST(DaemonSettings, AnEmptyFileHasTheDefaultsOfTheDaemon) {
  const auto settings = ParseDaemonSettings("# nothing\n\n");
  ASSERT_TRUE(settings.ok());
  EXPECT_THAT(settings->listen, ElementsAre("127.0.0.1:7700", "127.0.0.1:7701"));
  EXPECT_EQ(settings->column_families_max, 16000);
  EXPECT_EQ(settings->cache_bytes, 0);
  EXPECT_EQ(settings->disk_reserve, "auto");
}

TEST(DaemonSettings, NamesAndValuesAreTakenWithoutBlanks) {
  const auto settings = ParseDaemonSettings(
      "data_dir = /var/lib/a b\n tls_cert=/c.pem\ncache_mb = 4G\nrequest_memory_mb=64\nsomething_else = x = y\n");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->data_dir, "/var/lib/a b");
  EXPECT_EQ(settings->tls_cert, "/c.pem");
  EXPECT_EQ(settings->cache_bytes, 4 * kGib);
  EXPECT_EQ(settings->request_memory_bytes, kGib / 16);
}

TEST(DaemonSettings, OnlyFixedPortsOfThisMachineAreListeners) {
  const auto listen = [](const char* text) { return ParseDaemonSettings(text)->listen; };
  EXPECT_THAT(listen("grpc_listen = unix:/run/a\nhttp_listen = off\nmetrics_listen = 127.0.0.1:7702"),
              ElementsAre("127.0.0.1:7702"));
  EXPECT_THAT(listen("listen = [::1]:7700"), ElementsAre("[::1]:7700"));
  EXPECT_THAT(listen("grpc_listen = 127.0.0.1:0\nhttp_listen = off"), ElementsAre());
}

TEST(DaemonSettings, FaultsNameTheirLine) {
  EXPECT_EQ(ParseDaemonSettings("data_dir = /x\ncache_mb\n").status().message(), "line 2: expected 'name = value'");
  EXPECT_EQ(ParseDaemonSettings("a = 1\na = 2").status().message(), "line 2: 'a' is there twice");
  EXPECT_EQ(ParseDaemonSettings("cache_mb = lots").status().message(), "'lots' is no value of cache_mb");
}

TEST(DaemonSettings, TheReserveIsThatOfTheDaemon) {
  EXPECT_EQ(DiskReserveBytes("auto", 100 * kGib), kGib);
  EXPECT_EQ(DiskReserveBytes("auto", 10 * kGib), kGib / 2);
  EXPECT_EQ(DiskReserveBytes("10%", 100 * kGib), 10 * kGib);
  EXPECT_EQ(DiskReserveBytes("2G", 100 * kGib), 2 * kGib);
  EXPECT_EQ(DiskReserveBytes("500", 100 * kGib), 500);
  EXPECT_EQ(DiskReserveBytes("0", 100 * kGib), 0);
}

}  // namespace armature::cli::daemon_settings_test
