#include "storage/store/backup/backup_reader.h"

#include <algorithm>

#include "storage/base/strings.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"

namespace armature::store::backup_reader_test {

using absl::StatusCode;
using testing::IsEmpty;

class BackupReaderTest : public BackupTest {
 protected:
  void SetUp() override {
    BackupTest::SetUp();
    CreateActive(database_.get(), IndexedTable("indexed"));
    CreateActive(database_.get(), PlainTable("empty"));
    backups_ = OpenBackups(backups_path());
    Back(backups_.get());
  }

  std::unique_ptr<BackupReader> OpenReader(BackupId id) {
    absl::StatusOr<std::unique_ptr<BackupReader>> reader = BackupReader::Open(LocalVolume(), backups_path(), id);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? *std::move(reader) : nullptr;
  }

  static TableId IdOf(const BackupReader& reader, std::string_view name) {
    for (const model::TableDescriptor& table : reader.tables()) {
      if (table.name == name) return table.id;
    }
    ADD_FAILURE() << "no table " << name;
    return TableId(0);
  }

  static RowMap ReadAll(BackupReader* reader, std::string_view table) {
    RowMap rows;
    std::string last;
    const absl::Status read =
        reader->ReadTable(IdOf(*reader, table), [&](std::string_view key, std::string_view value) {
          EXPECT_LT(last, key);
          last = std::string(key);
          rows.emplace(key, value);
          return RowVerdict::kContinue;
        });
    EXPECT_TRUE(read.ok()) << read;
    return rows;
  }

  std::unique_ptr<BackupRepository> backups_;
};

TEST_F(BackupReaderTest, ShowsTheTablesAndRowsOfTheMoment) {
  const RowMap then = rows_;
  Put({{"b", "later"}, {"z", "later"}});
  Reopen();
  CreateActive(database_.get(), PlainTable("later"));
  Back(backups_.get());
  const auto first = OpenReader(1);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->tables().size(), 3u);
  EXPECT_EQ(first->tables()[0].name, "empty");
  EXPECT_EQ(first->tables()[1].name, "indexed");
  EXPECT_EQ(first->tables()[1].global_indexes.size(), 2u);
  EXPECT_EQ(first->tables()[2].name, "t");
  EXPECT_EQ(ReadAll(first.get(), "t"), then);
  EXPECT_THAT(ReadAll(first.get(), "empty"), IsEmpty());
  const auto second = OpenReader(2);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->tables().size(), 4u);
  EXPECT_EQ(ReadAll(second.get(), "t"), rows_);
}

TEST_F(BackupReaderTest, EndsWhenItIsTold) {
  const auto reader = OpenReader(1);
  int calls = 0;
  const auto visit = [&](std::string_view, std::string_view) {
    return ++calls == 2 ? RowVerdict::kStop : RowVerdict::kContinue;
  };
  EXPECT_TRUE(reader->ReadTable(IdOf(*reader, "t"), visit).ok());
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(reader->ReadTable(IdOf(*reader, "empty"), visit).ok());
  EXPECT_EQ(reader->ReadTable(TableId(999), visit).code(), StatusCode::kNotFound);
  EXPECT_EQ(calls, 2);
}

TEST_F(BackupReaderTest, ChangesNothingAndKeepsItsBackup) {
  Put({{"d", "more"}});
  Back(backups_.get());
  const RowMap before = Tree(backups_path());
  auto reader = OpenReader(1);
  ReadAll(reader.get(), "t");
  EXPECT_EQ(backups_->Delete(1).code(), StatusCode::kFailedPrecondition);
  absl::StatusOr<std::vector<BackupId>> pruned = backups_->Prune(1, nullptr);
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(*pruned, IsEmpty());
  EXPECT_EQ(Tree(backups_path()), before);
  // Other backups are deleted and created meanwhile.
  ASSERT_TRUE(backups_->Delete(2).ok());
  Back(backups_.get());
  EXPECT_EQ(ReadAll(reader.get(), "t").size(), 3u);
  reader.reset();
  EXPECT_TRUE(backups_->Delete(1).ok());
}

TEST_F(BackupReaderTest, BackupsThatAreMissingOrDamagedAreRefused) {
  EXPECT_EQ(BackupReader::Open(LocalVolume(), backups_path(), 2).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(BackupReader::Open(LocalVolume(), dir_.path("nowhere"), 1).status().code(), StatusCode::kNotFound);
  WriteBytes(BackupFilePath("meta/1"), "x");
  EXPECT_EQ(BackupReader::Open(LocalVolume(), backups_path(), 1).status().code(), StatusCode::kDataLoss);
}

// Without Verify, the checksums of the rows detect the damage.
TEST_F(BackupReaderTest, FlippedBitInARowIsFoundWhenItIsRead) {
  for (const std::string& file : FilesIn(backups_path())) {
    if (!file.ends_with(".sst") || std::filesystem::file_size(BackupFilePath(file)) < 200'000) continue;
    DamageByte(BackupFilePath(file), 100'000);
  }
  const auto reader = OpenReader(1);
  const absl::Status read =
      reader->ReadTable(IdOf(*reader, "t"), [](std::string_view, std::string_view) { return RowVerdict::kContinue; });
  EXPECT_EQ(read.code(), StatusCode::kDataLoss) << read;
}

}  // namespace armature::store::backup_reader_test
