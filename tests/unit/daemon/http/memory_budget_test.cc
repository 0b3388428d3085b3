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
  budget.Take(kOne, 57 * kMb);
  EXPECT_FALSE(budget.HasRoomFor(kOther, 1));
  EXPECT_FALSE(budget.IsFull()) << "small requests go on";
  budget.Take(kOne, 8 * kMb);
  EXPECT_TRUE(budget.IsFull());
  budget.Return(kOne, 65 * kMb);
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_EQ(budget.held_by(kOne), 0u);
}

TEST(MemoryBudget, AClientGetsNoMoreThanItsShare) {
  MemoryBudget budget(64 * kMb, 32 * kMb);
  budget.Take(kOne, 30 * kMb);
  EXPECT_TRUE(budget.HasRoomFor(kOne, 2 * kMb));
  EXPECT_FALSE(budget.HasRoomFor(kOne, 2 * kMb + 1));
  EXPECT_TRUE(budget.HasRoomFor(kOther, 20 * kMb));
  EXPECT_TRUE(budget.IsTight(kOne));
  EXPECT_FALSE(budget.IsTight(kOther));
}

TEST(HeldMemory, CountsLargeAmountsForItsClientAndReturnsThem) {
  MemoryBudget budget(64 * kMb, 32 * kMb);
  {
    HeldMemory share({&budget, kOne});
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

TEST(MemoryBudget, LendsNoMoreThanItsBounds) {
  MemoryBudget budget(64 * kMb, 32 * kMb);
  EXPECT_TRUE(budget.TryTake(kOne, 32 * kMb));
  EXPECT_FALSE(budget.TryTake(kOne, 1));
  EXPECT_TRUE(budget.TryTake(kOther, 24 * kMb));
  EXPECT_FALSE(budget.TryTake(kOther, 1));
  EXPECT_EQ(budget.refused(), 2u);
  budget.Return(kOne, 32 * kMb);
  budget.Return(kOther, 24 * kMb);
  EXPECT_EQ(budget.held(), 0u);
}

TEST(HeldMemory, TakesWhatThereIsAndKeepsItOnRefusal) {
  MemoryBudget budget(64 * kMb, 32 * kMb);
  HeldMemory memory({&budget, kOne});
  EXPECT_TRUE(memory.TrySet(HeldMemory::kFreeBytes));
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_TRUE(memory.TrySet(30 * kMb));
  EXPECT_FALSE(memory.TrySet(40 * kMb));
  EXPECT_EQ(budget.held_by(kOne), 30 * kMb);
  EXPECT_TRUE(memory.Cover(20 * kMb));
  EXPECT_EQ(memory.counted(), 30 * kMb);
  HeldMemory taken = std::move(memory);
  EXPECT_EQ(budget.held_by(kOne), 30 * kMb);
  // Memory that is used is counted in any case.
  taken.Set(40 * kMb);
  EXPECT_EQ(budget.held_by(kOne), 40 * kMb);
  taken = HeldMemory();
  EXPECT_EQ(budget.held_by(kOne), 0u);
}

}  // namespace armature::daemon::memory_budget_test
