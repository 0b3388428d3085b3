#include "tests/unit/engine/serial_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armature::engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(SerialChecker, OneAfterTheOther) {
  EXPECT_THAT(FindContradiction({}), IsEmpty());
  EXPECT_THAT(FindContradiction({{1, 2, {{0, 0, 10}}}, {3, 4, {{0, 10, 0}}}, {5, 6, {{0, 10, 11}}}}), IsEmpty());
}

TEST(SerialChecker, OverlappingOperationsMayHaveEitherOrder) {
  EXPECT_THAT(FindContradiction({{1, 10, {{0, 0, 7}}}, {2, 3, {{0, 0, 0}}}, {4, 5, {{0, 7, 0}}}}), IsEmpty());
}

TEST(SerialChecker, ALostUpdate) {
  EXPECT_THAT(FindContradiction({{1, 4, {{0, 0, 7}}}, {2, 3, {{0, 0, 8}}}}), HasSubstr("one of them is lost"));
}

TEST(SerialChecker, AReadOfWhatNobodyWrote) {
  EXPECT_THAT(FindContradiction({{1, 2, {{0, 5, 0}}}}), HasSubstr("never written"));
}

TEST(SerialChecker, AStaleRead) {
  EXPECT_THAT(FindContradiction({{1, 2, {{0, 0, 7}}}, {3, 4, {{0, 0, 0}}}}), HasSubstr("in circles"));
}

TEST(SerialChecker, ReadsThatGoBack) {
  EXPECT_THAT(FindContradiction({{1, 10, {{0, 0, 7}}}, {2, 3, {{0, 7, 0}}}, {4, 5, {{0, 0, 0}}}}),
              HasSubstr("in circles"));
}

TEST(SerialChecker, ATransactionThatIsHalfSeen) {
  EXPECT_THAT(FindContradiction({{1, 10, {{0, 0, 7}, {1, 0, 8}}}, {2, 9, {{0, 7, 0}, {1, 0, 0}}}}),
              HasSubstr("in circles"));
  EXPECT_THAT(FindContradiction({{1, 10, {{0, 0, 7}, {1, 0, 8}}}, {2, 9, {{0, 7, 0}, {1, 8, 0}}}}), IsEmpty());
}

TEST(SerialChecker, TransactionsThatMissEachOther) {
  // Each reads the old state of the item that the other writes: write skew.
  EXPECT_THAT(FindContradiction({{1, 10, {{0, 0, 7}, {1, 0, 0}}}, {2, 9, {{1, 0, 8}, {0, 0, 0}}}}),
              HasSubstr("in circles"));
}

// The daemon died at time 9 without answering the second operation.

TEST(SerialChecker, AnUnansweredWriteMayHaveBeenDoneOrNot) {
  const Operation unanswered{3, 9, {{0, 7, 8}}};
  EXPECT_THAT(FindContradiction({{1, 2, {{0, 0, 7}}}, {10, 11, {{0, 7, 0}}}}, {unanswered}), IsEmpty());
  EXPECT_THAT(FindContradiction({{1, 2, {{0, 0, 7}}}, {10, 11, {{0, 8, 0}}}}, {unanswered}), IsEmpty());
}

TEST(SerialChecker, AnUnansweredWriteThatComesAfterTheDeathOfItsDaemon) {
  EXPECT_THAT(
      FindContradiction({{1, 2, {{0, 0, 7}}}, {10, 11, {{0, 7, 0}}}, {12, 13, {{0, 8, 0}}}}, {{3, 9, {{0, 7, 8}}}}),
      HasSubstr("in circles"));
}

TEST(SerialChecker, AnUnansweredWriteThatWasSeenAndIsGone) {
  EXPECT_THAT(
      FindContradiction({{1, 2, {{0, 0, 7}}}, {4, 5, {{0, 8, 0}}}, {10, 11, {{0, 7, 0}}}}, {{3, 9, {{0, 7, 8}}}}),
      HasSubstr("in circles"));
}

TEST(SerialChecker, AnUnansweredWriteThatOnlyAnotherOneSaw) {
  // Item 1 shows that the second operation was executed. It replaced the state that the first one wrote into item 0.
  const Operation first{1, 9, {{0, 0, 7}}};
  const Operation second{2, 8, {{0, 7, 0}, {1, 0, 6}}};
  EXPECT_THAT(FindContradiction({{10, 11, {{1, 6, 0}}}, {12, 13, {{0, 7, 0}}}}, {first, second}), IsEmpty());
  EXPECT_THAT(FindContradiction({{10, 11, {{1, 6, 0}}}, {12, 13, {{0, 0, 0}}}}, {first, second}),
              HasSubstr("in circles"));
}

TEST(SerialChecker, AnAnsweredWriteThatIsLost) {
  // The write is gone after the restart, whether the next operation reads or writes.
  EXPECT_THAT(FindContradiction({{1, 2, {{0, 0, 7}}}, {10, 11, {{0, 0, 0}}}}, {{3, 9, {{1, 0, 8}}}}),
              HasSubstr("in circles"));
  EXPECT_THAT(FindContradiction({{1, 2, {{0, 0, 7}}}, {10, 11, {{0, 0, 9}}}, {12, 13, {{0, 9, 0}}}}),
              HasSubstr("one of them is lost"));
}

TEST(SerialChecker, HalfAnUnansweredTransaction) {
  const Operation unanswered{3, 9, {{0, 0, 7}, {1, 0, 8}}};
  // The other half is missing at the end, or was overwritten by another operation.
  EXPECT_THAT(FindContradiction({{10, 11, {{0, 7, 0}}}, {12, 13, {{1, 0, 0}}}}, {unanswered}), HasSubstr("in circles"));
  EXPECT_THAT(FindContradiction({{10, 11, {{0, 7, 0}}}, {12, 13, {{1, 0, 5}}}, {14, 15, {{1, 5, 0}}}}, {unanswered}),
              HasSubstr("one of them is lost"));
  EXPECT_THAT(FindContradiction({{10, 11, {{0, 7, 0}}}, {12, 13, {{1, 8, 0}}}}, {unanswered}), IsEmpty());
  EXPECT_THAT(FindContradiction({{10, 11, {{0, 0, 0}}}, {12, 13, {{1, 0, 0}}}}, {unanswered}), IsEmpty());
}

}  // namespace
}  // namespace armature::engine
