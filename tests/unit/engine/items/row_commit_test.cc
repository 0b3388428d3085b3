// The end of a write as all kinds of writes share it: when locks are released, what is answered, and when.

#include "engine/items/row_commit.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/items/row_mutation.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/deadline.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/held_syncs.h"

namespace armature::engine::row_commit_test {

using codec::N;

constexpr char kTable[] = "things";

std::string Key(int row) { return PlainItem("row", std::to_string(row)); }
std::string Row(int row, int n) { return PlainItem("row", std::to_string(row), {{"n", N(std::to_string(n))}}); }

// A put of one or two items.
struct Put final : RowJob {
  explicit Put(Parts* shared_parts) : RowJob(shared_parts) { token = parts->waiting.Enter(); }

  void FillAnswer() override {
    ++filled;
    for (const RowWrite* const row : rows) had_images = had_images && !row->images_released;
  }
  void Answer(absl::StatusOr<ChangeSequence> outcome) override {
    // The locks can be taken: they are free when a job is answered.
    for (const uint64_t lock : locks) were_free = were_free && parts->locks.TryAcquire(lock).has_value();
    std::move(done)(std::move(outcome));
  }

  RowWrite first;
  RowWrite second;
  std::vector<uint64_t> locks;
  WriteResult result;
  int filled = 0;
  bool had_images = true;
  bool were_free = true;
  engine::Answer<ChangeSequence> answer;
  Callback<ChangeSequence> done = answer.Catch();
};
using PutPtr = std::shared_ptr<Put>;

class RowCommitTest : public testing::Test {
 protected:
  RowCommitTest() : engine_(store::Durability::kSync) {}
  ~RowCommitTest() override {
    HeldSyncs::End();
    if (parts_ == nullptr) return;
    parts_->waiting.AwaitNone();
    parts_->write_gate.Close(ServiceUnavailableError("over"));
  }

  void SetUp() override {
    ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok());
    for (const int row : {1, 2, 3}) ASSERT_TRUE(engine_.Put(WriteTo(kTable, Row(row, 0))).ok());
    engine_.StopEngine();
    parts_ = std::make_unique<Parts>(&engine_.database(), EngineOptions());
  }

  static WriteRequest PutOf(int row, int n) { return WriteTo(kTable, Row(row, n)); }

  void Read(Put* job, RowWrite* row, WriteRequest request) {
    auto mutation = MakeMutation(WriteKind::kPut, std::move(request), LayerOf(WriteKind::kPut), &parts_->parse_cache);
    ASSERT_TRUE(mutation.ok()) << mutation.status();
    row->mutation = *std::move(mutation);
    ASSERT_TRUE(FindRow(*parts_, row).ok());
    job->rows.push_back(row);
    job->locks.push_back(LockOf(*parts_, *row));
  }
  // A job that has locked and read its rows.
  PutPtr Locked(WriteRequest first, std::optional<WriteRequest> second = std::nullopt) {
    auto job = std::make_shared<Put>(parts_.get());
    Read(job.get(), &job->first, std::move(first));
    if (second.has_value()) Read(job.get(), &job->second, *std::move(second));
    absl::Notification locked;
    parts_->locks.AcquireAll(job->locks, Deadline::After(kPatience),
                             [&](absl::StatusOr<store::LockTable::Guard> guard, uint32_t) {
                               EXPECT_TRUE(guard.ok()) << guard.status();
                               if (guard.ok()) job->guard = *std::move(guard);
                               locked.Notify();
                             });
    locked.WaitForNotification();
    for (RowWrite* const row : job->rows) {
      EXPECT_TRUE(ReadBefore(*parts_, store::ReadMode::kMayBlock, /*with_collection=*/false, row).value_or(false));
    }
    return job;
  }
  absl::Status Decide(const PutPtr& job) {
    for (RowWrite* const row : job->rows) {
      if (const absl::Status decided = DecideAlone(*parts_, row, &job->result); !decided.ok()) return decided;
    }
    return absl::OkStatus();
  }
  void Commit(const PutPtr& job) { CommitDecided(job, Decide(job)); }

