#include <gtest/gtest.h>

#include "tests/unit/tools/advise/advise_testing.h"

namespace armature::advise::arithmetic_test {

constexpr Projection kKeysOnly = {ProjectionKind::kKeysOnly, {}};

TEST(AdviseArithmetic, ReadsAreRoundedUpToFourKilobytesAndHalvedIfEventual) {
  EXPECT_DOUBLE_EQ(ReadUnits(8 * 2000, false), 2);  // The documented example: 8 entries of 2000 bytes.
  EXPECT_DOUBLE_EQ(ReadUnits(4096, true), 1);
  EXPECT_DOUBLE_EQ(ReadUnits(4097, true), 2);
  EXPECT_DOUBLE_EQ(ReadUnits(0, true), 1);
  EXPECT_DOUBLE_EQ(ReadUnits(0, false), 0.5);
}

TEST(AdviseArithmetic, WritesAreRoundedUpToKilobytes) {
  EXPECT_DOUBLE_EQ(WriteUnits(1), 1);
  EXPECT_DOUBLE_EQ(WriteUnits(1024), 1);
  EXPECT_DOUBLE_EQ(WriteUnits(1025), 2);
}

class EntryTest : public testing::Test {
 protected:
  EntryTest() {
    builder_.Attribute("id", 1e6).Attribute("sparse", 50, 0.1).Attribute("state", 5).Attribute("note", 100, 0.5);
    builder_.TableKey("id").Writes(100);
  }

  const Table& table() { return builder_.workload().table; }
  Key Of(std::string_view partition) { return {{builder_.Id(partition)}, {}}; }
  double Units(std::string_view partition, const Projection& projection = kKeysOnly) {
    return IndexWriteUnits(table(), Of("id"), Of(partition), projection);
  }

  WorkloadBuilder builder_;
};

TEST_F(EntryTest, HoldsBothKeysAndWhatIsProjected) {
  EXPECT_DOUBLE_EQ(EntryBytes(table(), Of("id"), Of("state"), kKeysOnly), 22 + 25);
  EXPECT_DOUBLE_EQ(EntryBytes(table(), Of("id"), Of("id"), kKeysOnly), 22) << "a shared key attribute counts once";
  const Projection note = {ProjectionKind::kInclude, {builder_.Id("note")}};
  EXPECT_DOUBLE_EQ(EntryBytes(table(), Of("id"), Of("state"), note), 47 + 12) << "half of the items have it";
  EXPECT_DOUBLE_EQ(EntryBytes(table(), Of("id"), Of("state"), {ProjectionKind::kAll, {}}), 1024);
}

TEST_F(EntryTest, StorageAddsAHundredBytesForEach) {
  EXPECT_DOUBLE_EQ(StorageBytes(table(), 0.5, 47).value(), 0.5e6 * 147);
  builder_.workload().table.items.reset();
  EXPECT_FALSE(StorageBytes(table(), 0.5, 47).has_value());
}

TEST_F(EntryTest, NewItemsWriteIfTheyHaveTheKey) {
  EXPECT_DOUBLE_EQ(Units("state"), 100);
  EXPECT_DOUBLE_EQ(Units("sparse"), 10);
  builder_.workload().table.attributes[1].share_new = 1;
  EXPECT_DOUBLE_EQ(Units("sparse"), 100);
}

TEST_F(EntryTest, MoveIsTwoWritesAndOthersOneOrNone) {
  builder_.Writes(0, {{builder_.Ids({"state"}), 30, UpdateKind::kChange}});
  EXPECT_DOUBLE_EQ(Units("state"), 60);
  builder_.Writes(0, {{builder_.Ids({"sparse"}), 30, UpdateKind::kSet}});
  EXPECT_DOUBLE_EQ(Units("sparse"), 30);
  builder_.Writes(0, {{builder_.Ids({"sparse"}), 30, UpdateKind::kRemove}});
  EXPECT_DOUBLE_EQ(Units("sparse"), 30);
  builder_.Writes(0, {{builder_.Ids({"note"}), 30, UpdateKind::kChange}});
  EXPECT_DOUBLE_EQ(Units("state"), 0) << "not projected";
  EXPECT_DOUBLE_EQ(Units("state", {ProjectionKind::kInclude, builder_.Ids({"note"})}), 30);
  EXPECT_DOUBLE_EQ(Units("sparse", {ProjectionKind::kAll, {}}), 3) << "a tenth of the items has an entry";
}

TEST_F(EntryTest, LargeEntriesTakeMoreUnits) {
  builder_.workload().table.item_bytes = 2000;
  EXPECT_DOUBLE_EQ(Units("state", {ProjectionKind::kAll, {}}), 200);
}

TEST_F(EntryTest, RowsAreEstimatedFromTheNumberOfValues) {
  Pattern pattern;
  pattern.equality = builder_.Ids({"note"});
  builder_.workload().table.attributes[builder_.Id("note")].distinct = 10'000;
  EXPECT_DOUBLE_EQ(Rows(table(), pattern), 100);
  pattern.equality = builder_.Ids({"state"});
  EXPECT_DOUBLE_EQ(Rows(table(), pattern), 1024) << "no more than a page";
  pattern.rows = 3;
  EXPECT_DOUBLE_EQ(Rows(table(), pattern), 3);
}

}  // namespace armature::advise::arithmetic_test
