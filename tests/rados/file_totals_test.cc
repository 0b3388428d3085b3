#include "storage/rados/file_totals.h"

#include <gtest/gtest.h>

#include <memory>

namespace armature::rados {
namespace {

TEST(FileTotals, FollowTheirParts) {
  FileTotals totals;
  PartOfTotal first(&totals.bytes, 10);
  auto second = std::make_unique<PartOfTotal>(&totals.bytes, 5);
  EXPECT_EQ(totals.bytes, 15u);
  first = 3;
  *second += 4;
  EXPECT_EQ(first, 3u);
  EXPECT_EQ(*second, 9u);
  EXPECT_EQ(totals.bytes, 12u);
  second.reset();
  EXPECT_EQ(totals.bytes, 3u);
  EXPECT_EQ(totals.objects, 0u);
}

}  // namespace
}  // namespace armature::rados
