#include "storage/store/disk_space.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "storage/base/api_error.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::disk_space_test {

constexpr uint64_t kMiB = 1 << 20;
constexpr DiskReserve kTenMiB{.bytes = 10 * kMiB, .percent = 100};

// A disk of 1000 MiB.
class Disk {
 public:
  DiskSpace::Measure Measure() {
    return [this]() -> absl::StatusOr<DiskUsage> {
      ++looks;
      if (!readable) return absl::UnavailableError("no such disk");
      return DiskUsage{1000 * kMiB, free_bytes};
    };
  }

  uint64_t free_bytes = 1000 * kMiB;
  bool readable = true;
  int looks = 0;
};

std::string Refusal(const DiskSpace& space) {
  const absl::Status status = space.CheckClients();
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() ? std::string(ApiErrorName(error->type)) + ": " + error->message : status.ToString();
}

TEST(DiskSpace, RefusesClientsBelowTheReserveAndLetsTheEngineWrite) {
  Disk disk;
  DiskSpace space(kTenMiB, disk.Measure());
  EXPECT_TRUE(space.CheckClients().ok());
  disk.free_bytes = 10 * kMiB;
  space.Look();
  EXPECT_TRUE(space.CheckClients().ok());
  disk.free_bytes = 10 * kMiB - 1;
  space.Look();
  EXPECT_EQ(Refusal(space),
            "ServiceUnavailable: The server's disk is nearly full: writes are refused until there is more space; reads "
            "go on");
  EXPECT_TRUE(space.CheckEngine().ok());
  EXPECT_TRUE(space.report().is_low);
}

TEST(DiskSpace, TakesWritesAgainWhenThereIsAQuarterMore) {
  Disk disk;
  disk.free_bytes = kMiB;
  DiskSpace space(kTenMiB, disk.Measure());
  disk.free_bytes = 12 * kMiB;
  space.Look();
  EXPECT_FALSE(space.CheckClients().ok());
  disk.free_bytes = 12 * kMiB + kMiB / 2;
  space.Look();
  EXPECT_TRUE(space.CheckClients().ok());
}

TEST(DiskSpace, TellsOnceThatItIsBroken) {
  Disk disk;
  int told = 0;
  DiskSpace space(kTenMiB, disk.Measure(), [&told] { ++told; });
  space.SetFailed(Shortage::kSpace);
  EXPECT_EQ(told, 0);
  space.SetBroken(DiskSpace::Broken::kWrite);
  space.SetBroken(DiskSpace::Broken::kWrite);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(space.report().is_broken);
  DiskSpace damaged(kTenMiB, disk.Measure(), [&told] { ++told; });
  damaged.SetBroken(DiskSpace::Broken::kDamage);
  EXPECT_TRUE(damaged.report().is_broken);
  EXPECT_EQ(told, 1);
  damaged.SetBroken(DiskSpace::Broken::kWrite);
  EXPECT_EQ(told, 2);
}

TEST(DiskSpace, TakesTheSmallerOfTheTwoBounds) {
  Disk disk;
  EXPECT_EQ(DiskSpace({.bytes = 10 * kMiB, .percent = 5}, disk.Measure()).report().reserve_bytes, 10 * kMiB);
  const uint64_t percent = 1000 * kMiB / 100 * 5;
  EXPECT_EQ(DiskSpace({.bytes = 1000 * kMiB, .percent = 5}, disk.Measure()).report().reserve_bytes, percent);
  EXPECT_EQ(DiskSpace({.bytes = 0, .percent = 5}, disk.Measure()).report().reserve_bytes, 0u);
}

