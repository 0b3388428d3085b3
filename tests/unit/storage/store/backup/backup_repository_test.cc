// Backups are created, listed, deleted and restored.

#include "storage/store/backup/backup_repository.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/files/volume.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"

namespace armature::store::backup_repository_test {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Text(const absl::Status& status) { return std::string(Sv(status.message())); }

TEST_F(BackupTest, EachHoldsTheRowsOfItsMoment) {
  const auto backups = OpenBackups(backups_path());
  std::vector<RowMap> moments;
  for (int i = 0; i < 4; ++i) {
    Put({{"c", Cat("at ", i)}, {Cat("k", i), "new"}});
    if (i == 2) Reopen();
    Back(backups.get());
    moments.push_back(rows_);
  }
  Put({{"c", "after"}});
  ASSERT_THAT(IdsOf(backups.get()), ElementsAre(1, 2, 3, 4));
  for (BackupId id = 1; id <= 4; ++id) {
    EXPECT_TRUE(backups->Verify(id, nullptr).ok());
    EXPECT_EQ(Restored(backups.get(), id), moments[id - 1]) << id;
  }
}

TEST_F(BackupTest, IsDescribedByItsManifest) {
  const auto backups = OpenBackups(backups_path());
  const std::string note("a\0b\n: c", 7);
  const BackupEntry made = Back(backups.get(), note);
  const absl::StatusOr<BackupEntry> found = OpenBackups(backups_path(), BackupMode::kRead)->Find(1);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->id, 1u);
  EXPECT_EQ(found->note, note);
  EXPECT_EQ(found->database_id, database_->database_id());
  EXPECT_EQ(found->format_version, kFormatVersion);
  EXPECT_EQ(found->damage, "");
  EXPECT_GT(found->started_ms, 1'700'000'000'000);
  EXPECT_GE(found->finished_ms, found->started_ms);
  EXPECT_EQ(found->finished_ms, made.finished_ms);
  uint64_t bytes = 0;
  uint64_t files = 0;
  for (const auto& [name, content] : Tree(backups_path())) {
    if (!name.starts_with("private/") && !name.starts_with("shared_checksum/")) continue;
    bytes += content.size();
    files += 1;
  }
  EXPECT_EQ(found->size_bytes, bytes);
  EXPECT_EQ(found->added_bytes, bytes);
  EXPECT_EQ(found->file_count, files);
  EXPECT_GT(bytes, 200'000u);
}

TEST_F(BackupTest, CopiesOnlyWhatIsNew) {
  const auto backups = OpenBackups(backups_path());
  EXPECT_GT(Back(backups.get()).added_bytes, 200'000u);
  Put({{"d", "small"}});
  const BackupEntry second = Back(backups.get());
  EXPECT_GT(second.size_bytes, 200'000u);
  EXPECT_LT(second.added_bytes, 50'000u);
}

TEST_F(BackupTest, DeletedOnesTakeOnlyTheirOwnFiles) {
  const auto backups = OpenBackups(backups_path());
  Back(backups.get());
  Put({{"d", RandomBytes(100'000, 2)}});
  Reopen();
  Back(backups.get());
  const RowMap second = rows_;
  const std::vector<std::string> before = FilesIn(backups_path());
  ASSERT_TRUE(backups->Delete(1).ok());
  EXPECT_THAT(IdsOf(backups.get()), ElementsAre(2));
  EXPECT_LT(FilesIn(backups_path()).size(), before.size());
  EXPECT_EQ(Restored(backups.get(), 2), second);
  ASSERT_TRUE(backups->Delete(2).ok());
  EXPECT_THAT(FilesIn(backups_path()), ElementsAre("LOCK", "armature.backups"));
  EXPECT_EQ(backups->Delete(2).code(), StatusCode::kNotFound);
  EXPECT_EQ(backups->Verify(2, nullptr).code(), StatusCode::kNotFound);
  EXPECT_EQ(backups->Restore(2, LocalVolume(), dir_.path("x"), nullptr).code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(dir_.path("x")));
}

TEST_F(BackupTest, NumbersAreNeverUsedAgain) {
  {
    const auto backups = OpenBackups(backups_path());
    Back(backups.get());
    Back(backups.get());
    ASSERT_TRUE(backups->Delete(2).ok());
    EXPECT_EQ(Back(backups.get()).id, 3u);
    ASSERT_TRUE(backups->Delete(3).ok());
    ASSERT_TRUE(backups->Delete(1).ok());
  }
  const auto backups = OpenBackups(backups_path());
  EXPECT_EQ(Back(backups.get()).id, 4u);
  EXPECT_EQ(Restored(backups.get(), 4), rows_);
}

TEST_F(BackupTest, PruningKeepsTheNewestOfThoseThatMayGo) {
  const auto backups = OpenBackups(backups_path());
  for (int i = 1; i <= 6; ++i) Back(backups.get(), i % 2 == 0 ? "by hand" : "scheduled");
  const auto scheduled = [](const BackupEntry& entry) { return entry.note == "scheduled"; };
  absl::StatusOr<std::vector<BackupId>> pruned = backups->Prune(2, scheduled);
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(*pruned, ElementsAre(1));
  pruned = backups->Prune(0, scheduled);
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(*pruned, ElementsAre(3));
  pruned = backups->Prune(2, nullptr);
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(*pruned, ElementsAre(2, 4));
  EXPECT_THAT(IdsOf(backups.get()), ElementsAre(5, 6));
  EXPECT_EQ(Restored(backups.get(), 5), rows_);
}

TEST_F(BackupTest, AllThatWasAcknowledgedIsInItAndOfTheRestAPrefix) {
  CreateActive(database_.get(), PlainTable("u"));
  const auto backups = OpenBackups(backups_path());
  constexpr int kRowsPerBackup = 600;
  std::atomic<int> acknowledged = 0;
  std::atomic<int> allowed = 0;
  std::thread writer([&] {
    const std::shared_ptr<const CatalogSnapshot> catalog = database_->catalog();
    for (int i = 1; Eventually([&] { return allowed == -1 || i <= allowed; }) && allowed != -1; ++i) {
      WriteUnit unit(catalog);
      // Large rows cause flushes and new logs meanwhile.
      unit.Put(catalog->Find("t")->data, Cat("w", 1'000'000 + i), RandomBytes(5'000, static_cast<unsigned>(i)));
      unit.Put(catalog->Find("u")->data, Cat("w", 1'000'000 + i), "x");
      if (!CommitAndWait(database_.get(), std::move(unit)).ok()) return;
      acknowledged = i;
    }
  });
  std::vector<int> before;
  std::vector<int> after;
  for (int i = 0; i < 5; ++i) {
    const int seen = acknowledged;
    allowed = seen + kRowsPerBackup;
    EXPECT_TRUE(Eventually([&] { return acknowledged > seen; }));
    before.push_back(acknowledged);
    Back(backups.get());
    after.push_back(acknowledged);
  }
  allowed = -1;
  writer.join();
  for (size_t i = 0; i < before.size(); ++i) {
    const test::TempDir target(FastDirectory());
    ASSERT_TRUE(backups->Restore(static_cast<BackupId>(i + 1), LocalVolume(), target.path("data"), nullptr).ok());
    const auto restored = OpenDatabase(TestOptions(target.path("data")));
    const RowMap rows = RowsOf(*restored, "u");
    EXPECT_EQ(RowsOf(*restored).size(), rows.size() + 3);
    EXPECT_GE(static_cast<int>(rows.size()), before[i]);
    // A write in progress at the end may be included.
    EXPECT_LE(static_cast<int>(rows.size()), after[i] + 1);
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows.rbegin()->first, Cat("w", 1'000'000 + rows.size()));
  }
}

TEST_F(BackupTest, TablesComeAndGoMeanwhile) {
  const auto backups = OpenBackups(backups_path());
  std::atomic<bool> stop = false;
  std::atomic<int> created = 0;
  std::thread ddl([&] {
    for (int i = 0; !stop; ++i) {
      const std::string name = Cat("x", i);
      const auto catalog = CreateActive(database_.get(), PlainTable(name));
      WriteUnit unit(catalog);
      unit.Put(catalog->Find(name)->data, "row", "value");
      EXPECT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
      if (i >= 3) {
        EXPECT_TRUE(database_->tables().Delete(Cat("x", i - 3)).ok());
      }
      created = i + 1;
    }
  });
  std::vector<int> before;
  for (int i = 0; i < 6; ++i) {
    const int seen = created;
    EXPECT_TRUE(Eventually([&] { return created > seen; }));
    before.push_back(created);
    Back(backups.get());
  }
  stop = true;
  ddl.join();
  for (size_t i = 0; i < before.size(); ++i) {
    const test::TempDir target(FastDirectory());
    const auto id = static_cast<BackupId>(i + 1);
    EXPECT_TRUE(backups->Verify(id, nullptr).ok());
    ASSERT_TRUE(backups->Restore(id, LocalVolume(), target.path("data"), nullptr).ok());
    const auto restored = OpenDatabase(TestOptions(target.path("data")));
    ASSERT_NE(restored, nullptr);
    EXPECT_EQ(RowsOf(*restored), rows_);
    // The table that existed before, with its row, unless it was deleted since; and every other served table.
    for (const auto& [name, table] : restored->catalog()->tables()) {
      if (name == "t" || name == Cat("x", created.load())) continue;
      const bool is_last = std::stoi(name.substr(1)) >= before[i];
      EXPECT_TRUE(is_last || RowsOf(*restored, name).size() == 1) << name << " of backup " << id;
    }
  }
}

TEST_F(BackupTest, CancelledOnesLeaveNothing) {
  const auto backups = OpenBackups(backups_path());
  Back(backups.get());
  const RowMap before = Tree(backups_path());
  Put({{"d", RandomBytes(100'000, 2)}});
  Reopen();
  int calls = 0;
  uint64_t done = 0;
  ASSERT_TRUE(backups
                  ->Create(database_.get(), "",
                           [&](const BackupProgress& progress) {
                             ++calls;
                             EXPECT_LE(done, progress.done_bytes);
                             EXPECT_LE(progress.done_bytes, progress.total_bytes);
                             done = progress.done_bytes;
                             return true;
                           })
                  .ok());
  ASSERT_GT(calls, 10);
  ASSERT_TRUE(backups->Delete(2).ok());
  ASSERT_EQ(Tree(backups_path()), before);
  // Cancelled at the start, while files are copied, while they are verified, and at the very end.
  for (const int at : {1, 2, calls / 4, calls / 2, calls * 3 / 4, calls - 1}) {
    int call = 0;
    const absl::StatusOr<BackupEntry> made =
        backups->Create(database_.get(), "", [&](const BackupProgress&) { return ++call < at; });
    EXPECT_EQ(made.status().code(), StatusCode::kCancelled) << at << ": " << made.status();
    EXPECT_EQ(Tree(backups_path()), before) << at;
  }
  EXPECT_EQ(backups->Verify(1, [](const BackupProgress&) { return false; }).code(), StatusCode::kCancelled);
  Back(backups.get());
  EXPECT_EQ(Restored(backups.get(), IdsOf(backups.get()).back()), rows_);
}

TEST_F(BackupTest, RateIsLimited) {
  // A high limit: its effect on time is not measured here.
  const auto backups =
      BackupRepository::Open(backups_path(), {.mode = BackupMode::kWrite, .bytes_per_second_max = uint64_t{100} << 20});
  ASSERT_TRUE(backups.ok());
  Back(backups->get());
  EXPECT_TRUE((*backups)->Verify(1, nullptr).ok());
  EXPECT_EQ(Restored(backups->get(), 1), rows_);
}

TEST_F(BackupTest, OnlyOneProcessWrites) {
  const auto backups = OpenBackups(backups_path());
  Back(backups.get());
  const auto second = BackupRepository::Open(backups_path(), {.mode = BackupMode::kWrite});
  EXPECT_EQ(second.status().code(), StatusCode::kAborted);
  EXPECT_THAT(Text(second.status()), HasSubstr(backups_path() + " is being written by another process"));
  const auto reader = OpenBackups(backups_path(), BackupMode::kRead);
  EXPECT_THAT(IdsOf(reader.get()), ElementsAre(1));
  EXPECT_EQ(Restored(reader.get(), 1), rows_);
  EXPECT_EQ(reader->Delete(1).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(reader->Prune(1, nullptr).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(reader->Create(database_.get(), "", nullptr).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(BackupTest, IsNotDeletedWhileItIsRead) {
  const auto backups = OpenBackups(backups_path());
  Back(backups.get());
  Back(backups.get());
  bool tried = false;
  EXPECT_TRUE(OpenBackups(backups_path(), BackupMode::kRead)
                  ->Verify(1,
                           [&](const BackupProgress&) {
                             const absl::Status status = backups->Delete(1);
                             EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status;
                             tried = true;
                             return true;
                           })
                  .ok());
  EXPECT_TRUE(tried);
  EXPECT_TRUE(backups->Delete(1).ok());
}

TEST_F(BackupTest, ReadersChangeNothing) {
  Back(OpenBackups(backups_path()).get());
  std::filesystem::remove(BackupFilePath("LOCK"));
  // A leftover that a reader must not remove.
  WriteBytes(BackupFilePath("shared_checksum/000099_sX_1.sst"), "x");
  const std::vector<std::string> before = FilesIn(backups_path());
  const auto change = [&](mode_t mode) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(backups_path())) {
      if (!entry.is_directory()) continue;
      ASSERT_EQ(chmod(entry.path().c_str(), mode), 0);
    }
    ASSERT_EQ(chmod(backups_path().c_str(), mode), 0);
  };
  change(0555);
  const auto reader = OpenBackups(backups_path(), BackupMode::kRead);
  EXPECT_THAT(IdsOf(reader.get()), ElementsAre(1));
  EXPECT_TRUE(reader->Verify(1, nullptr).ok());
  EXPECT_EQ(Restored(reader.get(), 1), rows_);
  EXPECT_EQ(FilesIn(backups_path()), before);
  change(0755);
}

TEST_F(BackupTest, BackupsOfAnotherDatabaseAreNotMixedIn) {
  const auto backups = OpenBackups(backups_path());
  Back(backups.get());
  const auto other = OpenDatabase(TestOptions(dir_.path("other")));
  const RowMap before = Tree(backups_path());
  const absl::StatusOr<BackupEntry> made = backups->Create(other.get(), "", nullptr);
  EXPECT_EQ(made.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(Text(made.status()), HasSubstr("backups of another database (" + database_->database_id()));
  EXPECT_EQ(Tree(backups_path()), before);
}

TEST_F(BackupTest, NotesHaveABound) {
  const auto backups = OpenBackups(backups_path());
  EXPECT_EQ(Back(backups.get(), std::string(kBackupNoteBytesMax, 'n')).note.size(), kBackupNoteBytesMax);
  EXPECT_EQ(backups->Find(1)->note.size(), kBackupNoteBytesMax);
  EXPECT_EQ(backups->Create(database_.get(), std::string(kBackupNoteBytesMax + 1, 'n'), nullptr).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(BackupRepository, DirectoriesOfSomethingElseAreRefusedAndNotTouched) {
  const test::TempDir dir;
  const auto open = [&](BackupMode mode) { return BackupRepository::Open(dir.path("data"), {.mode = mode}).status(); };
  EXPECT_EQ(open(BackupMode::kRead).code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(dir.path("data")));
  std::filesystem::create_directory(dir.path("data"));
  EXPECT_EQ(open(BackupMode::kRead).code(), StatusCode::kNotFound);
  EXPECT_THAT(FilesIn(dir.path("data")), IsEmpty());
  WriteBytes(dir.path("data/precious"), "data");
  for (const BackupMode mode : {BackupMode::kRead, BackupMode::kWrite}) {
    EXPECT_EQ(open(mode).code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(Text(open(mode)), HasSubstr(dir.path("data")));
    EXPECT_THAT(FilesIn(dir.path("data")), ElementsAre("precious"));
  }
}

TEST(BackupRepository, FormatFilesOfOthersAreRefused) {
  for (const auto& [text, error] : {std::pair("armature backups\nformat: 2\nnext: 1\n", "has format 2; this build"),
                                    std::pair("armature backups\nformat: 1\n", "is damaged"),
                                    std::pair("armature backups\nnext: 1\n", "is damaged"),
                                    std::pair("armature database\nformat: 1\n", "is not the file of a backup")}) {
    const test::TempDir dir;
    ASSERT_NE(OpenBackups(dir.path("data")), nullptr);
    WriteBytes(dir.path("data/armature.backups"), text);
    for (const BackupMode mode : {BackupMode::kRead, BackupMode::kWrite}) {
      const absl::Status status = BackupRepository::Open(dir.path("data"), {.mode = mode}).status();
      EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << text;
      EXPECT_THAT(Text(status), HasSubstr(error));
    }
    EXPECT_EQ(ReadBytes(dir.path("data/armature.backups")), text);
  }
}

TEST(BackupRepository, EmptyOneHasNoBackups) {
  const test::TempDir dir;
  const auto backups = OpenBackups(dir.path("a/b/"));
  ASSERT_NE(backups, nullptr);
  EXPECT_EQ(backups->path(), dir.path("a/b"));
  EXPECT_THAT(IdsOf(backups.get()), IsEmpty());
  EXPECT_EQ(backups->Find(1).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(backups->Prune(1, nullptr).ok());
  EXPECT_THAT(IdsOf(OpenBackups(dir.path("a/b"), BackupMode::kRead).get()), IsEmpty());
}

}  // namespace armature::store::backup_repository_test
