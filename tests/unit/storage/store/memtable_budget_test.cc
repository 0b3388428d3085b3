// One budget for the memtables of all column families.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::memtable_budget_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class MemtableBudgetTest : public testing::Test {
 protected:
  void Open(int tables, uint64_t budget) {
    DatabaseOptions options = TestOptions(dir_.path("data"));
    options.memtable_bytes = 64 * kMiB;
    options.memtables_bytes_max = budget;
    database_ = OpenDatabase(options);
    tables_ = tables;
    for (int i = 0; i < tables; ++i) snapshot_ = CreateActive(database_.get(), PlainTable(Name(i)));
  }
  static std::string Name(int table) { return "table" + std::to_string(table); }

  // Writes a row of `bytes` into each table.
  void WriteRound(int round, size_t bytes) {
    for (int i = 0; i < tables_; ++i) {
      WriteUnit unit(snapshot_);
      unit.Put(snapshot_->Find(Name(i))->data, "row" + std::to_string(round), std::string(bytes, 'x'));
      ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
    }
  }
  FileStats files() { return database_->stats().files; }

  test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
  int tables_ = 0;
};

TEST_F(MemtableBudgetTest, TheOldestMemtablesAreFlushedBeyondTheBudget) {
  Open(8, 4 * kMiB);
  // 32 MiB. No memtable is full.
  for (int round = 0; round < 64; ++round) WriteRound(round, 64 << 10);
  EXPECT_TRUE(Eventually([this] { return files().flush_bytes_total > 0; }));
  // Each write looks at the budget, and a family whose flush is under way is passed over.
  EXPECT_TRUE(Eventually([this] {
    WriteRound(0, 1);
    return files().memtable_bytes <= files().memtable_max_bytes;
  })) << files().memtable_bytes
      << " of " << files().memtable_max_bytes;
  EXPECT_LT(files().memtable_max_bytes, 12 * kMiB);
}

TEST_F(MemtableBudgetTest, EmptyMemtablesTakeNothingOfIt) {
  // The filters of their memtables take more than the budget.
  Open(60, kMiB);
  WriteRound(0, 10);
  const FileStats before = files();
  ASSERT_GT(before.memtable_bytes, kMiB);
  for (int round = 1; round < 5; ++round) WriteRound(round, 10);
  EXPECT_EQ(files().flush_bytes_total, before.flush_bytes_total);
}

TEST_F(MemtableBudgetTest, ATableThatIsDeletedGivesItsPartBack) {
  Open(4, kMiB);
  WriteRound(0, 10);
  const uint64_t before = files().memtable_max_bytes;
  ASSERT_TRUE(database_->tables().Delete(Name(0)).ok());
  snapshot_.reset();
  EXPECT_TRUE(Eventually([&] { return files().memtable_max_bytes < before; }));
}

}  // namespace armature::store::memtable_budget_test
