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
  // Each reads what the other writes, as it was before: write skew.
  EXPECT_THAT(FindContradiction({{1, 10, {{0, 0, 7}, {1, 0, 0}}}, {2, 9, {{1, 0, 8}, {0, 0, 0}}}}),
              HasSubstr("in circles"));
}

}  // namespace
}  // namespace armature::engine
