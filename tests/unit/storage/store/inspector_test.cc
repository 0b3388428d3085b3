#include "storage/store/inspector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "rocksdb/db.h"
#include "storage/base/strings.h"
#include "storage/store/meta_keys.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::inspector_test {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kRows = 3000;

std::string ReadFile(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

void WriteFile(const fs::path& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// The bytes of all files below `directory`, by path.
std::map<std::string, std::string> BytesOf(const std::string& directory) {
  std::map<std::string, std::string> bytes;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    bytes[entry.path().string()] = entry.is_regular_file() ? ReadFile(entry.path()) : "directory";
  }
  return bytes;
}

std::string RowKey(int number) { return Cat("key-", EncodeU32(static_cast<uint32_t>(number) * 1'000'003)); }

// About 300 incompressible bytes.
std::string RowValue(int number) {
  std::string value;
  uint32_t state = static_cast<uint32_t>(number) + 1;
  while (value.size() < 300) {
    state = state * 1'664'525 + 1'013'904'223;
    value += static_cast<char>(state >> 24);
  }
  return value;
}

class InspectorTest : public testing::Test {
 protected:
  // Makes a closed database: a table with kRows rows and the indexes of IndexedTable. The rows are in RocksDB's log
  // only.
  void MakeDirectory() {
    const std::unique_ptr<Database> database = OpenDatabase(TestOptions(path_));
    const auto catalog = CreateActive(database.get(), IndexedTable("T"));
    const Table& table = *catalog->Find("T");
    table_ = table.descriptor;
    std::vector<WriteUnit> units;
    for (int i = 0; i < kRows; ++i) {
      WriteUnit unit(catalog);
      unit.Put(table.data, RowKey(i), RowValue(i));
      unit.AddStats(table.data, {1, 300});
      unit.SetChangeRecord(table.descriptor.id, "record");
      units.push_back(std::move(unit));
    }
    const auto committed = CommitAndWait(database.get(), std::move(units));
    ASSERT_TRUE(committed.ok()) << committed.status();
  }

  // Writes the rows in the log to table files, like a flush.
  void Flush() {
    rocksdb::DBOptions options;
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, path_ + "/db", &names).ok());
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : names) descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* raw = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(options, path_ + "/db", descriptors, &handles, &raw);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    const std::unique_ptr<rocksdb::DB> db(raw);
    EXPECT_TRUE(db->Flush(rocksdb::FlushOptions(), handles).ok());
    rocksdb::ColumnFamilyMetaData files;
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle->GetName() == DataFamilyName(table_.id)) {
        db->GetColumnFamilyMetaData(handle, &files);
        for (const rocksdb::LevelMetaData& level : files.levels) {
          for (const rocksdb::SstFileMetaData& file : level.files) data_file_ = Cat(path_, "/db", file.name);
        }
      }
      EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    }
    ASSERT_FALSE(data_file_.empty());
  }

  // Inverts a byte of the table's only table file.
  void Damage(size_t at) {
    std::string bytes = ReadFile(data_file_);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(~bytes[at]);
    WriteFile(data_file_, bytes);
  }

  struct Walked {
    std::vector<std::string> keys;
    std::vector<ReadGap> gaps;
  };
  static Walked Walk(const Inspector& inspector, std::string_view family, const KeyRange& range = {}) {
    Walked walked;
    const auto end = inspector.ForEachRow(
        family, range,
        [&](std::string_view key, std::string_view) {
          walked.keys.emplace_back(key);
          return RowVerdict::kContinue;
        },
        [&](const ReadGap& gap) { walked.gaps.push_back(gap); });
    EXPECT_TRUE(end.ok()) << end.status();
    return walked;
  }

  // Every row is either read or in a gap, never both.
  static void ExpectGapsTellTheRest(const Walked& walked) {
    const std::vector<std::string>& keys = walked.keys;
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    for (int i = 0; i < kRows; ++i) {
      const std::string key = RowKey(i);
      const bool is_read = std::binary_search(keys.begin(), keys.end(), key);
      const bool is_missing = std::any_of(walked.gaps.begin(), walked.gaps.end(), [&](const ReadGap& gap) {
        return key > gap.after && (gap.to.empty() || key < gap.to);
      });
      EXPECT_NE(is_read, is_missing) << i;
    }
  }

  std::string family() const { return DataFamilyName(table_.id); }

  const test::TempDir dir_;
  const std::string path_ = dir_.path("data");
  model::TableDescriptor table_;
  std::string data_file_;
};

