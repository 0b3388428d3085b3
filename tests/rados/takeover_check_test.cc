#include "storage/rados/takeover_check.h"

#include <gtest/gtest.h>

#include "storage/rados/owner_record.h"

namespace armature::rados {

TEST(TakeoverCheck, ComparesClocksByRenewals) {
  // A renewal that is at most 3 seconds old.
  EXPECT_EQ(ClockDifference(1000, 1000, 3), "");
  EXPECT_EQ(ClockDifference(1000, 1013, 3), "");
  EXPECT_EQ(ClockDifference(1000, 990, 3), "");
  EXPECT_EQ(ClockDifference(1000, 1100, 3), "the clock of this machine is 97 s ahead of the owner's");
  EXPECT_EQ(ClockDifference(1000, 900, 3), "the clock of this machine is 100 s behind the owner's");
}

TEST(TakeoverCheck, TheOwnersLeaseIsInItsRecord) {
  const OwnerRecord owner = {.client = "c", .service = "", .host = "db1", .since_s = 7, .lease_ms = 2500};
  EXPECT_EQ(DecodeOwner(EncodeOwner(owner)), owner);
  // Noted by a version that knew no lease.
  EXPECT_EQ(DecodeOwner("client=c\nservice=\nhost=db1\nsince=7\n").lease_ms, 0u);
}

}  // namespace armature::rados
