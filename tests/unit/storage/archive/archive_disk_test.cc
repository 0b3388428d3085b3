// An archive of a database whose disk loses writes, fails, or has no space.

#include <atomic>
#include <limits>

#include "storage/archive/shipper.h"
#include "tests/unit/storage/archive/archive_test_util.h"
#include "tests/unit/storage/store/files/memory_volume.h"

namespace armature::archive::archive_disk_test {

using Action = store::MemoryDisk::Action;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The database is in memory, the archive is not.
class ArchiveDiskTest : public ArchiveTest {
 protected:
  void SetUp() override {
    volume_ = memory_.get();
    data_dir_ = "/armature-in-memory/data";
    ArchiveTest::SetUp();
  }
  ~ArchiveDiskTest() override {
    disk_.SetFault(nullptr);
    Close();
  }

  // Leaves `free_percent` of the disk free.
  void FillDisk(uint64_t free_percent) {
    // Openings need more than the small rest of a small disk.
    ASSERT_TRUE(volume_->Allocate("/armature-in-memory/filler", size_t{64} << 20).ok());
    const store::DiskUsage usage = *volume_->Measure(data_dir_);
    disk_.SetSize((usage.total_bytes - usage.free_bytes) * 100 / (100 - free_percent));
  }

  store::MemoryDisk disk_;
  std::unique_ptr<store::Volume> memory_ = disk_.Mount();
};

bool IsLog(std::string_view path) { return path.ends_with(".log"); }

// Else a power cut takes writes that the base has, and their numbers come again.
TEST_F(ArchiveDiskTest, WhatABaseHasIsDurable) {
  Begin();
  Put({{"a", "1"}});
  MakeBase();
  const absl::StatusOr<store::LogChunk> log =
      database_->committed_log()->Read(Surveyed().chains[0].chain.start, std::numeric_limits<size_t>::max());
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_FALSE(log->batches.empty());
  EXPECT_EQ(log->batches.back().sequence + log->batches.back().writes - 1, database_->committed_log()->last_sequence());
}

TEST_F(ArchiveDiskTest, ABaseWhoseLogCannotBeSyncedIsNone) {
  Begin();
  Put({{"a", "1"}});
  disk_.SetFault([](Action action, std::string_view path) {
    return action == Action::kSync && IsLog(path) ? absl::UnavailableError("fault") : absl::OkStatus();
  });
  EXPECT_FALSE(shipper_->MakeBase().ok());
  EXPECT_THAT(Surveyed().chains[0].bases, SizeIs(1));
  EXPECT_EQ(backups(), 1u);
}

// The log that waits does not stop clients.
TEST_F(ArchiveDiskTest, ALogThatWaitsGivesWayWhenTheDiskFills) {
  disk_reserve_ = {.bytes = std::numeric_limits<uint64_t>::max(), .percent = 20};
  Begin();
  FlushBySize();
  Kill();
  ASSERT_THAT(Waiting(), testing::Not(IsEmpty()));
  FillDisk(22);
  EXPECT_TRUE(store::Eventually([&] { return Waiting().empty(); }));
  const int64_t at = Put({{"a", "1"}});
  Ship();
  ASSERT_EQ(chains(), 2u);
  EXPECT_THAT(last_reason(), HasSubstr("the disk of the database is nearly full"));
  MakeBase();
  EXPECT_TRUE(absl::IsFailedPrecondition(RestoreAt(at).status()));
  const int64_t later = Put({{"b", "2"}});
  Ship();
  ExpectRestored(later, rows_);
}

TEST_F(ArchiveDiskTest, NoLogWaitsOnADiskThatIsNearlyFull) {
  disk_reserve_ = {.bytes = std::numeric_limits<uint64_t>::max(), .percent = 20};
  Begin();
  FlushBySize();
  FillDisk(22);
  Kill();
  EXPECT_THAT(Waiting(), IsEmpty());
  Put({{"a", "1"}});
  Ship();
  EXPECT_EQ(chains(), 2u);
}

// Files that the reader is about to read may go at any moment.
TEST_F(ArchiveDiskTest, NoSegmentHasAHole) {
  Begin();
  Put({{"a", "1"}});
  Kill();
  Put({{"a", "2"}});
  Kill();
  Put({{"a", "3"}});
  ASSERT_THAT(Waiting(), SizeIs(2));
  std::atomic<bool> is_lost = false;
  disk_.SetFault([&](Action action, std::string_view path) {
    if (action != Action::kRead || path != data_dir_ + "/db" || is_lost.exchange(true)) return absl::OkStatus();
    return database_->committed_log()->Begin("another reader").status();
  });
  const uint64_t segments = shipper_->stats().segments_total;
  EXPECT_FALSE(shipper_->Ship().ok());
  disk_.SetFault(nullptr);
  EXPECT_TRUE(is_lost);
  EXPECT_EQ(shipper_->stats().segments_total, segments);
  Ship();
  EXPECT_EQ(chains(), 2u);
  EXPECT_THAT(Verified().breaks, IsEmpty());
}

// The end of the promise must last, also if its file cannot be removed at once.
TEST_F(ArchiveDiskTest, ALossIsRememberedThoughItsFileCannotBeRemoved) {
  disk_reserve_ = {.bytes = std::numeric_limits<uint64_t>::max(), .percent = 20};
  Begin();
  FlushBySize();
  Kill();
  const std::string state = data_dir_ + "/archiving/state";
  disk_.SetFault([state](Action action, std::string_view path) {
    return action == Action::kName && path == state ? absl::UnavailableError("fault") : absl::OkStatus();
  });
  FillDisk(22);
  ASSERT_TRUE(store::Eventually([&] { return database_->committed_log()->owner().empty(); }));
  disk_.SetFault(nullptr);
  disk_.SetSize(uint64_t{1} << 30);
  EXPECT_TRUE(store::Eventually([&] { return !volume_->Exists(state).value_or(true); }));
  Kill();
  Ship();
  EXPECT_EQ(chains(), 2u);
}

}  // namespace armature::archive::archive_disk_test
