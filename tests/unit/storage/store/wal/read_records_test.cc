// Reading of a log from any record on.

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/strings.h"
#include "storage/store/wal/log_scan.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"

namespace armature::store::read_records_test {

constexpr uint64_t kNoEnd = std::numeric_limits<uint64_t>::max();

// Records of all sizes, some of them over several blocks of 32 KiB.
class ReadRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    {
      const std::unique_ptr<Database> database = OpenDatabase(TestOptions(dir_.path("data")));
      CreateActive(database.get(), PlainTable("t"));
      for (const size_t size : {10, 32'000, 31'900, 700, 100'000, 1, 32'768, 5}) {
        PutRows(database.get(), {{"key", RandomBytes(size, static_cast<unsigned>(size))}});
      }
    }
    for (const std::string& file : FilesIn(dir_.path("data/db"))) {
      if (file.ends_with(".log")) path_ = dir_.path("data/db/" + file);
    }
    const auto scan =
        ScanLog(LocalVolume(), path_, [&](std::string_view record, bool) { records_.emplace_back(record); });
    ASSERT_TRUE(scan.ok()) << scan.status();
    ASSERT_GT(records_.size(), 8u);
    Read(0, kNoEnd);
    ASSERT_EQ(found_, records_);
    all_ends_ = ends_;
  }

  // Returns the end of the last record.
  uint64_t Read(uint64_t from, uint64_t to, size_t count = std::numeric_limits<size_t>::max()) {
    found_.clear();
    ends_.clear();
    const absl::StatusOr<uint64_t> end =
        ReadRecords(LocalVolume(), path_, from, to, [&](std::string_view record, uint64_t at) {
          found_.emplace_back(record);
          ends_.push_back(at);
          return found_.size() < count;
        });
    EXPECT_TRUE(end.ok()) << end.status();
    return end.value_or(kNoEnd);
  }
  std::vector<std::string> Records(size_t begin, size_t end) const {
    return {records_.begin() + static_cast<std::ptrdiff_t>(begin), records_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  const test::TempDir dir_{FastDirectory()};
  std::string path_;
  std::vector<std::string> records_;
  std::vector<std::string> found_;
  std::vector<uint64_t> ends_;
  std::vector<uint64_t> all_ends_;
};

TEST_F(ReadRecordsTest, GoesOnFromTheEndOfEachRecord) {
  for (size_t i = 0; i < records_.size(); ++i) {
    EXPECT_EQ(Read(all_ends_[i], kNoEnd), all_ends_.back());
    EXPECT_EQ(found_, Records(i + 1, records_.size()));
    EXPECT_EQ(Read(i == 0 ? 0 : all_ends_[i - 1], kNoEnd, 1), all_ends_[i]);
    EXPECT_EQ(found_, Records(i, i + 1));
  }
}

TEST_F(ReadRecordsTest, StopsAtTheEndThatIsGiven) {
  for (size_t i = 0; i < records_.size(); ++i) {
    EXPECT_EQ(Read(0, all_ends_[i]), all_ends_[i]);
    EXPECT_EQ(found_, Records(0, i + 1));
    Read(0, all_ends_[i] - 1);
    EXPECT_EQ(found_, Records(0, i));
  }
}

TEST_F(ReadRecordsTest, StopsAtATornRecordAndAtADamagedOne) {
  const std::string bytes = ReadBytes(path_);
  for (size_t i = 1; i < records_.size(); ++i) {
    WriteBytes(path_, bytes.substr(0, all_ends_[i] - 1));
    EXPECT_EQ(Read(0, kNoEnd), all_ends_[i - 1]);
    WriteBytes(path_, bytes);
    DamageByte(path_, all_ends_[i] - 1);
    EXPECT_EQ(Read(0, kNoEnd), all_ends_[i - 1]);
    EXPECT_EQ(found_, Records(0, i));
    WriteBytes(path_, bytes);
  }
}

TEST_F(ReadRecordsTest, AMissingFileIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ReadRecords(LocalVolume(), dir_.path("none"), 0, kNoEnd, [](std::string_view, uint64_t) {
                                 return true;
                               }).status()));
}

}  // namespace armature::store::read_records_test
