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

}  // namespace armature::store::index_backlog_test
