// RocksDB 7.8.3 may show deleted rows when a read fails while it iterates over deleted ranges. Readers of changes must
// not see them, whichever byte of the files is damaged.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/store/log/change_log.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"
#include "tests/unit/storage/store/damaged_files.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::deleted_range_test {

constexpr TableId kTable(1);
constexpr uint64_t kTrimmed = 600;
constexpr uint64_t kLast = 1'000;
// Less than a block.
constexpr int64_t kStride = 1'500;
constexpr size_t kNoBound = size_t{1} << 30;

class DeletedRangeTest : public testing::Test {
 protected:
  void Open() { database_ = OpenDatabase(TestOptions(dir_.path("data"))); }
  // Appends records until there are so many.
  void AppendTo(uint64_t count) {
    while (sequences_.size() < count) {
      WriteUnit unit(nullptr);
      unit.SetChangeRecord(kTable, RandomBytes(100, static_cast<unsigned>(sequences_.size())));
      const absl::StatusOr<ChangeSequence> sequence = CommitAndWait(database_.get(), std::move(unit));
      ASSERT_TRUE(sequence.ok()) << sequence.status();
      sequences_.push_back(sequence->value());
    }
  }
  std::vector<std::string> Flush() {
    database_.reset();
    return FlushedFilesOf("log", dir_.path("data"));
  }

  // Reads behind `after`. Returns true if the read succeeded.
  bool ReadsAllOrNone(Database* database, uint64_t after) const {
    std::vector<uint64_t> seen;
    const ChangeSequence last(sequences_.back());
    const absl::StatusOr<ChangeLog::ReadOutcome> outcome = database->change_log().Read(
        kTable, ChangeSequence(after), last, kNoBound, kNoBound, [&](ChangeSequence sequence, std::string_view record) {
          seen.push_back(sequence.value());
          return record.size();
        });
    // Each record was there, in order, up to the error.
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], sequences_[kTrimmed + i]);
    if (outcome.ok()) {
      EXPECT_EQ(seen.size(), kLast - kTrimmed);
      EXPECT_EQ(outcome->read_through, last);
    }
    return outcome.ok();
  }

  const test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::vector<uint64_t> sequences_;  // of the records
};

TEST_F(DeletedRangeTest, AReadErrorShowsNoDeletedChangeAndHidesNoOther) {
  Open();
  AppendTo(kTrimmed + 200);
  Flush();
  Open();
  ASSERT_TRUE(database_->change_log().Trim(kTable, ChangeSequence(sequences_[kTrimmed - 1])).ok());
  AppendTo(kLast);
  const std::vector<std::string> files = Flush();
  ASSERT_GE(files.size(), 2u) << "the deleted range is in a file of its own";
  int failed = 0;
  int served = 0;
  for (const std::string& file : files) {
    const auto size = static_cast<int64_t>(std::filesystem::file_size(file));
    for (int64_t at = 0; at < size; at += kStride) {
      SCOPED_TRACE(Cat(file, " at ", at));
      InvertByte(file, at);
      const absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(TestOptions(dir_.path("data")));
      if (!opened.ok()) continue;
      // The applier reads behind its cursor; nobody reads the deleted range itself.
      const bool is_served = ReadsAllOrNone(opened->get(), sequences_[kTrimmed - 1]);
      ReadsAllOrNone(opened->get(), 0);
      ++(is_served ? served : failed);
      InvertByte(file, at);
    }
  }
  EXPECT_GT(failed, 10) << "reads meet the damage";
  EXPECT_GT(served, 10) << "blocks of deleted records do not matter";
}

}  // namespace armature::store::deleted_range_test
