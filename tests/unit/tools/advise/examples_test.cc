// The advisor reaches the conclusions of the worked examples in the documentation of secondary indexes.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/advise/advise_testing.h"

namespace armature::advise::examples_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AdviseExamples, OrdersNeedOneIndexByDateAndOneByStatusAndDate) {
  const Advice advice = AdviseOnExample("orders.json");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL CustomerId | OrderDate INCLUDE Status",
                                             "GLOBAL CustomerId | Status, OrderDate KEYS_ONLY"));
  EXPECT_THAT(advice.indexes[0].patterns,
              ElementsAre("orders of a customer by date", "orders of a customer between dates",
                          "id, date and status of a customer's orders"));
  EXPECT_THAT(advice.indexes[1].patterns,
              ElementsAre("pending orders of a customer", "old pending orders of a customer"));
  EXPECT_EQ(FindPattern(advice, "old pending orders of a customer").condition,
            "CustomerId = ? AND Status = ? AND OrderDate BETWEEN ? AND ?");
  // New orders 50 + 100 changes of the projected status; new orders 50 + 100 moves of two writes each.
  EXPECT_DOUBLE_EQ(advice.indexes[0].write_units, 150);
  EXPECT_DOUBLE_EQ(advice.indexes[1].write_units, 250);
  EXPECT_THAT(advice.warnings, IsEmpty());
}

TEST(AdviseExamples, OneIndexAnswersBusinessesByCountryStateAndCity) {
  const Advice advice = AdviseOnExample("business.json");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL BusinessType | Country, State, City ALL"));
  EXPECT_EQ(advice.indexes[0].patterns.size(), 3u);
  EXPECT_EQ(FindPattern(advice, "businesses of a type in a country").condition, "BusinessType = ? AND Country = ?");
  EXPECT_EQ(FindPattern(advice, "businesses of a type in a city").condition,
            "BusinessType = ? AND Country = ? AND State = ? AND City = ?");
}

TEST(AdviseExamples, StatusOfAllOrdersIsSpreadOverShardsAndAskedInParallel) {
  const Advice advice = AdviseOnExample("order-status.json");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL Status, StatusShard INCLUDE CustomerId x10"));
  const PatternAdvice& pattern = FindPattern(advice, "orders in a status");
  EXPECT_EQ(pattern.queries, 10);
  EXPECT_EQ(pattern.condition, "Status = ? AND StatusShard = n, for n from 1 to 10");
  EXPECT_THAT(FindReason(advice.indexes[0].reasons, "sharding"), HasSubstr("a random number from 1 to 10"));
}

TEST(AdviseExamples, DashboardHasThreeSortAttributesWithTheAmountLast) {
  const Advice advice = AdviseOnExample("dashboard.json");
  EXPECT_EQ(advice.table.key.ToString(), "order_id");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer_id | status, order_date, amount ALL"));
  EXPECT_EQ(advice.indexes[0].patterns.size(), 4u);
  EXPECT_EQ(FindPattern(advice, "by status and day above an amount").condition,
            "customer_id = ? AND status = ? AND order_date = ? AND amount BETWEEN ? AND ?");
  EXPECT_EQ(FindPattern(advice, "one order").service, Service::kItem);
}

TEST(AdviseExamples, DashboardOfALargeCustomerMovesTheStatusIntoThePartitionKey) {
  const Advice advice = AdviseOnExample("dashboard-hot.json");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer_id, status | order_date, amount ALL"));
  EXPECT_THAT(FindReason(advice.indexes[0].reasons, "key"), HasSubstr("customer_id alone would be the shortest"));
}

TEST(AdviseExamples, ForumThreadsByLastPostAreALocalIndex) {
  const Advice advice = AdviseOnExample("forum.json");
  EXPECT_EQ(advice.table.key.ToString(), "ForumName | Subject");
  EXPECT_THAT(Summaries(advice), ElementsAre("LOCAL ForumName | LastPostDateTime INCLUDE Replies"));
  EXPECT_TRUE(FindPattern(advice, "threads of a forum, last post first").strong);
  EXPECT_THAT(advice.warnings, ElementsAre(HasSubstr("only together with the table")));
}

TEST(AdviseExamples, GameScoresByTitleAndASparseIndexOfAwards) {
  const Advice advice = AdviseOnExample("game-scores.json");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL GameTitle | TopScore INCLUDE Wins Losses",
                                             "GLOBAL Award | TopScore KEYS_ONLY sparse"));
  EXPECT_DOUBLE_EQ(advice.indexes[1].entries.value(), 20'000);
  EXPECT_EQ(FindPattern(advice, "highest ratio of wins").service, Service::kScan);
}

TEST(AdviseExamples, OpenOrdersAreASparseIndexByTheDateTheyWereOpened) {
  const Advice advice = AdviseOnExample("open-orders.json");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL CustomerId | OrderOpenDate INCLUDE Total sparse"));
  EXPECT_EQ(FindPattern(advice, "orders of a customer").service, Service::kTable);
  // Each order enters the index once and leaves it once.
  EXPECT_DOUBLE_EQ(advice.indexes[0].write_units, 20);
}

}  // namespace armature::advise::examples_test
