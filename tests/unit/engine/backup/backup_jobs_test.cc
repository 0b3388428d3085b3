// Backups on request and on schedule.

#include "engine/backup/backup_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/wall_clock.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::backup_jobs_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BackupJobsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(engine_.CreateTable(PlainTable("things")).ok());
    // So large that a slow backup still runs when the test looks.
    const std::string text(300'000, 'x');
    ASSERT_TRUE(engine_.Put(WriteTo("things", PlainItem("a", "1", {{"text", codec::S(text)}}))).ok());
  }

  std::string path(const std::string& name = "backups") const { return directory_.path(name); }

  StartBackupRequest To(const std::string& name = "backups") const {
    StartBackupRequest request;
    request.directory = path(name);
    return request;
  }

  static absl::StatusOr<BackupJob> WaitForEnd(BackupJobs& jobs, uint64_t id) {
    absl::StatusOr<BackupJob> job = jobs.Find(id);
    const absl::Status waited = TestEngine::WaitUntil([&] {
      job = jobs.Find(id);
      return !job.ok() || job->state == BackupJob::State::kDone || job->state == BackupJob::State::kFailed;
    });
    if (!waited.ok()) return waited;
    return job;
  }

  static std::vector<store::BackupId> Ids(const BackupJobs& jobs, const std::string& directory) {
    const absl::StatusOr<std::vector<store::BackupEntry>> entries = jobs.List(directory);
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<store::BackupId> ids;
    if (entries.ok()) {
      for (const store::BackupEntry& entry : *entries) ids.push_back(entry.id);
    }
    return ids;
  }

  // Starts a job that takes minutes, at the lowest rate.
  absl::StatusOr<BackupJob> StartSlow(BackupJobs& jobs, const std::string& name) {
    StartBackupRequest request = To(name);
    request.bytes_per_second_max = 1;
    return jobs.Start(request);
  }

  test::TempDir directory_;
  TestEngine engine_;
};

TEST_F(BackupJobsTest, MakeOneBackupAfterTheOtherAndKeepWhatIsAsked) {
  BackupJobs jobs(&engine_.database(), {});
  EXPECT_THAT(Ids(jobs, path()), IsEmpty());
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<BackupJob> started = jobs.Start(To());
    ASSERT_TRUE(started.ok()) << started.status();
    const absl::StatusOr<BackupJob> done = WaitForEnd(jobs, started->id);
    ASSERT_TRUE(done.ok()) << done.status();
    ASSERT_EQ(done->state, BackupJob::State::kDone) << done->result;
    EXPECT_EQ(done->made->id, static_cast<store::BackupId>(i) + 1);
    EXPECT_EQ(done->made->database_id, engine_.database().database_id());
  }
  StartBackupRequest request = To();
  request.keep = 2;
  const absl::StatusOr<BackupJob> done = WaitForEnd(jobs, jobs.Start(request)->id);
  ASSERT_TRUE(done.ok());
  EXPECT_THAT(done->deleted, ElementsAre(1u, 2u));
  EXPECT_THAT(Ids(jobs, path()), ElementsAre(3u, 4u));
  const BackupStats stats = jobs.stats();
  EXPECT_EQ(stats.done_total, 4u);
  EXPECT_EQ(stats.failed_total, 0u);
  EXPECT_GT(stats.copied_bytes_total, 0u);
  EXPECT_GE(stats.last_success_ms, done->made->started_ms);
}

TEST_F(BackupJobsTest, ThatWaitAreBounded) {
  BackupJobs jobs(&engine_.database(), {});
  const absl::StatusOr<BackupJob> slow = StartSlow(jobs, "slow");
  ASSERT_TRUE(slow.ok());
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return jobs.Find(slow->id)->state == BackupJob::State::kRunning; }).ok());
  std::vector<uint64_t> waiting;
  absl::StatusOr<BackupJob> started = jobs.Start(To());
  for (; started.ok() && waiting.size() < 1000; started = jobs.Start(To())) waiting.push_back(started->id);
  EXPECT_EQ(ErrorNameOf(started.status()), "LimitExceededException");
  EXPECT_EQ(waiting.size(), 16u);
  // A cancelled job in the queue never starts. A cancelled running job stops.
  EXPECT_EQ(jobs.Cancel(waiting[0])->state, BackupJob::State::kFailed);
  EXPECT_TRUE(jobs.Cancel(slow->id).ok());
  const absl::StatusOr<BackupJob> ended = WaitForEnd(jobs, slow->id);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state, BackupJob::State::kFailed);
  EXPECT_FALSE(ended->made.has_value());
  EXPECT_THAT(Ids(jobs, path("slow")), IsEmpty());
  EXPECT_EQ(WaitForEnd(jobs, waiting.back())->state, BackupJob::State::kDone);
  EXPECT_EQ(Ids(jobs, path()).size(), 15u);
  EXPECT_EQ(ErrorNameOf(jobs.Find(999).status()), "ResourceNotFoundException");
  EXPECT_EQ(ErrorNameOf(jobs.Cancel(999).status()), "ResourceNotFoundException");
}