  // Lets a request wait for the row, so that the row is contended.
  void Contend(int row) {
    const PutPtr job = Locked(PutOf(row, 0));
    absl::Notification waited;
    parts_->locks.Acquire(job->locks.front(), Deadline::After(kPatience),
                          [&](const absl::StatusOr<store::LockTable::Guard>&) { waited.Notify(); });
    job->End(ChangeSequence());
    waited.WaitForNotification();
    // The waiter's lock is free when its guard is gone, which is after the notification.
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return parts_->locks.TryAcquire(job->locks.front()).has_value(); }).ok());
  }
  // Holds the committer in the batch of a job that is not otherwise of interest.
  PutPtr HoldCommitter() {
    HeldSyncs::Begin();
    PutPtr held = Locked(PutOf(9, 1));
    Commit(held);
    HeldSyncs::AwaitOne();
    return held;
  }

  bool IsFree(const PutPtr& job) {
    for (const uint64_t lock : job->locks) {
      if (!parts_->locks.TryAcquire(lock).has_value()) return false;
    }
    return true;
  }
  uint64_t Batches() { return engine_.database().commits().counters().batches; }
  uint64_t Units() { return engine_.database().commits().counters().units; }

  TestEngine engine_;
  std::unique_ptr<Parts> parts_;
};

TEST_F(RowCommitTest, LocksAreHeldUntilTheCommitIsDurable) {
  HeldSyncs::Begin();
  const PutPtr job = Locked(PutOf(1, 1));
  Commit(job);
  HeldSyncs::AwaitOne();
  EXPECT_FALSE(IsFree(job));
  EXPECT_FALSE(job->answer.IsThere());
  EXPECT_EQ(parts_->queued_rows.size(), 0U);
  HeldSyncs::End();
  EXPECT_GT(job->answer.Take().value_or(ChangeSequence()), ChangeSequence());
  EXPECT_TRUE(job->were_free);
}

TEST_F(RowCommitTest, AContendedRowIsReleasedWithAllOfItsJobWhenTheCommitIsQueued) {
  Contend(1);
  const PutPtr held = HoldCommitter();
  const PutPtr job = Locked(PutOf(1, 1), PutOf(2, 1));
  Commit(job);
  EXPECT_TRUE(IsFree(job));
  EXPECT_FALSE(job->answer.IsThere());
  for (const RowWrite* const row : job->rows) {
    EXPECT_NE(parts_->queued_rows.Find(row->table().descriptor.id, row->key), nullptr);
  }
  HeldSyncs::End();
  EXPECT_TRUE(job->answer.Take().ok());
  EXPECT_EQ(parts_->queued_rows.size(), 0U);
  EXPECT_TRUE(held->answer.Take().ok());
}

TEST_F(RowCommitTest, OnlyRowsThatChangeAreQueued) {
  Contend(1);
  const PutPtr held = HoldCommitter();
  const PutPtr job = Locked(PutOf(1, 0), PutOf(2, 1));
  Commit(job);
  EXPECT_TRUE(IsFree(job));
  EXPECT_EQ(parts_->queued_rows.size(), 1U);
  HeldSyncs::End();
  EXPECT_TRUE(job->answer.Take().ok());
}

TEST_F(RowCommitTest, AFailedBatchFailsTheJobAndFreesItsRows) {
  Contend(1);
  const PutPtr held = HoldCommitter();
  const PutPtr job = Locked(PutOf(1, 1));
  Commit(job);
  const PutPtr next = Locked(PutOf(1, 2));
  HeldSyncs::End(ENOSPC);
  EXPECT_EQ(ErrorNameOf(held->answer.Take().status()), "ServiceUnavailable");
  EXPECT_EQ(ErrorNameOf(job->answer.Take().status()), "ServiceUnavailable");
  HeldSyncs::End();
  ASSERT_TRUE(TestEngine::WaitUntil([&] { return !engine_.database().disk_report().is_read_only(); }).ok());
  Commit(next);
  EXPECT_EQ(ErrorNameOf(next->answer.Take().status()), "ServiceUnavailable") << "it was decided on a value that failed";
  EXPECT_EQ(parts_->queued_rows.size(), 0U);
  EXPECT_TRUE(IsFree(next));
}

TEST_F(RowCommitTest, ARefusalAndAWriteWithoutEffectWaitForTheValueThatTheySaw) {
  Contend(1);
  const PutPtr held = HoldCommitter();
  Commit(Locked(PutOf(1, 1)));
  WriteRequest request = PutOf(1, 2);
  request.expressions.condition = "attribute_not_exists(n)";
  const PutPtr refused = Locked(std::move(request));
  Commit(refused);
  const PutPtr unchanged = Locked(PutOf(1, 1));
  Commit(unchanged);
  EXPECT_TRUE(IsFree(refused));
  EXPECT_FALSE(refused->answer.IsThere());
  EXPECT_FALSE(unchanged->answer.IsThere());
  HeldSyncs::End();
  EXPECT_EQ(ErrorNameOf(refused->answer.Take().status()), "ConditionalCheckFailedException");
  EXPECT_TRUE(unchanged->answer.Take().ok());
  EXPECT_EQ(refused->filled, 0);
  EXPECT_EQ(unchanged->filled, 1);
}

