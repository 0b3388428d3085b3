#include "storage/store/commit/queued_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace armature::store::queued_rows_test {

constexpr TableId kTable{7};
constexpr CommitEpoch kEpoch{3};

std::shared_ptr<QueuedRow> RowOf(std::string key, std::optional<std::string> value) {
  return std::make_shared<QueuedRow>(kTable, std::move(key), std::move(value));
}

TEST(QueuedRows, ARowIsFoundUntilItsCommitIsAnswered) {
  QueuedRows rows;
  EXPECT_EQ(rows.Find(kTable, "k"), nullptr);
  const auto row = RowOf("k", "value");
  rows.Add(row, kEpoch);
  const auto found = rows.Find(kTable, "k");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->value(), "value");
  EXPECT_EQ(found->epoch(), kEpoch);
  EXPECT_EQ(rows.Find(kTable, "other"), nullptr);
  EXPECT_EQ(rows.Find(TableId(8), "k"), nullptr);
  EXPECT_EQ(rows.size(), 1U);
  rows.Settle(row.get());
  EXPECT_EQ(rows.Find(kTable, "k"), nullptr);
  EXPECT_EQ(rows.size(), 0U);
}

TEST(QueuedRows, TheLastValueOfARowCounts) {
  QueuedRows rows;
  const auto first = RowOf("k", "first");
  const auto deleted = RowOf("k", std::nullopt);
  rows.Add(first, kEpoch);
  rows.Add(deleted, kEpoch);
  EXPECT_EQ(rows.size(), 1U);
  rows.Settle(first.get());
  const auto found = rows.Find(kTable, "k");
  ASSERT_NE(found, nullptr) << "the later value stays";
  EXPECT_FALSE(found->value().has_value());
  rows.Settle(deleted.get());
  EXPECT_EQ(rows.size(), 0U);
}

// The answer may run on its thread before the committing thread adds the row.
TEST(QueuedRows, ARowThatWasAnsweredIsNotAdded) {
  QueuedRows rows;
  const auto row = RowOf("k", "value");
  rows.Settle(row.get());
  rows.Add(row, kEpoch);
  EXPECT_EQ(rows.Find(kTable, "k"), nullptr);
  EXPECT_EQ(rows.size(), 0U);
}

// A value whose place was taken is in memory until its commit is answered.
TEST(QueuedRows, IsFullWhileTheValuesOfQueuedWritesExceedTheLimit) {
  QueuedRows rows(1000);
  const auto first = RowOf("k", std::string(600, 'x'));
  const auto second = RowOf("k", std::string(600, 'y'));
  rows.Add(first, kEpoch);
  EXPECT_FALSE(rows.is_full());
  rows.Add(second, kEpoch);
  EXPECT_TRUE(rows.is_full());
  rows.Settle(first.get());
  EXPECT_FALSE(rows.is_full());
  const auto refused = RowOf("k", std::string(5000, 'z'));
  rows.Settle(refused.get());
  rows.Add(refused, kEpoch);
  EXPECT_FALSE(rows.is_full()) << "it was never here";
  rows.Settle(second.get());
  EXPECT_FALSE(rows.is_full());
}

TEST(QueuedRows, AFoundRowOutlivesItsEntry) {
  QueuedRows rows;
  auto row = RowOf("k", "value");
  rows.Add(row, kEpoch);
  const auto found = rows.Find(kTable, "k");
  rows.Settle(row.get());
  row.reset();
  EXPECT_EQ(found->value(), "value");
}

}  // namespace armature::store::queued_rows_test
