#include "storage/codec/key_codec.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::codec::partition_hash_test {

TEST(PartitionHash, MatchesTheGoldenVectors) {
  // XXH3-64 of the empty string is 2d06800538d394c2.
  EXPECT_EQ(PartitionHash(""), 0x2d068005u);
  for (const auto& vector : ReadGolden("key.golden", 3)) {
    const uint32_t hash = PartitionHash(FromHex(vector[1]));
    std::string bytes;
    AppendPartitionHash(hash, &bytes);
    EXPECT_EQ(ToHex(bytes), vector[2]) << vector[0];
    EXPECT_EQ(HashOfKey(bytes + "rest"), hash);
  }
}

TEST(PartitionHash, StandsBigEndianInFrontOfTheKey) {
  std::string key = "x";
  AppendPartitionHash(0x01020380, &key);
  EXPECT_EQ(ToHex(key), "7801020380");
}

TEST(PartitionHash, SegmentsCutTheRangeWithoutGapOrOverlap) {
  for (const uint32_t total : {1u, 2u, 3u, 7u, 10u, 4096u, 999'999u, 1'000'000u}) {
    uint64_t next = 0;
    for (uint32_t segment = 0; segment < total; ++segment) {
      const HashRange range = SegmentHashRange(segment, total);
      ASSERT_EQ(range.begin, next);
      ASSERT_LT(range.begin, range.end);
      next = range.end;
    }
    EXPECT_EQ(next, uint64_t{1} << 32);
  }
  EXPECT_EQ(SegmentHashRange(1, 3).begin, 0x55555555u);
  EXPECT_EQ(SegmentHashRange(0xFFFFFFFE, 0xFFFFFFFF).end, uint64_t{1} << 32);
}

}  // namespace armature::codec::partition_hash_test
