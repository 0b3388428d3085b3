#include "storage/store/catalog/key_traffic.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/strings.h"

namespace armature::store::key_traffic_test {

constexpr int64_t kMinute = 60'000'000'000;
constexpr int64_t kStart = 1000 * kMinute;

double UnitsIn(const KeyTraffic& traffic, int minutes, int64_t now_ns, KeyUse use = KeyUse::kRead) {
  return KeyTraffic::UnitsOf(traffic.Read(use, /*whole=*/false, minutes, now_ns).keys.total());
}

TEST(KeyTraffic, UsesAndKindsOfKeysAreApart) {
  KeyTraffic traffic;
  traffic.Count(KeyUse::kRead, "p", "ps", 0.5, kStart);
  traffic.Count(KeyUse::kRead, "p", "pt", 1, kStart);
  traffic.Count(KeyUse::kRead, "q", "", 2, kStart);
  traffic.Count(KeyUse::kWrite, "w", "", 3, kStart);
  const KeyTraffic::Report partitions = traffic.Read(KeyUse::kRead, false, 10, kStart);
  ASSERT_EQ(partitions.keys.Largest(9).size(), 2U);
  EXPECT_EQ(partitions.keys.Largest(1)[0].key, "q");
  EXPECT_EQ(KeyTraffic::UnitsOf(partitions.keys.Largest(2)[1].sum), 1.5);
  const KeyTraffic::Report whole = traffic.Read(KeyUse::kRead, true, 10, kStart);
  EXPECT_EQ(whole.keys.Largest(9).size(), 2U);
  EXPECT_EQ(KeyTraffic::UnitsOf(whole.keys.total()), 1.5);
  EXPECT_EQ(UnitsIn(traffic, 10, kStart, KeyUse::kWrite), 3);
  EXPECT_EQ(UnitsIn(traffic, 10, kStart, KeyUse::kThrottled), 0);
}

TEST(KeyTraffic, EachCountLeavesTheWindowsAtItsTime) {
  KeyTraffic traffic;
  for (int minute = 0; minute < 180; ++minute) {
    const int64_t now_ns = kStart + minute * kMinute + kMinute / 2;
    traffic.Count(KeyUse::kRead, "p", "", 1, now_ns);
    const int counted = minute + 1;
    EXPECT_EQ(UnitsIn(traffic, 1, now_ns), 1);
    EXPECT_EQ(UnitsIn(traffic, 5, now_ns), std::min(counted, 5));
    EXPECT_EQ(UnitsIn(traffic, 10, now_ns), std::min(counted, 10));
    const double hour = UnitsIn(traffic, 60, now_ns);
    EXPECT_GE(hour, std::min(counted, 60)) << minute;
    EXPECT_LE(hour, std::min(counted, 69)) << minute;
    const int64_t seconds = traffic.Read(KeyUse::kRead, false, 60, now_ns).seconds;
    EXPECT_LE(seconds, 70 * 60);
    EXPECT_EQ(seconds / 60, static_cast<int64_t>(hour) - 1) << minute;
  }
}

TEST(KeyTraffic, NothingIsLeftAfterALongRest) {
  KeyTraffic traffic;
  traffic.Count(KeyUse::kRead, "p", "", 1, kStart);
  EXPECT_EQ(UnitsIn(traffic, 60, kStart + 59 * kMinute), 1);
  EXPECT_EQ(UnitsIn(traffic, 60, kStart + 80 * kMinute), 0);
  traffic.Count(KeyUse::kRead, "q", "", 1, kStart + 500 * kMinute);
  EXPECT_EQ(UnitsIn(traffic, 60, kStart + 500 * kMinute), 1);
}

TEST(KeyTraffic, AnEarlierTimeCountsAsTheLatest) {
  KeyTraffic traffic;
  traffic.Count(KeyUse::kRead, "p", "", 1, kStart + 5 * kMinute);
  traffic.Count(KeyUse::kRead, "p", "", 1, kStart);
  EXPECT_EQ(UnitsIn(traffic, 1, kStart + 5 * kMinute), 2);
  EXPECT_EQ(UnitsIn(traffic, 1, kStart), 2);
}

TEST(KeyTraffic, ConcurrentCountsAreCountedOrMissed) {
  KeyTraffic traffic;
  constexpr int kThreads = 4;
  constexpr int kCounts = 20'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&traffic, i] {
      for (int n = 0; n < kCounts; ++n) {
        traffic.Count(KeyUse::kWrite, Cat("p", i), Cat("p", i, n % 300), 1, kStart + n * (kMinute / 1000));
        if (n % 1000 == 0) static_cast<void>(traffic.Read(KeyUse::kWrite, true, 60, kStart));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const KeyTraffic::Report report = traffic.Read(KeyUse::kWrite, false, 60, kStart + 20 * kMinute);
  EXPECT_EQ(KeyTraffic::UnitsOf(report.keys.total() + report.missed), kThreads * kCounts);
  EXPECT_GT(report.keys.total(), 0) << "the first count finds the lock free";
}

}  // namespace armature::store::key_traffic_test