TEST_F(InspectorTest, ShowsWhatIsOnlyInTheLogAndChangesNothing) {
  MakeDirectory();
  const auto before = BytesOf(path_);
  {
    const auto inspector = Inspector::Open(LocalVolume(), path_);
    ASSERT_TRUE(inspector.ok()) << inspector.status();
    EXPECT_THAT((*inspector)->problems(), IsEmpty());
    EXPECT_EQ((*inspector)->format().version, kFormatVersion);
    EXPECT_FALSE((*inspector)->is_new());
    const Walked walked = Walk(**inspector, family());
    EXPECT_EQ(walked.keys.size(), static_cast<size_t>(kRows));
    EXPECT_THAT(walked.gaps, IsEmpty());
    EXPECT_EQ(Walk(**inspector, kLogFamily).keys.size(), static_cast<size_t>(kRows));
    EXPECT_EQ(Walk(**inspector, family(), {RowKey(10), RowKey(15)}).keys.size(), 5u);
  }
  EXPECT_EQ(BytesOf(path_), before);
}

TEST_F(InspectorTest, TellsTheFilesOfFamilies) {
  MakeDirectory();
  Flush();
  const auto inspector = Inspector::Open(LocalVolume(), path_);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  const std::vector<FamilyFiles> families = (*inspector)->Families();
  const auto found =
      std::find_if(families.begin(), families.end(), [&](const FamilyFiles& each) { return each.name == family(); });
  ASSERT_NE(found, families.end());
  EXPECT_EQ(found->rows_estimate, static_cast<uint64_t>(kRows));
  EXPECT_EQ(found->memory_rows, 0u);
  EXPECT_EQ(found->files, 1u);
  EXPECT_EQ(found->levels, 1u);
  EXPECT_EQ(found->file_bytes, fs::file_size(data_file_));
  EXPECT_TRUE((*inspector)->HasFamily("meta"));
  EXPECT_FALSE((*inspector)->HasFamily("t999"));
  const auto no_family = (*inspector)
                             ->ForEachRow(
                                 "t999", {}, [](std::string_view, std::string_view) { return RowVerdict::kContinue; },
                                 [](const ReadGap&) {});
  EXPECT_TRUE(absl::IsNotFound(no_family.status()));
}

TEST_F(InspectorTest, ParsesEveryRecordOfTheMetaFamily) {
  MakeDirectory();
  const auto inspector = Inspector::Open(LocalVolume(), path_);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  std::map<MetaKind, int> kinds;
  const auto end = (*inspector)
                       ->ForEachRow(
                           kMetaFamily, {},
                           [&](std::string_view key, std::string_view value) {
                             const MetaRecord record = ParseMetaRecord(key, value);
                             EXPECT_TRUE(record.status.ok()) << record.status;
                             ++kinds[record.kind];
                             if (record.kind == MetaKind::kTable) {
                               EXPECT_EQ(record.descriptor, table_);
                             }
                             if (record.kind == MetaKind::kSequence) {
                               EXPECT_GE(record.number, static_cast<uint64_t>(kRows)) << "it is reserved ahead";
                             }
                             if (record.kind == MetaKind::kStats && record.name == family()) {
                               EXPECT_EQ(record.totals.items, kRows);
                             }
                             return RowVerdict::kContinue;
                           },
                           [](const ReadGap& gap) { ADD_FAILURE() << gap.reason; });
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(kinds[MetaKind::kTable], 1);
  EXPECT_EQ(kinds[MetaKind::kSequence], 1);
  EXPECT_EQ(kinds[MetaKind::kNextId], 1);
  EXPECT_GE(kinds[MetaKind::kStats], 1);
}

