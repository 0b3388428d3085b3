// Backups in places that another process may have: jobs, lists and restores of tables with volumes that can be lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/store/backup/backup_place.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/storage/store/files/memory_volume.h"

namespace armature::engine::backup_places_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using State = BackupJob::State;

constexpr char kName[] = "memory://backups";

// A place on a disk in memory.
class MemoryPlaces final : public store::BackupPlaces {
 public:
  MemoryPlaces() {
    disk_.SetFault([this](Action action, std::string_view path) {
      if (action == Action::kWrite && path.starts_with("/backups/private")) {
        is_held_ = holds_.load();
        while (holds_) std::this_thread::yield();
      }
      return is_lost_ ? UnavailableError("refused") : absl::OkStatus();
    });
  }

  absl::Status CheckName(const std::string& name) const override {
    return name == kName ? absl::OkStatus() : absl::InvalidArgumentError("must be in memory");
  }
  absl::StatusOr<store::BackupPlacePtr> Open(const std::string&, Use use,
                                             const std::function<bool()>& is_cancelled) override {
    while (is_others_) {
      is_waited_for_ = true;
      if (is_cancelled()) return absl::CancelledError("cancelled");
      if (is_over_) return UnavailableError("in use by another process (client.7)");
      std::this_thread::yield();
    }
    if (use == Use::kRead && !is_made_) return absl::NotFoundError("no volume");
    is_made_ = true;
    return std::make_shared<MemoryPlace>(this);
  }

  // The place belongs to another process from now on, or no more.
  void SetOthers(bool is_others) { is_others_ = is_others; }
  void EndWaits() { is_over_ = true; }
  bool is_waited_for() const { return is_waited_for_; }
  int open() const { return open_; }
  // Another process has the volume from now on, or no more, which this one owned.
  void SetLost(bool is_lost) { is_lost_ = is_lost; }
  // Backups stop where they copy files, or go on.
  void Hold() { holds_ = true; }
  void Release() { holds_ = false; }
  bool is_held() const { return is_held_; }

 private:
  class MemoryPlace final : public store::BackupPlace {
   public:
    explicit MemoryPlace(MemoryPlaces* places) : places_(places), volume_(places->disk_.Mount()) { ++places_->open_; }
    ~MemoryPlace() override { --places_->open_; }
    MemoryPlace(const MemoryPlace&) = delete;
    MemoryPlace& operator=(const MemoryPlace&) = delete;
    const std::string& name() const override { return name_; }
    store::Volume* volume() const override { return volume_.get(); }
    const std::string& path() const override { return path_; }
    absl::Status state() const override {
      return places_->is_lost_ ? UnavailableError("lost the place: taken by client.7") : absl::OkStatus();
    }

   private:
    MemoryPlaces* const places_;
    const std::unique_ptr<store::Volume> volume_;
    const std::string name_ = kName;
    const std::string path_ = "/backups";
  };

  using Action = store::MemoryDisk::Action;

  std::atomic<bool> is_made_ = false;
  std::atomic<bool> is_others_ = false;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_waited_for_ = false;
  std::atomic<bool> is_lost_ = false;
  std::atomic<bool> holds_ = false;
  std::atomic<bool> is_held_ = false;
  std::atomic<int> open_ = 0;
  store::MemoryDisk disk_;
};

class BackupPlacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_.options().backup.directory = kName;
    engine_.options().backup.places = &places_;
    engine_.Reopen();
    ASSERT_TRUE(engine_.CreateTable(PlainTable("things")).ok());
    ASSERT_TRUE(engine_.Put(WriteTo("things", PlainItem("a", "1"))).ok());
  }

  BackupJobs& jobs() { return *engine_->backups(); }

  // The job when it has ended.
  BackupJob Ended(uint64_t id) {
    absl::StatusOr<BackupJob> job = jobs().Find(id);
    EXPECT_TRUE(TestEngine::WaitUntil([&] {
                  job = jobs().Find(id);
                  return !job.ok() || job->state == State::kDone || job->state == State::kFailed;
                }).ok());
    return job.ok() ? *job : BackupJob();
  }
  BackupJob Make() {
    const absl::StatusOr<BackupJob> started = jobs().Start({});
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? Ended(started->id) : BackupJob();
  }
  // A job that has begun to copy files, and stops there.
  uint64_t StartHeld() {
    places_.Hold();
    const absl::StatusOr<BackupJob> started = jobs().Start({});
    EXPECT_TRUE(started.ok()) << started.status();
    EXPECT_TRUE(TestEngine::WaitUntil([&] { return places_.is_held(); }).ok());
    return started.ok() ? started->id : 0;
  }
  void AwaitGivenBack() {
    EXPECT_TRUE(TestEngine::WaitUntil([&] { return places_.open() == 0; }).ok());
  }
  absl::StatusOr<std::vector<store::BackupEntry>> List() {
    Answer<std::vector<store::BackupEntry>> answer;
    engine_->ListDatabaseBackups("", answer.Catch());
    return answer.Take();
  }

  MemoryPlaces places_;  // outlives the engine
  TestEngine engine_;
};

