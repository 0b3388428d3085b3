#ifndef ARMATURE_TESTS_UNIT_STORAGE_ARCHIVE_ARCHIVE_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_STORAGE_ARCHIVE_ARCHIVE_TEST_UTIL_H_

// A database with an archive, whose turns the test runs itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "storage/archive/archive_check.h"
#include "storage/archive/archive_directory.h"
#include "storage/archive/archive_restore.h"
#include "storage/archive/shipper.h"
#include "storage/base/strings.h"
#include "storage/store/database.h"
#include "storage/store/wal/committed_log.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"

namespace armature::archive {

using store::RowMap;

inline std::string TextOf(const absl::Status& status) { return std::string(Sv(status.message())); }

class ArchiveTest : public testing::Test {
 protected:
  void SetUp() override {
    Open();
    store::CreateActive(database_.get(), store::PlainTable("t"));
  }

  store::DatabaseOptions Options() const {
    store::DatabaseOptions options = store::TestOptions(data_dir_);
    options.volume = volume_;
    options.disk_reserve = disk_reserve_;
    options.durability = durability_;
    options.archived_log.is_on = is_archived_;
    options.archived_log.wait_bytes_max = wait_bytes_max_;
    return options;
  }
  void Open() {
    database_ = store::OpenDatabase(Options());
    ASSERT_NE(database_, nullptr);
    NewShipper();
  }
  void NewShipper() {
    shipper_.reset();
    if (is_archived_)
      shipper_ = std::make_unique<Shipper>(database_.get(), ShipperOptions{.directory = archive_path()});
  }
  void Close() {
    shipper_.reset();
    database_.reset();
  }
  void Reopen() {
    Close();
    Open();
  }
  // Ends without the last segment, as a kill does: the next start finds it in the log.
  void Kill() {
    // The shipper would ship what is left.
    std::filesystem::rename(archive_path(), dir_.path("away"));
    std::filesystem::create_directories(archive_path());
    store::WriteBytes(archive_path() + "/foreign", "");
    Close();
    std::filesystem::remove_all(archive_path());
    std::filesystem::rename(dir_.path("away"), archive_path());
    Open();
  }

  // Writes rows, and returns a moment at which they are there and later ones are not.
  int64_t Put(const RowMap& rows) {
    store::PutRows(database_.get(), rows);
    for (const auto& [key, value] : rows) rows_[key] = value;
    return Moment();
  }
  int64_t Moment() {
    const int64_t now_ms = absl::ToUnixMillis(absl::Now());
    while (absl::ToUnixMillis(absl::Now()) == now_ms) {
    }
    models_.emplace_back(now_ms, rows_);
    return now_ms;
  }
  void Ship() {
    const absl::Status shipped = shipper_->Ship();
    EXPECT_TRUE(shipped.ok()) << shipped;
  }
  void MakeBase() {
    const absl::Status made = shipper_->MakeBase();
    EXPECT_TRUE(made.ok()) << made;
  }
  // A chain with a base.
  void Begin() {
    Ship();
    MakeBase();
    Moment();
  }
  // Moves the log to table files, so that it is not needed for a start.
  void FlushBySize() {
    Put({{"big", store::RandomBytes(400'000, 7)}});
    Put({{"big", store::RandomBytes(400'000, 8)}});
    Put({{"big", store::RandomBytes(400'000, 9)}});
    Put({{"big", store::RandomBytes(400'000, 10)}});
  }

  std::unique_ptr<ArchiveDirectory> OpenArchive() const {
    absl::StatusOr<std::unique_ptr<ArchiveDirectory>> opened = ArchiveDirectory::OpenToRead(archive_path());
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  Survey Surveyed() const {
    absl::StatusOr<Survey> survey = SurveyArchive(*OpenArchive());
    EXPECT_TRUE(survey.ok()) << survey.status();
    return *std::move(survey);
  }
  Survey Verified() const {
    absl::StatusOr<Survey> survey = VerifyArchive(*OpenArchive(), nullptr);
    EXPECT_TRUE(survey.ok()) << survey.status();
    return *std::move(survey);
  }
  absl::StatusOr<RestoreReport> Restore(const RestoreTarget& target) {
    restored_ = dir_.path(Cat("restored", ++restores_));
    return RestoreArchive(*OpenArchive(), target, store::LocalVolume(), restored_, nullptr);
  }
  absl::StatusOr<RestoreReport> RestoreAt(int64_t at_ms) { return Restore({.at_ms = at_ms}); }
  RowMap RestoredRows() const {
    const std::unique_ptr<store::Database> database = store::OpenDatabase(store::TestOptions(restored_));
    return database == nullptr ? RowMap() : store::RowsOf(*database);
  }
  void ExpectRestored(int64_t at_ms, const RowMap& rows) {
    const absl::StatusOr<RestoreReport> report = RestoreAt(at_ms);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(RestoredRows(), rows) << TimeText(at_ms);
  }

  // The log files that wait for the archive.
  std::vector<std::string> Waiting() const {
    std::vector<std::string> files = volume_->List(data_dir_ + "/archiving").value_or(std::vector<std::string>());
    std::erase_if(files, [](const std::string& file) { return !file.ends_with(".log"); });
    return files;
  }
  size_t chains() const { return Surveyed().chains.size(); }
  std::string last_reason() const { return Surveyed().chains.back().chain.reason; }

  size_t backups() const {
    absl::StatusOr<std::unique_ptr<store::BackupRepository>> bases =
        store::BackupRepository::Open(archive_path() + "/bases", {});
    return bases.ok() ? (*bases)->List()->size() : 0;
  }

  std::string archive_path() const { return dir_.path("archive"); }
  std::string SegmentPath(uint64_t index, uint64_t chain = 1) const { return OpenArchive()->SegmentPath(chain, index); }

  const test::TempDir dir_{store::FastDirectory()};
  store::Volume* volume_ = store::LocalVolume();  // of the database
  std::string data_dir_ = dir_.path("data");
  store::DiskReserve disk_reserve_;
  bool is_archived_ = true;
  store::Durability durability_ = store::Durability::kOs;
  uint64_t wait_bytes_max_ = uint64_t{1} << 30;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<Shipper> shipper_;
  RowMap rows_;
  std::vector<std::pair<int64_t, RowMap>> models_;
  std::string restored_;
  int restores_ = 0;
};

}  // namespace armature::archive

#endif  // ARMATURE_TESTS_UNIT_STORAGE_ARCHIVE_ARCHIVE_TEST_UTIL_H_