TEST_F(InspectorTest, GoesOnBehindADamagedBlock) {
  MakeDirectory();
  Flush();
  const auto size = static_cast<size_t>(fs::file_size(data_file_));
  // Offsets at the beginning, inside, and in the middle, all in data blocks.
  for (const size_t at : {size_t{10}, size / 3, size / 2}) {
    Damage(at);
    const auto inspector = Inspector::Open(LocalVolume(), path_);
    ASSERT_TRUE(inspector.ok()) << inspector.status();
    const Walked walked = Walk(**inspector, family());
    ASSERT_EQ(walked.gaps.size(), 1u) << at;
    EXPECT_TRUE(absl::IsDataLoss(walked.gaps[0].reason)) << walked.gaps[0].reason;
    EXPECT_THAT(std::string(Sv(walked.gaps[0].reason.message())), HasSubstr("checksum"));
    ExpectGapsTellTheRest(walked);
    // Blocks have 4 KB here, so few rows are lost.
    EXPECT_GT(walked.keys.size(), static_cast<size_t>(kRows) - 40) << at;
    EXPECT_LT(walked.keys.size(), static_cast<size_t>(kRows)) << at;
    Damage(at);  // whole again
  }
}

TEST_F(InspectorTest, GoesOnBehindEachOfSeveralDamagedBlocks) {
  MakeDirectory();
  Flush();
  const auto size = static_cast<size_t>(fs::file_size(data_file_));
  for (const size_t part : {1, 3, 5, 7}) Damage(size / 10 * part);
  const auto inspector = Inspector::Open(LocalVolume(), path_);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  const Walked walked = Walk(**inspector, family());
  EXPECT_GE(walked.gaps.size(), 1u);
  EXPECT_LE(walked.gaps.size(), 4u);
  ExpectGapsTellTheRest(walked);
  EXPECT_GT(walked.keys.size(), static_cast<size_t>(kRows) / 5);
  // Ranges with bounds inside or after damaged blocks.
  for (int i = 0; i + 100 < kRows; i += 100) {
    const Walked part = Walk(**inspector, family(), {RowKey(i), RowKey(i + 100)});
    for (const std::string& key : part.keys) EXPECT_TRUE(key >= RowKey(i) && key < RowKey(i + 100));
    EXPECT_TRUE(part.keys.size() == 100 || !part.gaps.empty()) << i;
  }
}

TEST_F(InspectorTest, OtherFamiliesAreReadWhenATableFileIsMissing) {
  MakeDirectory();
  Flush();
  fs::remove(data_file_);
  EXPECT_FALSE(Database::Open(TestOptions(path_)).ok());
  const auto inspector = Inspector::Open(LocalVolume(), path_);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  ASSERT_EQ((*inspector)->problems().size(), 1u);
  EXPECT_THAT((*inspector)->problems()[0], HasSubstr("cannot be opened"));
  const Walked walked = Walk(**inspector, family());
  EXPECT_THAT(walked.keys, IsEmpty());
  EXPECT_EQ(walked.gaps.size(), 1u);
  EXPECT_EQ(Walk(**inspector, kLogFamily).keys.size(), static_cast<size_t>(kRows));
}

TEST_F(InspectorTest, OtherFamiliesAreReadWhenTheEndOfATableFileIsDamaged) {
  MakeDirectory();
  Flush();
  fs::resize_file(data_file_, fs::file_size(data_file_) / 2);
  const auto inspector = Inspector::Open(LocalVolume(), path_);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  EXPECT_EQ((*inspector)->problems().size(), 1u);
  EXPECT_EQ(Walk(**inspector, family()).gaps.size(), 1u);
  EXPECT_EQ(Walk(**inspector, kLogFamily).keys.size(), static_cast<size_t>(kRows));
}