TEST_F(BackupPlacesTest, HoldBackupsForAsLongAsTheyAreUsed) {
  // Neither the place nor a backup is there yet.
  EXPECT_THAT(*List(), IsEmpty());
  EXPECT_EQ(Make().state, State::kDone);
  EXPECT_EQ(Make().made->id, 2u);
  EXPECT_THAT(*List(), SizeIs(2));
  AwaitGivenBack();
  StartBackupRequest elsewhere;
  elsewhere.directory = "/backups";
  EXPECT_EQ(jobs().Start(elsewhere).status().message(), "The directory for backups must be in memory: /backups");
}

TEST_F(BackupPlacesTest, EndTheirJobsWhenTheyAreLost) {
  ASSERT_EQ(Make().state, State::kDone);
  const uint64_t held = StartHeld();
  places_.SetLost(true);
  places_.Release();
  const BackupJob lost = Ended(held);
  EXPECT_EQ(lost.state, State::kFailed);
  EXPECT_EQ(lost.result.message(), "lost the place: taken by client.7");
  const absl::StatusOr<std::vector<store::BackupEntry>> listed = List();
  EXPECT_THAT(std::string(listed.status().message()), HasSubstr("lost the place"));
  AwaitGivenBack();
  places_.SetLost(false);
  EXPECT_EQ(Make().state, State::kDone);
  EXPECT_THAT(*List(), SizeIs(2));
}

TEST_F(BackupPlacesTest, AreGivenBackByCancelledJobs) {
  const uint64_t held = StartHeld();
  EXPECT_EQ(places_.open(), 1);
  ASSERT_TRUE(jobs().Cancel(held).ok());
  places_.Release();
  EXPECT_EQ(Ended(held).result.code(), absl::StatusCode::kCancelled);
  AwaitGivenBack();
}

TEST_F(BackupPlacesTest, OfOthersAreWaitedForUntilTheJobIsCancelled) {
  places_.SetOthers(true);
  const absl::StatusOr<BackupJob> waiting = jobs().Start({});
  ASSERT_TRUE(waiting.ok());
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return places_.is_waited_for(); }).ok());
  // The tables are served meanwhile, also by the threads for them.
  EXPECT_TRUE(engine_.CreateTable(PlainTable("more")).ok());
  ASSERT_TRUE(jobs().Cancel(waiting->id).ok());
  EXPECT_EQ(Ended(waiting->id).result, absl::CancelledError("the backup was cancelled"));
  // The next one waits until the owner has ended.
  const absl::StatusOr<BackupJob> patient = jobs().Start({});
  ASSERT_TRUE(patient.ok());
  places_.SetOthers(false);
  EXPECT_EQ(Ended(patient->id).state, State::kDone);
}

TEST_F(BackupPlacesTest, OfOthersHoldUpNeitherTablesNorTheEnd) {
  places_.SetOthers(true);
  Answer<std::vector<store::BackupEntry>> lists[4];
  for (auto& each : lists) engine_->ListDatabaseBackups("", each.Catch());
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return places_.is_waited_for(); }).ok());
  EXPECT_TRUE(engine_.CreateTable(PlainTable("more")).ok());
  engine_.StopEngine();
  for (auto& each : lists) EXPECT_FALSE(each.Take().ok());
}

TEST_F(BackupPlacesTest, ThatStayOthersAreNamedInTheError) {
  places_.SetOthers(true);
  places_.EndWaits();
  const BackupJob refused = Make();
  EXPECT_EQ(refused.state, State::kFailed);
  EXPECT_THAT(std::string(refused.result.message()), HasSubstr("in use by another process (client.7)"));
  EXPECT_THAT(std::string(List().status().message()), HasSubstr("client.7"));
}

TEST_F(BackupPlacesTest, AreHeldByRestoresOfTables) {
  ASSERT_EQ(Make().state, State::kDone);
  Answer<TableDescription> answer;
  engine_->RestoreTableOf({.directory = "", .backup = 1, .table_name = "things", .target_table_name = "then"},
                          answer.Catch());
  const absl::StatusOr<TableDescription> restored = answer.Take();
  ASSERT_TRUE(restored.ok()) << restored.status();
  ASSERT_TRUE(TestEngine::WaitUntil([&] {
                return engine_.Describe("then")->descriptor.state == model::TableState::kActive;
              }).ok());
  EXPECT_TRUE(engine_.Get(GetFrom("then", PlainItem("a", "1")))->item.has_value());
  AwaitGivenBack();
}

}  // namespace armature::engine::backup_places_test
