// Processes killed while they create, delete or restore a backup.

#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "storage/base/strings.h"
#include "tests/support/fault_points.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"
#include "tests/unit/storage/store/child_process.h"

namespace armature::store::backup_crash_test {

using absl::StatusCode;
using testing::ElementsAre;

constexpr char kActionVariable[] = "ARMATURE_TEST_BACKUP_ACTION";
constexpr char kRootVariable[] = "ARMATURE_TEST_BACKUP_ROOT";

// Runs in a child process that another test starts.
TEST(BackupChild, DISABLED_Acts) {
  const char* const action = getenv(kActionVariable);
  const char* const root = getenv(kRootVariable);
  if (action == nullptr || root == nullptr) GTEST_SKIP() << "not started by a test";
  const std::string directory = root;
  const auto backups = OpenBackups(directory + "/backups");
  ASSERT_NE(backups, nullptr);
  if (action == std::string("create")) {
    const auto database = OpenDatabase(TestOptions(directory + "/data"));
    ASSERT_TRUE(backups->Create(database.get(), "", nullptr).ok());
  } else if (action == std::string("delete")) {
    ASSERT_TRUE(backups->Delete(1).ok());
  } else {
    ASSERT_TRUE(backups->Restore(1, LocalVolume(), directory + "/target", nullptr).ok());
  }
}

enum class Ending { kKilled, kDone, kFailed };

// Runs `action` in a child process that is killed at the `passing`-th pass of `point`.
Ending Act(const std::string& action, const std::string& root, const std::string& point, int passing) {
  const std::optional<int> status =
      RunChild("BackupChild.DISABLED_Acts",
               {{kActionVariable, action}, {kRootVariable, root}, {"ARMATURE_FAULT_POINT", Cat(point, ":", passing)}});
  if (!status.has_value()) return Ending::kFailed;
  if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL) return Ending::kKilled;
  return WIFEXITED(*status) && WEXITSTATUS(*status) == 0 ? Ending::kDone : Ending::kFailed;
}

class BackupCrashTest : public BackupTest {
 protected:
  void SetUp() override {
    test::SkipWithoutFaultPoints();
    if (IsSkipped()) return;
    BackupTest::SetUp();
    Back(OpenBackups(backups_path()).get());
    first_rows_ = rows_;
  }

  std::string root() const { return dir_.path(); }

  RowMap first_rows_;
};

TEST_F(BackupCrashTest, BackupThatWasCutOffIsNoneAndIsCleanedAway) {
  Put({{"d", RandomBytes(50'000, 2)}});
  database_.reset();
  const RowMap before = Tree(backups_path());
  const std::pair<const char*, int> points[] = {{"backup.write", 1},
                                                {"backup.write", 3},
                                                {"backup.write", 4},
                                                {"backup.copied", 1},
                                                {"backup.before_manifest", 1}};
  for (const auto& [point, passing] : points) {
    SCOPED_TRACE(Cat(point, ":", passing));
    ASSERT_EQ(Act("create", root(), point, passing), Ending::kKilled);
    EXPECT_NE(Tree(backups_path()), before);
    const auto reader = OpenBackups(backups_path(), BackupMode::kRead);
    EXPECT_THAT(IdsOf(reader.get()), ElementsAre(1));
    EXPECT_TRUE(reader->Verify(1, nullptr).ok());
    ASSERT_NE(OpenBackups(backups_path()), nullptr);
    EXPECT_EQ(Tree(backups_path()), before);
  }
  // After its manifest is written, the backup exists.
  ASSERT_EQ(Act("create", root(), "backup.made", 1), Ending::kKilled);
  database_ = OpenDatabase(TestOptions(dir_.path("data")));
  const auto backups = OpenBackups(backups_path());
  const std::vector<BackupId> ids = IdsOf(backups.get());
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(Restored(backups.get(), 1), first_rows_);
  EXPECT_EQ(Restored(backups.get(), ids.back()), rows_);
}

// The next backup is created over the leftovers: they are not cleaned up while another backup is damaged.
TEST_F(BackupCrashTest, LeftoversDoNotDisturbWhileOneIsDamaged) {
  Put({{"d", RandomBytes(50'000, 2)}});
  database_.reset();
  const std::string meta = ReadBytes(BackupFilePath("meta/1"));
  WriteBytes(BackupFilePath("meta/1"), "x");
  for (const int passing : {1, 3, 5}) {
    ASSERT_EQ(Act("create", root(), "backup.write", passing), Ending::kKilled);
  }
  ASSERT_EQ(Act("create", root(), "backup.copied", 1), Ending::kKilled);
  database_ = OpenDatabase(TestOptions(dir_.path("data")));
  auto backups = OpenBackups(backups_path());
  const BackupEntry made = Back(backups.get());
  EXPECT_EQ(Restored(backups.get(), made.id), rows_);
  WriteBytes(BackupFilePath("meta/1"), meta);
  EXPECT_EQ(Restored(backups.get(), 1), first_rows_);
  backups.reset();
  const size_t files = FilesIn(backups_path()).size();
  backups = OpenBackups(backups_path());
  EXPECT_LT(FilesIn(backups_path()).size(), files);
  EXPECT_TRUE(backups->Verify(1, nullptr).ok());
  EXPECT_EQ(Restored(backups.get(), made.id), rows_);
}

TEST_F(BackupCrashTest, DeletionThatWasCutOffIsFinished) {
  Back(OpenBackups(backups_path()).get());
  ASSERT_EQ(Act("delete", root(), "backup.manifest_removed", 1), Ending::kKilled);
  EXPECT_THAT(IdsOf(OpenBackups(backups_path(), BackupMode::kRead).get()), ElementsAre(2));
  ASSERT_EQ(Act("create", root(), "backup.remove", 2), Ending::kKilled);
  EXPECT_TRUE(OpenBackups(backups_path(), BackupMode::kRead)->Verify(2, nullptr).ok());
  const auto backups = OpenBackups(backups_path());
  EXPECT_FALSE(std::filesystem::exists(BackupFilePath("private/1")));
  EXPECT_FALSE(std::filesystem::exists(BackupFilePath("meta/1")));
  EXPECT_EQ(Restored(backups.get(), 2), first_rows_);
  EXPECT_EQ(Back(backups.get()).id, 3u);
}

TEST_F(BackupCrashTest, RestoreThatWasCutOffIsDoneAgain) {
  const std::string target = dir_.path("target");
  for (const auto& [point, passing] :
       {std::pair("restore.marked", 1), std::pair("backup.write", 1), std::pair("backup.write", 4),
        std::pair("restore.copied", 1), std::pair("restore.before_format", 1), std::pair("restore.before_finish", 1)}) {
    SCOPED_TRACE(Cat(point, ":", passing));
    ASSERT_EQ(Act("restore", root(), point, passing), Ending::kKilled);
    EXPECT_EQ(Database::Open(TestOptions(target)).status().code(), StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(Act("restore", root(), "nowhere", 1), Ending::kDone);
  const auto restored = OpenDatabase(TestOptions(target));
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(RowsOf(*restored), first_rows_);
}

}  // namespace armature::store::backup_crash_test
