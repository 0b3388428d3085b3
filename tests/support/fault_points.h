#ifndef ARMATURE_TESTS_SUPPORT_FAULT_POINTS_H_
#define ARMATURE_TESTS_SUPPORT_FAULT_POINTS_H_

// Tests that set a fault point of storage/base/fault_points.h.

#include "gtest/gtest.h"

namespace armature::test {

// Skips the test in a build without fault points. Called by SetUp.
inline void SkipWithoutFaultPoints() {
#ifndef ARMATURE_FAULT_POINTS
  GTEST_SKIP() << "built without fault points: configure with -D ARMATURE_FAULT_POINTS=ON to run this test";
#endif
}

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_FAULT_POINTS_H_
