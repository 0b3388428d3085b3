#include "storage/store/database_copy.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/database.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/store/files/memory_volume.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::database_copy_test {

constexpr char kFrom[] = "/from";
constexpr char kTo[] = "/copies/to";
constexpr int kRows = 400;

std::unique_ptr<Database> OpenIn(Volume* volume, const std::string& path) {
  DatabaseOptions options = TestOptions(path);
  options.volume = volume;
  options.durability = Durability::kSync;
  return OpenDatabase(options);
}

std::string KeyOf(int row) { return Cat("key", row); }
std::string ValueOfRow(int row) { return Cat(row, std::string(5'000, 'v')); }

// A database with table files and a log.
void MakeDatabase(Volume* volume, const std::string& path) {
  const auto database = OpenIn(volume, path);
  ASSERT_NE(database, nullptr);
  const auto catalog = CreateActive(database.get(), PlainTable("t"));
  for (int row = 0; row < kRows; ++row) {
    WriteUnit unit(catalog);
    unit.Put(catalog->Find("t")->data, KeyOf(row), ValueOfRow(row));
    ASSERT_TRUE(CommitAndWait(database.get(), std::move(unit)).ok());
  }
}

void CheckDatabase(Volume* volume, const std::string& path) {
  const auto database = OpenIn(volume, path);
  ASSERT_NE(database, nullptr);
  for (int row = 0; row < kRows; ++row) {
    ASSERT_EQ(ValueOf(*database, database->catalog()->Find("t")->data, KeyOf(row)), ValueOfRow(row)) << row;
  }
}

class DatabaseCopy : public testing::Test {
 protected:
  DatabaseCopy() { MakeDatabase(volume_.get(), kFrom); }

  absl::Status Copy(const std::string& to = kTo) {
    return CopyDatabase(volume_.get(), kFrom, volume_.get(), to, nullptr);
  }

  MemoryDisk disk_;
  std::unique_ptr<Volume> volume_ = disk_.Mount();
};

TEST_F(DatabaseCopy, IsTheDatabaseAlsoOnAnotherVolumeAndAfterACrash) {
  test::TempDir local;
  const std::string path = local.path("data");
  uint64_t last = 0;
  uint64_t total = 0;
  ASSERT_TRUE(CopyDatabase(volume_.get(), kFrom, LocalVolume(), path, [&](uint64_t done, uint64_t all) {
                EXPECT_GE(done, last);
                last = done;
                total = all;
              }).ok());
  EXPECT_GT(last, uint64_t{kRows} * 5'000);
  EXPECT_EQ(last, total);
  ASSERT_TRUE(CopyDatabase(LocalVolume(), path, volume_.get(), kTo, nullptr).ok());
  disk_.Crash();
  const auto after = disk_.Mount();
  EXPECT_EQ(after->Read(Cat(kTo, kDataFormatFile)).value_or(""),
            after->Read(Cat(kFrom, kDataFormatFile)).value_or("-"));
  CheckDatabase(after.get(), kTo);
  CheckDatabase(after.get(), kFrom);
  CheckDatabase(LocalVolume(), path);
}

TEST_F(DatabaseCopy, RefusesWhatIsNoDatabaseInUseOrNotEmpty) {
  EXPECT_EQ(CopyDatabase(volume_.get(), "/none", volume_.get(), kTo, nullptr).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(volume_->Exists("/none").value_or(true));
  ASSERT_TRUE(volume_->MakeDirectories("/full").ok() && volume_->WriteDurably("/full/file", "x").ok());
  EXPECT_EQ(Copy("/full").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Copy(kFrom).code(), absl::StatusCode::kFailedPrecondition);
  {
    const auto database = OpenIn(volume_.get(), kFrom);
    EXPECT_EQ(Copy().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_TRUE(Copy().ok());
  EXPECT_EQ(Copy().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DatabaseCopy, AnErrorLeavesNothing) {
  int left = 0;
  bool is_whole = false;
  for (int fail_at = 0; fail_at < 2'000; fail_at += 7) {
    left = fail_at;
    disk_.SetFault([&left](MemoryDisk::Action, std::string_view path) {
      if (!path.starts_with("/copies") || left-- > 0) return absl::OkStatus();
      return left < -1 ? absl::OkStatus() : absl::UnavailableError("fault");
    });
    const absl::Status copied = Copy();
    disk_.SetFault(nullptr);
    // The last sync may fail when the copy is complete.
    is_whole = copied.ok() || (volume_->Exists(Cat(kTo, kDataFormatFile)).value_or(false) &&
                               !volume_->Exists(Cat(kTo, kDataRestoringFile)).value_or(true));
    if (is_whole) break;
    EXPECT_FALSE(volume_->Exists(Cat(kTo, kDataFormatFile)).value_or(true)) << fail_at << copied;
  }
  EXPECT_TRUE(is_whole);
  CheckDatabase(volume_.get(), kTo);
  CheckDatabase(volume_.get(), kFrom);
}

TEST_F(DatabaseCopy, AnInterruptedCopyIsRefusedAtAStartAndReplacedByTheNext) {
  bool is_whole = false;
  for (int writes = 2; !is_whole; writes += 9) {
    int left = writes;
    disk_.SetFault([&](MemoryDisk::Action action, std::string_view path) {
      const bool counts = action != MemoryDisk::Action::kRead && path.starts_with("/copies");
      // Nothing reaches the disk any more, not even the removal of what was begun.
      return counts && left-- <= 0 ? absl::UnavailableError("dead") : absl::OkStatus();
    });
    is_whole = Copy().ok();
    disk_.Crash();
    disk_.SetFault(nullptr);
    volume_ = disk_.Mount();
    if (is_whole) break;
    DatabaseOptions options = TestOptions(kTo);
    options.volume = volume_.get();
    const bool is_marked = volume_->Exists(Cat(kTo, kDataRestoringFile)).value_or(false);
    if (is_marked) {
      EXPECT_EQ(Database::Open(options).status().code(), absl::StatusCode::kFailedPrecondition) << writes;
    } else {
      EXPECT_FALSE(volume_->Exists(Cat(kTo, kDataFormatFile)).value_or(true)) << writes;
    }
    ASSERT_LT(writes, 10'000);
  }
  CheckDatabase(volume_.get(), kTo);
}

}  // namespace armature::store::database_copy_test
