// Backups with damaged or missing files.

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>

#include "storage/base/strings.h"
#include "storage/store/database.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"

namespace armature::store::backup_damage_test {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string Text(const absl::Status& status) { return std::string(Sv(status.message())); }

class BackupDamageTest : public BackupTest {
 protected:
  // Makes backup 1 and writes more rows.
  void SetUp() override {
    BackupTest::SetUp();
    Back(backups_.get(), "a note");
    first_rows_ = rows_;
    Put({{"d", RandomBytes(50'000, 2)}});
    Reopen();
  }

  std::string Absolute(const std::string& file) const { return backups_path() + "/" + file; }

  // The files of the only backup.
  std::vector<std::string> BackupFiles() const {
    std::vector<std::string> files = FilesIn(backups_path());
    std::erase_if(files, [](const std::string& file) { return file == "LOCK" || file == "armature.backups"; });
    return files;
  }

  void ExpectRefused(BackupId id, const std::string& file) {
    const auto reader = OpenBackups(backups_path(), BackupMode::kRead);
    const absl::Status verified = reader->Verify(id, nullptr);
    EXPECT_EQ(verified.code(), StatusCode::kDataLoss) << file << ": " << verified;
    EXPECT_THAT(Text(verified), HasSubstr(Absolute(file)));
    const absl::Status restored = reader->Restore(id, LocalVolume(), dir_.path("target"), nullptr);
    EXPECT_EQ(restored.code(), StatusCode::kDataLoss) << file << ": " << restored;
    EXPECT_THAT(Text(restored), HasSubstr(Absolute(file)));
    EXPECT_FALSE(std::filesystem::exists(dir_.path("target")));
  }

  // The only file whose name contains `part`.
  std::string FileLike(std::string_view part) const {
    for (const std::string& file : BackupFiles()) {
      if (file.find(part) != std::string::npos) return file;
    }
    ADD_FAILURE() << "no file like " << part;
    return "";
  }

  std::unique_ptr<BackupRepository> backups_ = OpenBackups(backups_path());
  RowMap first_rows_;
};

TEST_F(BackupDamageTest, FlippedBitsAreFoundInEveryFile) {
  const std::vector<std::string> files = BackupFiles();
  // Our manifest, RocksDB's metadata, log, MANIFEST, CURRENT and table files.
  ASSERT_GE(files.size(), 6u);
  for (const std::string& file : files) {
    const std::string whole = ReadBytes(Absolute(file));
    for (const size_t at : {size_t{0}, whole.size() / 2, whole.size() - 1}) {
      SCOPED_TRACE(Cat(file, " at ", at));
      DamageByte(Absolute(file), at);
      ExpectRefused(1, file);
      const bool is_seen = file.starts_with("manifests/") || file.starts_with("meta/");
      EXPECT_EQ(DamageOf(backups_.get(), 1).find(Absolute(file)) != std::string::npos, is_seen);
      WriteBytes(Absolute(file), whole);
    }
  }
  EXPECT_EQ(DamageOf(backups_.get(), 1), "");
  EXPECT_EQ(Restored(backups_.get(), 1), first_rows_);
}

TEST_F(BackupDamageTest, CutAndMissingFilesAreSeenWithoutReading) {
  for (const std::string& file : BackupFiles()) {
    SCOPED_TRACE(file);
    const std::string whole = ReadBytes(Absolute(file));
    for (const std::string& other : {whole.substr(0, whole.size() - 1), whole + "x", std::string()}) {
      WriteBytes(Absolute(file), other);
      ExpectRefused(1, file);
      EXPECT_THAT(DamageOf(backups_.get(), 1), HasSubstr(Absolute(file)));
    }
    std::filesystem::remove(Absolute(file));
    if (file.starts_with("manifests/")) {
      EXPECT_EQ(backups_->Verify(1, nullptr).code(), StatusCode::kNotFound);
    } else {
      ExpectRefused(1, file);
      EXPECT_THAT(DamageOf(backups_.get(), 1), HasSubstr(Absolute(file) + " is missing"));
      EXPECT_THAT(IdsOf(backups_.get()), ElementsAre(1));
    }
    WriteBytes(Absolute(file), whole);
  }
  EXPECT_EQ(Restored(backups_.get(), 1), first_rows_);
}

TEST_F(BackupDamageTest, ManifestOfAnotherBackupIsNotTakenForThisOne) {
  Back(backups_.get());
  std::filesystem::copy_file(Absolute("manifests/1"), Absolute("manifests/2"),
                             std::filesystem::copy_options::overwrite_existing);
  ExpectRefused(2, "manifests/2");
  EXPECT_EQ(Restored(backups_.get(), 1), first_rows_);
}

// Whatever file of backup 1 is damaged: other backups can be created, restored and deleted, and putting the file back
// repairs backup 1.
TEST_F(BackupDamageTest, DamagedOneKeepsAllItMayNeed) {
  for (const std::string& file : {std::string("manifests/1"), std::string("meta/1"), FileLike("private/1/MANIFEST"),
                                  FileLike(".log"), FileLike(".sst")}) {
    SCOPED_TRACE(file);
    const std::string whole = ReadBytes(Absolute(file));
    for (const bool is_missing : {false, true}) {
      if (is_missing && file.starts_with("manifests/")) continue;
      SCOPED_TRACE(is_missing);
      const RowMap before = Tree(backups_path());
      is_missing ? static_cast<void>(std::filesystem::remove(Absolute(file))) : WriteBytes(Absolute(file), "x");
      // Opening does not clean up while a backup is damaged.
      backups_.reset();
      const RowMap damaged = Tree(backups_path());
      backups_ = OpenBackups(backups_path());
      EXPECT_EQ(Tree(backups_path()), damaged);
      EXPECT_EQ(backups_->Prune(1, nullptr).status().code(), StatusCode::kFailedPrecondition);
      EXPECT_EQ(backups_->Create(database_.get(), "", [](const BackupProgress&) { return false; }).status().code(),
                StatusCode::kCancelled);
      EXPECT_EQ(Tree(backups_path()), damaged);
      const absl::StatusOr<BackupEntry> made = backups_->Create(database_.get(), "", nullptr);
      // A truncated table file that both backups need.
      if (!made.ok() && file.ends_with(".sst")) {
        EXPECT_EQ(made.status().code(), StatusCode::kDataLoss);
      } else {
        ASSERT_TRUE(made.ok()) << made.status();
        EXPECT_EQ(Restored(backups_.get(), made->id), rows_);
        ASSERT_TRUE(backups_->Delete(made->id).ok());
      }
      WriteBytes(Absolute(file), whole);
      EXPECT_EQ(Restored(backups_.get(), 1), first_rows_);
      for (const auto& [name, content] : before) EXPECT_EQ(ReadBytes(Absolute(name)), content) << name;
      // No backup is damaged any more: leftovers are cleaned up.
      backups_.reset();
      backups_ = OpenBackups(backups_path());
      EXPECT_EQ(Tree(backups_path()), before);
    }
  }
}

TEST_F(BackupDamageTest, DamagedOneGoesWhenItIsNamed) {
  Back(backups_.get());
  for (const std::string file : {"meta/1", "manifests/1"}) WriteBytes(Absolute(file), "x");
  ASSERT_TRUE(backups_->Delete(1).ok());
  EXPECT_THAT(IdsOf(backups_.get()), ElementsAre(2));
  for (const std::string& file : FilesIn(backups_path())) EXPECT_THAT(file, Not(HasSubstr("/1"))) << file;
  EXPECT_EQ(Restored(backups_.get(), 2), rows_);
}

// RocksDB derives the numbers of its backups from the files it finds.
TEST_F(BackupDamageTest, LostNumbersOfRocksAreNotUsedAgain) {
  const RowMap before = Tree(backups_path());
  std::filesystem::remove(Absolute("meta/1"));
  EXPECT_EQ(Back(backups_.get()).id, 2u);
  EXPECT_FALSE(std::filesystem::exists(Absolute("meta/1")));
  EXPECT_TRUE(std::filesystem::exists(Absolute("meta/2")));
  ASSERT_TRUE(backups_->Delete(1).ok());
  EXPECT_EQ(Restored(backups_.get(), 2), rows_);
}

// Another tool may reuse the number.
TEST_F(BackupDamageTest, NumberThatWasUsedTwiceBelongsToTheOneThatIsWhole) {
  const std::string first = ReadBytes(Absolute("manifests/1"));
  ASSERT_TRUE(backups_->Delete(1).ok());
  backups_.reset();
  EXPECT_EQ(Back(OpenBackups(backups_path()).get()).id, 2u);
  ASSERT_TRUE(std::filesystem::exists(Absolute("meta/1")));
  WriteBytes(Absolute("manifests/1"), first);
  backups_ = OpenBackups(backups_path());
  EXPECT_THAT(DamageOf(backups_.get(), 1), HasSubstr(Absolute("meta/1")));
  EXPECT_EQ(DamageOf(backups_.get(), 2), "");
  ASSERT_TRUE(backups_->Delete(1).ok());
  EXPECT_EQ(Restored(backups_.get(), 2), rows_);
}

TEST_F(BackupDamageTest, LostDirectoryOfManifestsIsNotTakenForNoBackups) {
  const RowMap before = Tree(backups_path());
  backups_.reset();
  std::filesystem::rename(Absolute("manifests"), dir_.path("elsewhere"));
  const auto opened = BackupRepository::Open(backups_path(), {.mode = BackupMode::kWrite});
  EXPECT_EQ(opened.status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(Text(opened.status()), HasSubstr(Absolute("manifests is missing")));
  std::filesystem::rename(dir_.path("elsewhere"), Absolute("manifests"));
  EXPECT_EQ(Tree(backups_path()), before);
}

// Limits the size of all files that this process writes to `bytes`.
class FilesAreFull {
 public:
  explicit FilesAreFull(rlim_t bytes) {
    // Otherwise SIGXFSZ ends the process.
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit full = before_;
    full.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FilesAreFull() { setrlimit(RLIMIT_FSIZE, &before_); }
  FilesAreFull(const FilesAreFull&) = delete;
  FilesAreFull& operator=(const FilesAreFull&) = delete;

 private:
  rlimit before_ = {};
};

TEST_F(BackupDamageTest, FullDiskOfBackupsDoesNotHurtTheDatabase) {
  const RowMap before = Tree(backups_path());
  // One limit fails data files, the other all files.
  Put({{"e", RandomBytes(300'000, 3)}});
  Reopen();
  for (const rlim_t bytes : {100'000, 0}) {
    {
      const FilesAreFull full(bytes);
      const absl::StatusOr<BackupEntry> made = backups_->Create(database_.get(), "", nullptr);
      EXPECT_EQ(made.status().code(), StatusCode::kResourceExhausted) << made.status();
      EXPECT_EQ(Tree(backups_path()), before);
      const absl::Status restored = backups_->Restore(1, LocalVolume(), dir_.path("target"), nullptr);
      EXPECT_EQ(restored.code(), StatusCode::kResourceExhausted) << restored;
    }
    Put({{"f", Cat("after ", bytes)}});
    EXPECT_FALSE(database_->disk_report().has_failed);
    EXPECT_EQ(database_->disk_report().failures_total, 0u);
  }
  const BackupEntry made = Back(backups_.get());
  EXPECT_EQ(Restored(backups_.get(), made.id), rows_);
  ASSERT_TRUE(backups_->Restore(1, LocalVolume(), dir_.path("target"), nullptr).ok());
}

}  // namespace armature::store::backup_damage_test
