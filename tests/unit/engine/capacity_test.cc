#include "engine/capacity.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/index_delta.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {
namespace {

store::Index IndexCalled(std::string_view name, model::IndexKind kind) {
  store::Index index;
  index.descriptor.name = std::string(name);
  index.descriptor.kind = kind;
  return index;
}

TEST(Capacity, ReportsAreWordsOfAClosedSet) {
  EXPECT_EQ(*ParseCapacityReport(""), CapacityReport::kNone);
  EXPECT_EQ(*ParseCapacityReport("NONE"), CapacityReport::kNone);
  EXPECT_EQ(*ParseCapacityReport("TOTAL"), CapacityReport::kTotal);
  EXPECT_EQ(*ParseCapacityReport("INDEXES"), CapacityReport::kIndexes);
  EXPECT_EQ(GetApiError(ParseCapacityReport("total").status())->type, ApiErrorType::kValidation);
}

struct ReadCase {
  size_t bytes;
  double consistent;
};

TEST(Capacity, ReadsCountStartedBlocksOfFourKilobytes) {
  constexpr ReadCase kCases[] = {
      {0, 1},                                           // a missing item costs as much as a small one
      {1, 1},         {4096, 1}, {4097, 2}, {6246, 2},  // 6.1 KB
      {800, 1},                                         // four entries of 200 bytes
      {16'000, 4},                                      // eight entries of 2,000 bytes
      {153'600, 38},                                    // 100 items of 1.5 KB, rounded once
      {1 << 20, 256},
  };
  for (const ReadCase& c : kCases) {
    EXPECT_EQ(ReadUnits(ReadBlocks(c.bytes), /*consistent=*/true), c.consistent) << c.bytes;
    EXPECT_EQ(ReadUnits(ReadBlocks(c.bytes), /*consistent=*/false), c.consistent / 2) << c.bytes;
  }
  EXPECT_EQ(ReadUnits(0, /*consistent=*/true), 0);
}

struct WriteCase {
  size_t old_bytes, new_bytes;
  double units;
};

TEST(Capacity, WritesCountTheLargerImageInStartedKilobytes) {
  constexpr WriteCase kCases[] = {
      {0, 0, 1},                                                     // a delete of a missing item
      {0, 1, 1},       {0, 1024, 1}, {0, 1025, 2}, {3277, 1536, 4},  // 1.5 KB over 3.2 KB
      {1536, 3277, 4}, {3072, 0, 3},                                 // a delete
  };
  for (const WriteCase& c : kCases) {
    EXPECT_EQ(WriteUnits(c.old_bytes, c.new_bytes), c.units) << c.old_bytes << " to " << c.new_bytes;
  }
}

TEST(Capacity, ReadsAreReportedWhereTheyWereSpent) {
  const store::Index local = IndexCalled("l", model::IndexKind::kLocal);
  const store::Index global = IndexCalled("g", model::IndexKind::kGlobal);
  EXPECT_FALSE(ReportRead(CapacityReport::kNone, "T", &local, 1, 4).has_value());
  const ConsumedCapacity total = *ReportRead(CapacityReport::kTotal, "T", &local, 1, 4);
  EXPECT_EQ(total.table_name, "T");
  EXPECT_EQ(total.total, 5);
  EXPECT_FALSE(total.table.has_value());
  EXPECT_TRUE(total.local_indexes.empty());
  const ConsumedCapacity table = *ReportRead(CapacityReport::kIndexes, "T", nullptr, 2);
  EXPECT_EQ(table.total, 2);
  EXPECT_EQ(*table.table, 2);
  EXPECT_TRUE(table.local_indexes.empty());
  EXPECT_TRUE(table.global_indexes.empty());
  const ConsumedCapacity fetched = *ReportRead(CapacityReport::kIndexes, "T", &local, 1, 4);
  EXPECT_EQ(fetched.total, 5);
  EXPECT_EQ(*fetched.table, 4);
  EXPECT_EQ(fetched.local_indexes.at("l"), 1);
  const ConsumedCapacity of_global = *ReportRead(CapacityReport::kIndexes, "T", &global, 0.5);
  EXPECT_EQ(of_global.total, 0.5);
  EXPECT_EQ(*of_global.table, 0);
  EXPECT_EQ(of_global.global_indexes.at("g"), 0.5);
  EXPECT_TRUE(of_global.local_indexes.empty());
}

// Size of an entry before and after a write; nullopt: no entry.
struct EntryCase {
  std::string_view what;
  std::optional<size_t> before, after;
  bool moved;
  double units;
};

// Source: the developer guide, write considerations of local and global secondary indexes. index::IndexDelta leaves out
// unchanged entries, so they do not occur here.
TEST(Capacity, IndexWritesCountEntriesThatComeGoMoveOrChange) {
  constexpr EntryCase kCases[] = {
      {"comes", std::nullopt, 400, false, 1},
      {"comes, large", std::nullopt, 1025, false, 2},
      {"goes", 400, std::nullopt, false, 1},
      {"goes, large", 3000, std::nullopt, false, 3},
      {"changes in place", 400, 500, false, 1},
      {"grows in place", 400, 2500, false, 3},
      {"shrinks in place", 2500, 400, false, 3},
      {"moves", 400, 400, true, 2},
      {"moves, large: each rounded by itself", 1500, 1500, true, 4},
      {"moves and grows", 100, 2100, true, 4},
  };
  const store::Index local = IndexCalled("l", model::IndexKind::kLocal);
  const store::Index global = IndexCalled("g", model::IndexKind::kGlobal);
  for (const EntryCase& c : kCases) {
    SCOPED_TRACE(std::string(c.what));
    index::EntryChange change;
    change.old_size = c.before;
    change.new_size = c.after;
    if (c.moved || !c.after.has_value()) change.removed_key = "old";
    if (c.after.has_value()) change.put_key = "new";
    change.index = &local;
    const std::vector<index::EntryChange> local_changes = {change};
    change.index = &global;
    const std::vector<index::EntryChange> global_changes = {change};
    const ConsumedCapacity all = *ReportWrite(CapacityReport::kIndexes, "T", 3, local_changes, global_changes);
    EXPECT_EQ(all.local_indexes.at("l"), c.units);
    EXPECT_EQ(all.global_indexes.at("g"), c.units);
    EXPECT_EQ(*all.table, 3);
    EXPECT_EQ(all.total, 3 + 2 * c.units);
    const ConsumedCapacity total = *ReportWrite(CapacityReport::kTotal, "T", 3, local_changes, global_changes);
    EXPECT_EQ(total.total, all.total);
    EXPECT_FALSE(total.table.has_value());
    EXPECT_TRUE(total.local_indexes.empty());
    EXPECT_TRUE(total.global_indexes.empty());
  }
  EXPECT_TRUE(ReportWrite(CapacityReport::kIndexes, "T", 1, {}, {})->local_indexes.empty());
  EXPECT_FALSE(ReportWrite(CapacityReport::kNone, "T", 1, {}, {}).has_value());
}

}  // namespace
}  // namespace armature::engine