TEST(DiskSpace, LooksAgainWhenAQuarterOfWhatWasFreeMayBeGone) {
  Disk disk;
  disk.free_bytes = 50 * kMiB;
  DiskSpace space(kTenMiB, disk.Measure());
  ASSERT_EQ(disk.looks, 1);
  space.Spend(9 * kMiB);
  EXPECT_EQ(disk.looks, 1);
  disk.free_bytes = 9 * kMiB;
  space.Spend(kMiB);
  EXPECT_EQ(disk.looks, 2);
  EXPECT_FALSE(space.CheckClients().ok());
}

TEST(DiskSpace, ADiskThatCannotBeLookedAtChangesNothing) {
  Disk disk;
  DiskSpace space(kTenMiB, disk.Measure());
  disk.readable = false;
  space.Look();
  EXPECT_TRUE(space.CheckClients().ok());
}

TEST(DiskSpace, AFailureStopsTheEngineUntilItIsResumed) {
  Disk disk;
  DiskSpace space(kTenMiB, disk.Measure());
  space.SetFailed(Shortage::kSpace);
  EXPECT_FALSE(space.CheckEngine().ok());
  EXPECT_EQ(
      Refusal(space),
      "ServiceUnavailable: The server's disk is full: writes are refused until there is space again; reads go on");
  space.SetResumed();
  EXPECT_TRUE(space.CheckClients().ok());
  EXPECT_EQ(space.report().failures_total, 1u);
  EXPECT_EQ(space.report().resumes_total, 1u);
}

TEST(DiskSpace, AShortageOfDescriptorsIsNamedAndEnds) {
  Disk disk;
  DiskSpace space(kTenMiB, disk.Measure());
  space.SetFailed(Shortage::kDescriptors);
  EXPECT_EQ(
      Refusal(space),
      "ServiceUnavailable: The server has no file descriptors left: writes are refused until some are free again; "
      "reads go on");
  EXPECT_TRUE(space.report().has_no_descriptors);
  EXPECT_FALSE(space.report().has_failed);
  space.SetResumed();
  EXPECT_TRUE(space.CheckClients().ok());
}

TEST(DiskSpace, WhatIsBrokenStaysSo) {
  Disk disk;
  DiskSpace space(kTenMiB, disk.Measure());
  space.SetFailed(Shortage::kSpace);
  space.SetBroken(DiskSpace::Broken::kWrite);
  space.SetResumed();
  space.SetFailed(Shortage::kSpace);
  EXPECT_FALSE(space.has_failed());
  EXPECT_EQ(Refusal(space),
            "ServiceUnavailable: The server's disk has failed: writes are refused until the server is restarted; reads "
            "go on");
}

TEST(DiskSpace, MeasuresARealDisk) {
  const test::TempDir directory;
  const absl::StatusOr<DiskUsage> usage = LocalVolume()->Measure(directory.path(""));
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_GT(usage->total_bytes, usage->free_bytes);
  EXPECT_GT(usage->free_bytes, 0u);
  EXPECT_FALSE(LocalVolume()->Measure(directory.path("nothing")).ok());
}

TEST(DiskSpace, NothingIsCommittedBelowTheReserveAndTablesMayGo) {
  const test::TempDir directory;
  DatabaseOptions options = TestOptions(directory.path("data"));
  {
    const auto database = OpenDatabase(options);
    CreateActive(database.get(), PlainTable("t"));
  }
  options.disk_reserve = {.bytes = std::numeric_limits<uint64_t>::max(), .percent = 100};
  const auto database = OpenDatabase(options);
  const auto snapshot = database->catalog();
  WriteUnit unit(snapshot);
  unit.Put(snapshot->Find("t")->data, "k", "v");
  EXPECT_EQ(GetApiError(CommitAndWait(database.get(), std::move(unit)).status())->type,
            ApiErrorType::kServiceUnavailable);
  EXPECT_FALSE(database->tables().Create(PlainTable("u")).ok());
  EXPECT_EQ(ValueOf(*database, snapshot->Find("t")->data, "k"), "(none)");
  EXPECT_TRUE(database->tables().Delete("t").ok());
}

}  // namespace armature::store::disk_space_test
