#include "storage/store/log/index_backlog.h"

#include <gtest/gtest.h>

namespace armature::store::index_backlog_test {

TEST(IndexBacklogTest, WhatComesAndGoesAddsUp) {
  IndexBacklog backlog;
  EXPECT_EQ(backlog.state().load.records, 0u);
  EXPECT_EQ(backlog.state().oldest_ms, 0);
  backlog.Append(ChangeSequence(3), 10'000, {2, 100});
  backlog.Append(ChangeSequence(7), 90'000, {1, 50});
  EXPECT_EQ(backlog.load().records, 3u);
  EXPECT_EQ(backlog.load().bytes, 150u);
  EXPECT_EQ(backlog.state().oldest_ms, 10'000);
  backlog.Applied(ChangeSequence(5), {2, 100});
  EXPECT_EQ(backlog.load().records, 1u);
  EXPECT_EQ(backlog.load().bytes, 50u);
  EXPECT_EQ(backlog.state().oldest_ms, 90'000);
  backlog.Applied(ChangeSequence(9), {1, 50});
  EXPECT_EQ(backlog.load().records, 0u);
  EXPECT_EQ(backlog.load().bytes, 0u);
  EXPECT_EQ(backlog.state().oldest_ms, 0);
}

TEST(IndexBacklogTest, IsNeverLessThanNothing) {
  IndexBacklog backlog;
  backlog.Append(ChangeSequence(1), 1, {1, 10});
  backlog.Applied(ChangeSequence(2), {5, 500});
  EXPECT_EQ(backlog.load().records, 0u);
  EXPECT_EQ(backlog.load().bytes, 0u);
}

TEST(IndexBacklogTest, ATimeIsNotForgottenBeforeTheLastThatItStandsFor) {
  IndexBacklog backlog;
  for (uint64_t i = 1; i <= 100; ++i) backlog.Append(ChangeSequence(i), 1000 + static_cast<int64_t>(i), {1, 1});
  backlog.Applied(ChangeSequence(99), {99, 99});
  EXPECT_EQ(backlog.state().oldest_ms, 1001) << "at most the spacing of samples before its time";
}

TEST(IndexBacklogTest, TheOldestOfADayIsKnownToSomeMinutes) {
  constexpr int64_t kSecondsOfADay = 86'400;
  IndexBacklog backlog;
  for (int64_t i = 1; i <= kSecondsOfADay; ++i) {
    backlog.Append(ChangeSequence(static_cast<uint64_t>(i)), i * 1000, {1, 1});
  }
  for (int64_t through = 1000; through < kSecondsOfADay; through += 1000) {
    backlog.Applied(ChangeSequence(static_cast<uint64_t>(through)), {1000, 1000});
    EXPECT_LE(backlog.state().oldest_ms, (through + 1) * 1000);
    EXPECT_GE(backlog.state().oldest_ms, (through + 1 - 1500) * 1000);
  }
}

TEST(IndexBacklogTest, BeginsWhereNothingLaterWasCounted) {
  IndexBacklog backlog;
  backlog.Append(ChangeSequence(5), 1, {5, 50});
  EXPECT_FALSE(backlog.BeginAt(ChangeSequence(4)));
  EXPECT_EQ(backlog.load().records, 5u);
  EXPECT_TRUE(backlog.BeginAt(ChangeSequence(5)));
  EXPECT_EQ(backlog.load().records, 0u);
  EXPECT_EQ(backlog.state().oldest_ms, 0);
}

TEST(IndexBacklogTest, RecordsOfEarlierRunsAreCountedBesideNewOnes) {
  IndexBacklog backlog;
  backlog.BeginCount(ChangeSequence(10));
  EXPECT_FALSE(backlog.is_counted());
  EXPECT_TRUE(backlog.may_wait());
  EXPECT_EQ(backlog.last(), ChangeSequence(10));
  backlog.Append(ChangeSequence(11), 50'000, {1, 100});
  backlog.Count(ChangeSequence(4), 20'000, {1, 10});
  backlog.Count(ChangeSequence(6), 30'000, {1, 10});
  EXPECT_EQ(backlog.load().records, 3u);
  EXPECT_EQ(backlog.state().oldest_ms, 20'000);
  // A run that is behind the count.
  backlog.Applied(ChangeSequence(5), {1, 10});
  EXPECT_EQ(backlog.load().records, 2u);
  EXPECT_EQ(backlog.load().bytes, 110u);
  EXPECT_EQ(backlog.state().oldest_ms, 30'000);
  // A run that overtakes the count: 6 was counted, 7 and 8 were not.
  backlog.Applied(ChangeSequence(8), {3, 30});
  EXPECT_EQ(backlog.load().records, 1u) << "the new record still waits";
  EXPECT_EQ(backlog.load().bytes, 100u);
  EXPECT_EQ(backlog.state().oldest_ms, 50'000);
  backlog.Count(ChangeSequence(7), 30'000, {1, 10});
  backlog.Count(ChangeSequence(8), 30'000, {1, 10});
  EXPECT_EQ(backlog.load().records, 1u) << "they were applied before they were counted";
  backlog.Count(ChangeSequence(9), 40'000, {1, 10});
  EXPECT_EQ(backlog.load().records, 2u);
  backlog.EndCount();
  EXPECT_TRUE(backlog.is_counted());
  backlog.Applied(ChangeSequence(10), {1, 10});
  EXPECT_EQ(backlog.load().records, 1u);
  backlog.Applied(ChangeSequence(11), {1, 100});
  EXPECT_EQ(backlog.load().records, 0u);
  EXPECT_EQ(backlog.load().bytes, 0u);
  EXPECT_FALSE(backlog.may_wait());
}

TEST(IndexBacklogTest, ACountEndsWhenAllItsRecordsWereApplied) {
  IndexBacklog backlog;
  backlog.BeginCount(ChangeSequence(10));
  backlog.Count(ChangeSequence(4), 20'000, {1, 10});
  backlog.Applied(ChangeSequence(10), {5, 50});
  EXPECT_TRUE(backlog.is_counted());
  EXPECT_FALSE(backlog.may_wait());
}

}  // namespace armature::store::index_backlog_test
