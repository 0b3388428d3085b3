// Free space of a pool, from answers of monitors.

#include "storage/rados/pool_space.h"

#include <gtest/gtest.h>

#include <string_view>

namespace armature::rados {
namespace {

TEST(PoolSpace, IsThatOfThePoolAndNotOfTheCluster) {
  constexpr std::string_view kAnswer = R"({
    "stats": {"total_bytes": 3000, "total_avail_bytes": 2500, "total_used_bytes": 500},
    "pools": [
      {"name": "other", "id": 1, "stats": {"stored": 1, "objects": 1, "bytes_used": 3, "max_avail": 7}},
      {"name": "armature", "id": 2, "stats": {"stored": 120, "objects": 4, "bytes_used": 360, "max_avail": 800}}]})";
  store::DiskUsage usage;
  ASSERT_TRUE(ParsePoolSpace(kAnswer, "armature", &usage));
  EXPECT_EQ(usage.free_bytes, 800u);
  EXPECT_EQ(usage.total_bytes, 920u);
  EXPECT_FALSE(ParsePoolSpace(kAnswer, "missing", &usage));
}

TEST(PoolSpace, IsUnknownWithoutAManager) {
  // Monitors answer so until a manager has reported, and as if all were well.
  constexpr std::string_view kAnswer = R"({
    "stats": {"total_bytes": 0, "total_avail_bytes": 0, "total_used_bytes": 0},
    "pools": [{"name": "armature", "id": 2, "stats": {"stored": 0, "objects": 0, "bytes_used": 0, "max_avail": 0}}]})";
  store::DiskUsage usage;
  EXPECT_FALSE(ParsePoolSpace(kAnswer, "armature", &usage));
}

TEST(PoolSpace, DamagedAnswersTellNothing) {
  store::DiskUsage usage;
  for (const std::string_view answer : {"", "{", "[]", R"({"stats": {"total_bytes": 5}})",
                                        R"({"stats": {"total_bytes": 5}, "pools": [{"name": "armature"}]})"}) {
    EXPECT_FALSE(ParsePoolSpace(answer, "armature", &usage)) << answer;
  }
}

}  // namespace
}  // namespace armature::rados