TEST_F(InspectorTest, ADamagedLogIsToldAndWhatStandsBeforeTheDamageIsShown) {
  MakeDirectory();
  fs::path log;
  for (const auto& entry : fs::directory_iterator(path_ + "/db")) {
    if (entry.path().extension() == ".log" && (log.empty() || fs::file_size(entry) > fs::file_size(log))) {
      log = entry.path();
    }
  }
  std::string bytes = ReadFile(log);
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  WriteFile(log, bytes);
  const auto inspector = Inspector::Open(LocalVolume(), path_);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  ASSERT_EQ((*inspector)->problems().size(), 1u);
  EXPECT_THAT((*inspector)->problems()[0], HasSubstr("before the damage"));
  EXPECT_TRUE((*inspector)->HasFamily(family()));
}

TEST_F(InspectorTest, ALostManifestLeavesNothingButTheFormatFile) {
  MakeDirectory();
  for (const auto& entry : fs::directory_iterator(path_ + "/db")) {
    if (entry.path().filename().string().starts_with("MANIFEST-")) fs::remove(entry.path());
  }
  const auto inspector = Inspector::Open(LocalVolume(), path_);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  EXPECT_EQ((*inspector)->format().database_id.size(), 36u);
  ASSERT_EQ((*inspector)->problems().size(), 1u);
  EXPECT_THAT((*inspector)->problems()[0], HasSubstr("nothing of it can be read"));
  EXPECT_THAT((*inspector)->Families(), IsEmpty());
  EXPECT_FALSE((*inspector)->HasFamily("meta"));
}

TEST_F(InspectorTest, ADamagedFormatFileIsAProblemAndANewerFormatARefusal) {
  MakeDirectory();
  WriteFile(path_ + "/armature.format", "armature database\nnothing\n");
  {
    const auto inspector = Inspector::Open(LocalVolume(), path_);
    ASSERT_TRUE(inspector.ok()) << inspector.status();
    EXPECT_EQ((*inspector)->problems().size(), 1u);
    EXPECT_EQ(Walk(**inspector, family()).keys.size(), static_cast<size_t>(kRows));
  }
  WriteFile(path_ + "/armature.format", Cat("armature database\nformat: ", kFormatVersion + 1, "\ndatabase: x\n"));
  EXPECT_TRUE(absl::IsFailedPrecondition(Inspector::Open(LocalVolume(), path_).status()));
}

TEST_F(InspectorTest, IsRefusedWhileADatabaseIsOpenAndKeepsItFromOpening) {
  MakeDirectory();
  {
    const std::unique_ptr<Database> database = OpenDatabase(TestOptions(path_));
    const auto refused = Inspector::Open(LocalVolume(), path_);
    EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
    EXPECT_THAT(std::string(Sv(refused.status().message())), HasSubstr("in use by another process"));
  }
  const auto first = Inspector::Open(LocalVolume(), path_);
  const auto second = Inspector::Open(LocalVolume(), path_);
  EXPECT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Database::Open(TestOptions(path_)).status()));
}

TEST_F(InspectorTest, ADirectoryWithoutALockFileGetsNone) {
  MakeDirectory();
  fs::remove(path_ + "/LOCK");
  ASSERT_TRUE(Inspector::Open(LocalVolume(), path_).ok());
  EXPECT_FALSE(fs::exists(path_ + "/LOCK"));
}

TEST_F(InspectorTest, WhatIsNoDatabaseIsRefusedAndLeftAsItIs) {
  EXPECT_TRUE(absl::IsFailedPrecondition(Inspector::Open(LocalVolume(), path_).status()));
  EXPECT_FALSE(fs::exists(path_));
  fs::create_directory(path_);
  EXPECT_TRUE(absl::IsFailedPrecondition(Inspector::Open(LocalVolume(), path_).status()));
  EXPECT_TRUE(fs::is_empty(path_));
}

}  // namespace armature::store::inspector_test