TEST_F(BackupJobsTest, EndWithTheServer) {
  {
    BackupJobs jobs(&engine_.database(), {});
    ASSERT_TRUE(StartSlow(jobs, "slow").ok());
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return jobs.stats().is_running; }).ok());
  }
  BackupJobs jobs(&engine_.database(), {});
  EXPECT_THAT(Ids(jobs, path("slow")), IsEmpty());
}

TEST_F(BackupJobsTest, NeedADirectory) {
  BackupJobs jobs(&engine_.database(), {});
  EXPECT_EQ(ErrorNameOf(jobs.Start({}).status()), "ValidationException");
  StartBackupRequest relative;
  relative.directory = "backups";
  EXPECT_THAT(std::string(jobs.Start(relative).status().message()), HasSubstr("absolute path: backups"));
  EXPECT_EQ(ErrorNameOf(jobs.List("").status()), "ValidationException");
  // Later failures are reported by the job: the database's own directory cannot hold backups.
  StartBackupRequest wrong;
  wrong.directory = std::filesystem::path(path()).parent_path();
  std::filesystem::create_directory(path("something"));
  const absl::StatusOr<BackupJob> job = WaitForEnd(jobs, jobs.Start(wrong)->id);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->state, BackupJob::State::kFailed);
  EXPECT_THAT(std::string(job->result.message()), HasSubstr(wrong.directory));
  EXPECT_EQ(jobs.stats().failed_total, 1u);
}

// Holds the repository like `armature backup delete` does next to the daemon.
TEST_F(BackupJobsTest, WaitForWhoeverWritesThere) {
  absl::StatusOr<std::unique_ptr<store::BackupRepository>> other =
      store::BackupRepository::Open(path(), {.mode = store::BackupRepositoryOptions::Mode::kWrite});
  ASSERT_TRUE(other.ok()) << other.status();
  BackupJobs jobs(&engine_.database(), {});
  const absl::StatusOr<BackupJob> started = jobs.Start(To());
  ASSERT_TRUE(started.ok());
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return jobs.stats().is_running; }).ok());
  EXPECT_EQ(jobs.Find(started->id)->state, BackupJob::State::kRunning);
  *other = nullptr;
  EXPECT_EQ(WaitForEnd(jobs, started->id)->state, BackupJob::State::kDone);
}

// A failed deletion must not make the schedule take one backup after the other.
TEST_F(BackupJobsTest, OfTheScheduleComeInTheirTimeBesideADamagedOne) {
  BackupJobs by_hand(&engine_.database(), {});
  ASSERT_EQ(WaitForEnd(by_hand, by_hand.Start(To())->id)->state, BackupJob::State::kDone);
  std::filesystem::resize_file(path() + "/manifests/1", 10);
  BackupOptions options{.directory = path(), .interval = absl::Hours(1), .keep = 1};
  BackupJobs jobs(&engine_.database(), options);
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return jobs.stats().failed_total == 1; }).ok());
  EXPECT_THAT(Ids(jobs, ""), ElementsAre(1u, 2u));
  EXPECT_GT(jobs.stats().next_due_ms, absl::ToUnixMillis(absl::Now() + absl::Minutes(30)));
}

TEST_F(BackupJobsTest, AreDueWhenTheClockIsSetBack) {
  const BackupOptions options{.directory = path(), .interval = absl::Milliseconds(200), .keep = 1};
  BackupJobs jobs(&engine_.database(), options);
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return jobs.stats().done_total >= 1; }).ok());
  const uint64_t done = jobs.stats().done_total;
  const test::WallClockSet set_back(-absl::Hours(1));
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return jobs.stats().done_total > done + 1; }).ok());
}

TEST_F(BackupJobsTest, AreDueOnceInTheInterval) {
  BackupOptions options{.directory = path(), .interval = absl::Milliseconds(20), .keep = 3};
  {
    BackupJobs jobs(&engine_.database(), options);
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return jobs.stats().done_total >= 5; }).ok());
  }
  options.interval = absl::Hours(1);
  BackupJobs jobs(&engine_.database(), options);
  // The scheduler finds the time of the last backup and makes none.
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return jobs.stats().last_success_ms > 0; }).ok());
  const std::vector<store::BackupId> ids = Ids(jobs, "");
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_GE(ids.back(), 5u);
  EXPECT_EQ(jobs.stats().next_due_ms, jobs.stats().last_success_ms + absl::ToInt64Milliseconds(options.interval));
}

}  // namespace armature::engine::backup_jobs_test
