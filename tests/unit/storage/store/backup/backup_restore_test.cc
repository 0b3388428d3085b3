// The target directory of a restore.

#include <algorithm>

#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"

namespace armature::store::backup_restore_test {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Text(const absl::Status& status) { return std::string(Sv(status.message())); }

class BackupRestoreTest : public BackupTest {
 protected:
  void SetUp() override {
    BackupTest::SetUp();
    backups_ = OpenBackups(backups_path());
    Back(backups_.get());
  }

  absl::Status Restore(const BackupObserver& observer = nullptr) {
    return backups_->Restore(1, LocalVolume(), target_, observer);
  }

  void ExpectRestored() {
    ASSERT_TRUE(Restore().ok());
    const auto restored = OpenDatabase(TestOptions(target_));
    ASSERT_NE(restored, nullptr);
    EXPECT_EQ(RowsOf(*restored), rows_);
    EXPECT_EQ(restored->database_id(), database_->database_id());
  }

  std::unique_ptr<BackupRepository> backups_;
  const std::string target_ = dir_.path("x/target");
};

TEST_F(BackupRestoreTest, MakesADataDirectoryAndNothingElse) {
  ASSERT_TRUE(Restore().ok());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(target_)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, ElementsAre("LOCK", "armature.format", "armature.place", "db"));
  // A backup has no register of log files.
  EXPECT_EQ(ReadBytes(target_ + "/armature.format") + "logs: 1\n", ReadBytes(dir_.path("data/armature.format")));
}

TEST_F(BackupRestoreTest, TakesWritesAndBackupsLikeAnyOther) {
  ExpectRestored();
  const auto restored = OpenDatabase(TestOptions(target_));
  PutRows(restored.get(), {{"z", "of the restored one"}});
  ASSERT_TRUE(backups_->Create(restored.get(), "", nullptr).ok());
  Put({{"y", "of the original"}});
  Back(backups_.get());
  EXPECT_EQ(Restored(backups_.get(), 3), rows_);
  EXPECT_EQ(Restored(backups_.get(), 2).count("z"), 1u);
}

TEST_F(BackupRestoreTest, DirectoriesInUseAreRefusedAndNotTouched) {
  // An open database, a closed one, and another file.
  const absl::Status open = backups_->Restore(1, LocalVolume(), dir_.path("data"), nullptr);
  EXPECT_EQ(open.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(Text(open), HasSubstr(dir_.path("data")));
  EXPECT_EQ(RowsOf(*database_), rows_);
  ASSERT_NE(OpenDatabase(TestOptions(target_)), nullptr);
  const RowMap before = Tree(target_);
  EXPECT_EQ(Restore().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Tree(target_), before);
  std::filesystem::create_directories(dir_.path("other"));
  WriteBytes(dir_.path("other/precious"), "data");
  EXPECT_EQ(backups_->Restore(1, LocalVolume(), dir_.path("other"), nullptr).code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(FilesIn(dir_.path("other")), ElementsAre("precious"));
  EXPECT_EQ(backups_->Restore(1, LocalVolume(), dir_.path("other/precious"), nullptr).code(),
            StatusCode::kFailedPrecondition);
}

// Leftovers of an interrupted start. If armature.new stayed, the next start would remove the restored database.
TEST_F(BackupRestoreTest, LeftoversOfAStartAreTakenOver) {
  std::filesystem::create_directories(target_);
  for (const std::string name : {"LOCK", "armature.new", "armature.format.new"}) WriteBytes(target_ + "/" + name, "");
  ExpectRestored();
}

TEST_F(BackupRestoreTest, CancelledOneLeavesAnEmptyDirectory) {
  int calls = 0;
  ASSERT_TRUE(backups_
                  ->Restore(1, LocalVolume(), dir_.path("counted"),
                            [&](const BackupProgress& progress) {
                              ++calls;
                              EXPECT_LE(progress.done_bytes, progress.total_bytes);
                              return true;
                            })
                  .ok());
  for (const int at : {1, calls / 4, calls / 2 + 3, calls - 1}) {
    int call = 0;
    EXPECT_EQ(Restore([&](const BackupProgress&) { return ++call < at; }).code(), StatusCode::kCancelled) << at;
    if (!std::filesystem::exists(target_)) continue;
    EXPECT_THAT(FilesIn(target_), ElementsAre("LOCK"));
    EXPECT_FALSE(std::filesystem::exists(target_ + "/db"));
  }
  ExpectRestored();
}

TEST_F(BackupRestoreTest, NoDaemonStartsInTheDirectoryMeanwhile) {
  bool tried = false;
  ASSERT_TRUE(Restore([&](const BackupProgress&) {
                if (!std::filesystem::exists(target_ + "/db")) return true;
                tried = true;
                EXPECT_EQ(Database::Open(TestOptions(target_)).status().code(), StatusCode::kFailedPrecondition);
                EXPECT_EQ(
                    OpenBackups(backups_path(), BackupMode::kRead)->Restore(1, LocalVolume(), target_, nullptr).code(),
                    StatusCode::kFailedPrecondition);
                return true;
              }).ok());
  EXPECT_TRUE(tried);
  ASSERT_NE(OpenDatabase(TestOptions(target_)), nullptr);
}

TEST_F(BackupRestoreTest, UnfinishedOneIsRefusedUntilItIsRestoredAgain) {
  ASSERT_TRUE(Restore().ok());
  WriteBytes(target_ + "/armature.restoring", "");
  WriteBytes(target_ + "/db/CURRENT", "damaged");
  WriteBytes(target_ + "/db/stray.sst", "of the attempt before");
  const RowMap before = Tree(target_);
  const absl::Status opened = Database::Open(TestOptions(target_)).status();
  EXPECT_EQ(opened.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Text(opened),
            "data directory " + target_ + ": restoring it did not finish: run the restore again or remove it");
  EXPECT_EQ(Tree(target_), before);
  // Files that no restore creates belong to the user.
  WriteBytes(target_ + "/precious", "data");
  EXPECT_EQ(Restore().code(), StatusCode::kFailedPrecondition);
  std::filesystem::remove(target_ + "/precious");
  EXPECT_EQ(Tree(target_), before);
  ExpectRestored();
  EXPECT_FALSE(std::filesystem::exists(target_ + "/db/stray.sst"));
}

}  // namespace armature::store::backup_restore_test
