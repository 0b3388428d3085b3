#include "storage/store/keyspace.h"

#include <gtest/gtest.h>

#include <limits>

namespace armature::store::keyspace_test {

TEST(KeyspaceStats, RecordRoundTrips) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const StatsDelta totals :
       {StatsDelta{0, 0}, StatsDelta{1, 3}, StatsDelta{200, 70'000}, StatsDelta{kMax, kMax}}) {
    const absl::StatusOr<StatsDelta> parsed = ParseStats(EncodeStats(totals));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->items, totals.items);
    EXPECT_EQ(parsed->bytes, totals.bytes);
  }
}

TEST(KeyspaceStats, RecordHasTheBytesOfTheFormat) {
  EXPECT_EQ(EncodeStats({1, 300}), std::string("\x01\x01\xac\x02", 4));
}

TEST(KeyspaceStats, EveryPrefixAndATailAreRefused) {
  const std::string valid = EncodeStats({300, 70'000});
  for (size_t size = 0; size < valid.size(); ++size) {
    EXPECT_EQ(ParseStats(valid.substr(0, size)).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  EXPECT_EQ(ParseStats(valid + "x").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseStats("\x02\x01\x01").status().code(), absl::StatusCode::kDataLoss);
}

TEST(KeyspaceStats, AddsBothWays) {
  KeyspaceStats stats("t1", {5, 50});
  stats.Add({2, 20});
  stats.Add({-3, -30});
  EXPECT_EQ(stats.items(), 4);
  EXPECT_EQ(stats.bytes(), 40);
  EXPECT_EQ(stats.family_name(), "t1");
}

}  // namespace armature::store::keyspace_test
