#include "daemon/net/memory_budget.h"

#include "gtest/gtest.h"

namespace armature::daemon::memory_budget_test {

constexpr size_t kMb = 1 << 20;
constexpr BudgetClient kOne = {1};
constexpr BudgetClient kOther = {2};

TEST(MemoryBudget, KeepsTheLastEighthForSmallMessages) {
  MemoryBudget budget(64 * kMb, 64 * kMb);
  EXPECT_TRUE(budget.HasRoomFor(kOne, 56 * kMb));
  EXPECT_FALSE(budget.HasRoomFor(kOne, 56 * kMb + 1));
  budget.Add(kOne, 57 * kMb);
  EXPECT_FALSE(budget.HasRoomFor(kOther, 1));
  EXPECT_EQ(budget.excess(), kMb);
  EXPECT_FALSE(budget.IsFull()) << "small requests go on";
  budget.Add(kOne, 8 * kMb);
  EXPECT_TRUE(budget.IsFull());
  budget.Remove(kOne, 65 * kMb);
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_EQ(budget.held_by(kOne), 0u);
}

TEST(MemoryBudget, AClientGetsNoMoreThanItsShare) {
  MemoryBudget budget(64 * kMb, 32 * kMb);
  budget.Add(kOne, 30 * kMb);
  EXPECT_TRUE(budget.HasRoomFor(kOne, 2 * kMb));
  EXPECT_FALSE(budget.HasRoomFor(kOne, 2 * kMb + 1));
  EXPECT_TRUE(budget.HasRoomFor(kOther, 20 * kMb));
  EXPECT_TRUE(budget.IsTight(kOne));
  EXPECT_FALSE(budget.IsTight(kOther));
}

TEST(MemoryBudget, EstimatesCountForTheirClientsUntilTheNextEstimate) {
  MemoryBudget budget(64 * kMb, 32 * kMb);
  budget.SetEstimate(41 * kMb, {{kOne, 32 * kMb}, {kOther, 8 * kMb}});
  EXPECT_EQ(budget.held(), 41 * kMb);
  EXPECT_EQ(budget.held_by(kOne), 32 * kMb);
  EXPECT_FALSE(budget.HasRoomFor(kOne, 1));
  EXPECT_TRUE(budget.HasRoomFor(kOther, 15 * kMb));
  budget.SetEstimate(0, {});
  EXPECT_TRUE(budget.HasRoomFor(kOne, 32 * kMb));
}

TEST(MemoryShare, CountsLargeAmountsForItsClientAndReturnsThem) {
  MemoryBudget budget(64 * kMb, 32 * kMb);
  {
    MemoryShare share(&budget, kOne);
    share.Set(8 << 10);
    EXPECT_FALSE(share.is_counted());
    share.Set(5 * kMb);
    share.Set(3 * kMb);
    EXPECT_EQ(budget.held(), 3 * kMb);
    EXPECT_EQ(budget.held_by(kOne), 3 * kMb);
    EXPECT_EQ(budget.held_by(kOther), 0u);
  }
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_EQ(budget.held_by(kOne), 0u);
}

}  // namespace armature::daemon::memory_budget_test
