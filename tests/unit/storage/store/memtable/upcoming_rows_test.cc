#include "storage/store/memtable/upcoming_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace armature::store::upcoming_rows_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kOne = 0;
constexpr char kTwo = 0;

std::vector<std::string> Before(std::string_view key) {
  std::vector<std::string> keys;
  for (const UpcomingRows::Row& row : UpcomingRows::Before(key)) keys.emplace_back(row.key);
  return keys;
}

TEST(UpcomingRowsTest, TellsTheRowsOfOneFamilyOnce) {
  const UpcomingRows rows({{"a", &kOne}, {"b", &kOne}, {"a", &kTwo}, {"b", &kTwo}, {"c", &kTwo}});
  EXPECT_THAT(Before("a"), ElementsAre("a", "b"));
  EXPECT_THAT(Before("b"), IsEmpty());
  EXPECT_THAT(Before("a"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Before("b"), IsEmpty());
  EXPECT_THAT(Before("c"), IsEmpty());
  EXPECT_THAT(Before("c"), IsEmpty()) << "all were inserted";
}

TEST(UpcomingRowsTest, SkipsRowsThatItDoesNotKnow) {
  const UpcomingRows rows({{"a", &kOne}, {"b", &kOne}});
  EXPECT_THAT(Before("record"), IsEmpty());
  EXPECT_THAT(Before("a"), ElementsAre("a", "b"));
  EXPECT_THAT(Before("total"), IsEmpty());
  EXPECT_THAT(Before("b"), IsEmpty());
}

TEST(UpcomingRowsTest, TellsABoundedNumber) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < 2 * UpcomingRows::kAheadMax + 1; ++i) keys.push_back(std::to_string(1000 + i));
  std::vector<UpcomingRows::Row> all;
  for (const std::string& key : keys) all.push_back({key, &kOne});
  const UpcomingRows rows(all);
  std::vector<std::string> told;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::vector<std::string> ahead = Before(keys[i]);
    EXPECT_EQ(ahead.size(), i == 2 * UpcomingRows::kAheadMax   ? 1
                            : i % UpcomingRows::kAheadMax == 0 ? UpcomingRows::kAheadMax
                                                               : 0);
    told.insert(told.end(), ahead.begin(), ahead.end());
  }
  EXPECT_EQ(told, keys);
}

TEST(UpcomingRowsTest, BelongsToItsThreadAndItsScope) {
  EXPECT_THAT(Before("a"), IsEmpty());
  {
    const UpcomingRows rows(std::vector<UpcomingRows::Row>{{"a", &kOne}});
    std::thread([] { EXPECT_THAT(Before("a"), IsEmpty()); }).join();
    EXPECT_THAT(Before("a"), ElementsAre("a"));
  }
  EXPECT_THAT(Before("a"), IsEmpty());
}

}  // namespace armature::store::upcoming_rows_test
