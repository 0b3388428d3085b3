#include "daemon/auth/failures.h"

#include <gtest/gtest.h>

#include "glog/logging.h"

namespace armature::daemon::failures_test {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

TEST(FailureLimiter, AllowsABurstAndThenSoManyPerSecond) {
  FailureLimiter limiter({.failures = {.burst = 3, .per_second = 1}});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limiter.Failed("10.0.0.1:1", kStart));
  EXPECT_TRUE(limiter.Failed("10.0.0.1:2", kStart)) << "the port does not matter";
  EXPECT_FALSE(limiter.Failed("10.0.0.2:1", kStart)) << "nobody else is slowed";
  EXPECT_TRUE(limiter.Failed("10.0.0.1:1", kStart + absl::Milliseconds(900)));
  EXPECT_FALSE(limiter.Failed("10.0.0.1:1", kStart + absl::Seconds(1)));
  EXPECT_TRUE(limiter.Failed("10.0.0.1:1", kStart + absl::Seconds(1)));
}

TEST(FailureLimiter, AClockThatIsSetBackForgivesNothing) {
  FailureLimiter limiter({.failures = {.burst = 1, .per_second = 1}});
  EXPECT_FALSE(limiter.Failed("a:1", kStart));
  EXPECT_TRUE(limiter.Failed("a:1", kStart - absl::Hours(1)));
  EXPECT_FALSE(limiter.Failed("a:1", kStart - absl::Hours(1) + absl::Seconds(1)));
}

TEST(FailureLimiter, BeyondSoManyAddressesNewOnesShare) {
  FailureLimiter limiter({.failures = {.burst = 2, .per_second = 1}, .addresses_max = 2});
  EXPECT_FALSE(limiter.Failed("a:1", kStart));
  EXPECT_FALSE(limiter.Failed("b:1", kStart));
  EXPECT_FALSE(limiter.Failed("c:1", kStart));
  EXPECT_FALSE(limiter.Failed("d:1", kStart));
  EXPECT_TRUE(limiter.Failed("e:1", kStart)) << "c and d have used up what they share";
  EXPECT_FALSE(limiter.Failed("a:1", kStart));
  // Idle addresses are removed to make room.
  EXPECT_FALSE(limiter.Failed("f:1", kStart + absl::Hours(1)));
  EXPECT_FALSE(limiter.Failed("f:1", kStart + absl::Hours(1)));
  EXPECT_TRUE(limiter.Failed("f:1", kStart + absl::Hours(1)));
  EXPECT_FALSE(limiter.Failed("g:1", kStart + absl::Hours(1)));
}

TEST(FailureLimiter, PeersAreReducedToAddresses) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"127.0.0.1:80", "127.0.0.1"},
      {"[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2::/64"},
      {"[2001:db8:1:2:9::]:80", "2001:db8:1:2::/64"},
      {"[fe80::1%eth0]:80", "fe80::/64"},
      {"[::1]:80", "::/64"},
      {"[::ffff:192.0.2.1]:80", "192.0.2.1"},
      {"[nonsense", "nonsense"},
      {"[", ""},
      {"unix", "unix"},
      {"", ""},
  };
  for (const auto& [peer, address] : kCases) EXPECT_EQ(AddressOf(peer), address) << peer;
}

// Collects log lines while it exists.
class LogLines : public google::LogSink {
 public:
  LogLines() { google::AddLogSink(this); }
  ~LogLines() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity, const char*, const char*, int, const google::LogMessageTime&, const char* message,
            size_t size) override {
    lines.emplace_back(message, size);
  }
  std::vector<std::string> lines;
};

TEST(FailureLog, CountsAllAndLogsNotMoreThanABurst) {
  FailureLog log;
  LogLines out;
  for (int i = 0; i < 1000; ++i) log.Failed(AuthFailure::kWrongSecret, "10.0.0.1:1", "AK", kStart);
  EXPECT_EQ(log.count(AuthFailure::kWrongSecret), 1000u);
  EXPECT_EQ(log.count(AuthFailure::kUnknownKey), 0u);
  ASSERT_EQ(out.lines.size(), 20u);
  EXPECT_EQ(out.lines[0], "auth: refused peer=10.0.0.1:1 key=AK reason=wrong_secret left_out=0");
  log.Denied("AK", "GetItem", "orders", kStart + absl::Seconds(1));
  ASSERT_EQ(out.lines.size(), 21u);
  EXPECT_EQ(out.lines[20], "auth: denied principal=AK operation=GetItem table=orders left_out=980");
}

TEST(FailureLog, StrangersCannotWriteLines) {
  EXPECT_EQ(ForLog("a\nI20250101 forged"), "a?I20250101?forged");
  EXPECT_EQ(ForLog("\x1b[31m\xff\x7f"), "?[31m??");
  EXPECT_EQ(ForLog(std::string(1000, 'x')), std::string(128, 'x'));
}

}  // namespace armature::daemon::failures_test
