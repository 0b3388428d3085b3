// One owner at a time: a process that was paused while another took its database does no harm.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/base/strings.h"
#include "tests/rados/child_process.h"
#include "tests/rados/rados_database.h"
#include "tests/rados/rados_under_test.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

constexpr int kRefused = 3;
constexpr int kBreaksMax = 50;

std::vector<std::string> ReadRows(ChildProcess* writer, size_t rows_max) {
  std::vector<std::string> rows;
  std::string line;
  while (rows.size() < rows_max && writer->ReadLine(&line)) {
    if (line.starts_with("ack ")) rows.push_back(line.substr(4));
  }
  return rows;
}

size_t CountLost(const store::Database& database, const std::vector<std::string>& rows) {
  return static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const std::string& row) { return !HasRow(database, row); }));
}

using Fence = RadosVolumeOptions::Fence;

// Each of the two ways is enough.
class RadosFence : public testing::TestWithParam<Fence> {};
INSTANTIATE_TEST_SUITE_P(Ways, RadosFence, testing::Values(Fence::kFull, Fence::kBlock, Fence::kTakeOver));

TEST_P(RadosFence, APausedOwnerDoesNoHarm) {
  RadosVolumeOptions options = NewTestVolume();
  options.fence = GetParam();
  ChildProcess paused({ARMATURE_ROW_WRITER, options.name_space, "old"});
  std::vector<std::string> rows = ReadRows(&paused, 100);
  paused.Signal(SIGSTOP);
  const auto volume = MountForTest(options);
  ASSERT_NE(volume, nullptr);
  // It goes on before the new owner has read the log, which is the worst time.
  paused.Signal(SIGCONT);
  bool was_certain = false;
  bool is_certain = false;
  for (std::string line; paused.ReadLine(&line);) {
    if (line.starts_with("ack ")) rows.push_back(line.substr(4));
    // One such line may have been decided on before the pause.
    is_certain = is_certain || (line == "certain" && was_certain);
    was_certain = was_certain || line == "certain";
  }
  EXPECT_EQ(paused.Wait(), kRefused);
  const auto database = OpenTestDatabase(volume.get());
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(CountLost(*database, rows), 0u) << rows.size();
  EXPECT_TRUE(IsRowWritten(database.get(), "new"));
}

TEST_P(RadosFence, APausedOwnerDoesNoHarmBehindARemovedLog) {
  RadosVolumeOptions options = NewTestVolume();
  options.fence = GetParam();
  ChildProcess paused({ARMATURE_ROW_WRITER, options.name_space, "old"});
  std::vector<std::string> rows = ReadRows(&paused, 100);
  paused.Signal(SIGSTOP);
  {
    const auto volume = MountForTest(options);
    ASSERT_NE(volume, nullptr);
    const auto database = OpenTestDatabase(volume.get());
    ASSERT_NE(database, nullptr);
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(IsRowWritten(database.get(), Cat("new", i)));
  }
  paused.Signal(SIGCONT);
  const std::vector<std::string> late = ReadRows(&paused, 1'000'000);
  rows.insert(rows.end(), late.begin(), late.end());
  EXPECT_EQ(paused.Wait(), kRefused);
  const auto volume = MountForTest(options);
  ASSERT_NE(volume, nullptr);
  const auto database = OpenTestDatabase(volume.get());
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(CountLost(*database, rows), 0u);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(HasRow(*database, Cat("new", i))) << i;
}

// The control: without the fence the same pause loses rows, so that the tests above can fail.
TEST(RadosOwner, WithoutAFenceAPausedOwnerLosesRows) {
  RadosVolumeOptions options = NewTestVolume();
  options.fence = Fence::kNone;
  ChildProcess paused({ARMATURE_ROW_WRITER, options.name_space, "old", "unfenced"});
  // Few rows: the table of names refuses the old owner's flush in any case.
  std::vector<std::string> rows = ReadRows(&paused, 20);
  paused.Signal(SIGSTOP);
  const auto volume = MountForTest(options);
  ASSERT_NE(volume, nullptr);
  paused.Signal(SIGCONT);
  const std::vector<std::string> late = ReadRows(&paused, 20);
  ASSERT_EQ(late.size(), 20u) << "the old owner was refused";
  paused.Signal(SIGKILL);
  rows.insert(rows.end(), late.begin(), late.end());
  const auto database = OpenTestDatabase(volume.get());
  ASSERT_NE(database, nullptr);
  EXPECT_GT(CountLost(*database, rows), 0u);
}

TEST(RadosOwner, ALivingOwnerKeepsItsVolume) {
  RadosVolumeOptions options = NewTestVolume();
  const auto owner = MountForTest(options);
  ASSERT_NE(owner, nullptr);
  EXPECT_TRUE(owner->IsOwnerForCertain());
  options.owner_wait = absl::Seconds(3);  // longer than the lease
  const auto refused = RadosVolume::Mount(options);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition) << refused.status();
  EXPECT_TRUE(owner->IsOwnerForCertain());
  EXPECT_TRUE(owner->WriteDurably("/file", "text").ok());
}

TEST(RadosOwner, ALostVolumeIsToldOnceAndRefusesEverything) {
  RadosVolumeOptions options = NewTestVolume();
  options.lease = absl::Seconds(4);
  std::atomic<int> told = 0;
  options.on_lost = [&](std::string_view) { ++told; };
  const auto former = MountForTest(options);
  ASSERT_NE(former, nullptr);
  ASSERT_TRUE(former->WriteDurably("/file", "former").ok());
  options.on_lost = nullptr;
  options.owner_wait = absl::ZeroDuration();
  std::unique_ptr<RadosVolume> owner;
  for (int i = 0; i < kBreaksMax && owner == nullptr; ++i) {
    // The lease is taken away, as a time in which the former owner could not renew it would. If the former owner renews
    // its lease before the new owner asks for it, it has lost nothing.
    ASSERT_TRUE(RunClusterTool("break-lease", Cat(options.pool, " ", options.name_space)));
    absl::StatusOr<std::unique_ptr<RadosVolume>> mounted = RadosVolume::Mount(options);
    ASSERT_TRUE(mounted.ok() || absl::IsFailedPrecondition(mounted.status())) << mounted.status();
    if (mounted.ok()) owner = *std::move(mounted);
  }
  ASSERT_NE(owner, nullptr) << "the former owner was first every time";
  ASSERT_TRUE(owner->WriteDurably("/file", "owner").ok());
  EXPECT_FALSE(former->WriteDurably("/file", "late").ok());
  EXPECT_FALSE(former->Remove("/file").ok());
  EXPECT_TRUE(store::Eventually([&] { return !former->IsOwnerForCertain() && told == 1; }));
  EXPECT_EQ(owner->Read("/file").value_or(""), "owner");
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace armature::rados