TEST_F(RowCommitTest, TheAnswerIsFilledOnceBeforeTheImagesGo) {
  const PutPtr job = Locked(PutOf(1, 1));
  Commit(job);
  EXPECT_TRUE(job->answer.Take().ok());
  EXPECT_EQ(job->filled, 1);
  EXPECT_TRUE(job->had_images);
  EXPECT_TRUE(job->first.images_released);
}

TEST_F(RowCommitTest, FurtherUnitsAreCommittedAlsoIfNoRowChanges) {
  const auto commit = [this](const PutPtr& job, std::string_view token) {
    std::vector<store::WriteUnit> further;
    engine_.database().tokens().AddTo(token, {1000, std::string(store::TokenRecord::kFingerprintBytes, 'f')},
                                      &further.emplace_back(nullptr));
    CommitDecided(job, Decide(job), std::move(further));
    EXPECT_TRUE(job->answer.Take().ok());
    store::TokenRecord record;
    const auto found = engine_.database().tokens().Find(token, store::ReadMode::kMayBlock, &record);
    EXPECT_TRUE(found.ok() && *found == store::GetResult::kFound) << token;
  };
  const uint64_t units = Units();
  commit(Locked(PutOf(1, 1), PutOf(2, 1)), "changes");
  EXPECT_EQ(Units(), units + 3);
  commit(Locked(PutOf(1, 1)), "unchanged");
  EXPECT_EQ(Units(), units + 4);
  const PutPtr nothing = Locked(PutOf(1, 1));
  Commit(nothing);
  EXPECT_TRUE(nothing->answer.Take().ok());
  EXPECT_EQ(Units(), units + 4);
}

TEST_F(RowCommitTest, JobsOfAGroupAreWrittenTogetherAndEndByThemselves) {
  Contend(1);
  const PutPtr held = HoldCommitter();
  const uint64_t batches = Batches();
  const std::vector<PutPtr> jobs = {Locked(PutOf(1, 1)), Locked(PutOf(2, 1)), Locked(PutOf(3, 0)), Locked(PutOf(4, 1))};
  CommitGroup group(parts_.get(), jobs.size());
  for (const PutPtr& job : jobs) {
    const absl::Status decided = Decide(job);
    group.Add(job, job == jobs.back() ? ThrottlingError("slow down", 100) : decided);
  }
  EXPECT_FALSE(IsFree(jobs[0])) << "it is not queued yet";
  EXPECT_TRUE(jobs[2]->answer.Take().ok()) << "nothing changes";
  EXPECT_EQ(ErrorNameOf(jobs[3]->answer.Take().status()), "ThrottlingException");
  group.Commit();
  EXPECT_TRUE(IsFree(jobs[0])) << "contended";
  EXPECT_FALSE(IsFree(jobs[1]));
  EXPECT_EQ(parts_->queued_rows.size(), 1U);
  HeldSyncs::End();
  const absl::StatusOr<ChangeSequence> first = jobs[0]->answer.Take();
  const absl::StatusOr<ChangeSequence> second = jobs[1]->answer.Take();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(Batches(), batches + 1);
  EXPECT_EQ(parts_->queued_rows.size(), 0U);
}

TEST_F(RowCommitTest, TheCommitOfAJobIsTracedAndThatOfAGroupIsNot) {
  const PutPtr alone = Locked(PutOf(1, 1));
  const PutPtr grouped = Locked(PutOf(2, 1));
  alone->trace = std::make_shared<RequestTrace>(/*is_timed=*/true);
  grouped->trace = std::make_shared<RequestTrace>(/*is_timed=*/true);
  Commit(alone);
  CommitGroup group(parts_.get(), 1);
  group.Add(grouped, Decide(grouped));
  group.Commit();
  EXPECT_TRUE(alone->answer.Take().ok());
  EXPECT_TRUE(grouped->answer.Take().ok());
  EXPECT_GT(alone->trace->wait_ns(WaitFor::kCommit), 0);
  EXPECT_EQ(grouped->trace->wait_ns(WaitFor::kCommit), 0);
}

TEST_F(RowCommitTest, AGatedJobCountsInTheWriteGateUntilItIsDurable) {
  for (size_t i = 1; i < WriteGate::kCrowd; ++i) parts_->write_gate.CommitBegins();
  const PutPtr held = HoldCommitter();
  EXPECT_TRUE(parts_->write_gate.MayBegin());
  const PutPtr gated = Locked(PutOf(1, 1));
  gated->is_gated = true;
  Commit(gated);
  EXPECT_FALSE(parts_->write_gate.MayBegin());
  HeldSyncs::End();
  EXPECT_TRUE(gated->answer.Take().ok());
  EXPECT_TRUE(parts_->write_gate.MayBegin());
}

}  // namespace armature::engine::row_commit_test
