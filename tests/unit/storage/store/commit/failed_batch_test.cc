// A batch that cannot be synced, and commits that were decided on its values.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "storage/base/api_error.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::resume_test {
extern std::atomic<bool> no_room_to_sync;
extern std::atomic<int> sync_errno;
extern std::atomic<bool> truncations_fail;
}  // namespace armature::store::resume_test

namespace armature::store::failed_batch_test {

class FailedBatchTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.durability = Durability::kSync;
    database_ = OpenDatabase(options_);
    snapshot_ = CreateActive(database_.get(), PlainTable("t"));
  }

  void SetUpAgain() {
    database_ = OpenDatabase(options_);
    snapshot_ = database_->catalog();
  }

  WriteUnit PutUnit(std::string_view key) const {
    WriteUnit unit(snapshot_);
    unit.Put(snapshot_->Find("t")->data, key, "v");
    return unit;
  }
  std::string Value(std::string_view key) const { return ValueOf(*database_, snapshot_->Find("t")->data, key); }

  const test::TempDir dir_;
  DatabaseOptions options_ = TestOptions(dir_.path("data"));
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(FailedBatchTest, NothingIsWrittenThatWasDecidedOnItLater) {
  // The first commits may wait for the family: they are not queued at once.
  ASSERT_TRUE(Eventually([&] {
    absl::Notification done;
    const bool is_queued = database_->commits()
                               .Commit(PutUnit("before"), [&](const absl::StatusOr<ChangeSequence>&) { done.Notify(); })
                               .has_value();
    done.WaitForNotification();
    return is_queued;
  }));
  resume_test::no_room_to_sync = true;
  constexpr int kCommits = 2000;  // more than one batch
  absl::BlockingCounter left(kCommits);
  std::optional<CommitEpoch> epoch;
  for (int i = 0; i < kCommits; ++i) {
    const std::optional<CommitEpoch> queued = database_->commits().Commit(
        PutUnit("k" + std::to_string(i)), [&](const absl::StatusOr<ChangeSequence>& sequence) {
          EXPECT_FALSE(sequence.ok());
          left.DecrementCount();
        });
    if (!epoch.has_value()) epoch = queued;
  }
  ASSERT_TRUE(epoch.has_value());
  left.Wait();
  resume_test::no_room_to_sync = false;
  ASSERT_TRUE(Eventually([&] { return !database_->disk_report().is_read_only(); }));
  // Writes are accepted again, but not those that know a value that was never written.
  std::optional<absl::Status> refused;
  const auto note = [&](const absl::StatusOr<ChangeSequence>& sequence) { refused = sequence.status(); };
  EXPECT_FALSE(database_->commits().Commit(PutUnit("late"), note, {epoch}).has_value());
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(GetApiError(*refused)->type, ApiErrorType::kServiceUnavailable);
  refused.reset();
  database_->commits().WhenDurable(*epoch, /*held_bytes=*/0, note);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(GetApiError(*refused)->type, ApiErrorType::kServiceUnavailable);
  absl::Notification done;
  std::vector<Commitment> mixed;
  mixed.push_back({PutUnit("late"), note, {epoch}});
  mixed.push_back({PutUnit("after"), [&](const absl::StatusOr<ChangeSequence>& sequence) {
                     EXPECT_TRUE(sequence.ok()) << sequence.status();
                     done.Notify();
                   }});
  const auto queued = database_->commits().CommitEach(std::move(mixed));
  EXPECT_FALSE(queued[0].has_value());
  ASSERT_TRUE(queued[1].has_value());
  EXPECT_GT(*queued[1], *epoch);
  done.WaitForNotification();
  EXPECT_EQ(Value("before"), "v");
  EXPECT_EQ(Value("after"), "v");
  EXPECT_EQ(Value("late"), "(none)");
  for (int i = 0; i < kCommits; ++i) EXPECT_EQ(Value("k" + std::to_string(i)), "(none)");
}

class FailedSequencesTest : public FailedBatchTest {
 protected:
  WriteUnit RecordUnit(std::string_view key) const {
    WriteUnit unit = PutUnit(key);
    unit.SetChangeRecord(snapshot_->Find("t")->descriptor.id, "record");
    return unit;
  }
  uint64_t Watermark() const { return database_->change_log().watermark().value(); }
  uint64_t LastTaken() const { return database_->change_log().last_taken().value(); }
  void Fail() {
    resume_test::no_room_to_sync = true;
    EXPECT_FALSE(CommitAndWait(database_.get(), RecordUnit("lost")).ok());
  }
};

TEST_F(FailedSequencesTest, AreNeverHandedOutAgain) {
  ASSERT_TRUE(CommitAndWait(database_.get(), RecordUnit("before")).ok());
  const uint64_t before = Watermark();
  Fail();
  const uint64_t reached = LastTaken();
  EXPECT_GT(reached, before);
  EXPECT_EQ(Watermark(), before) << "a start may bring the batch back";
  database_.reset();
  resume_test::no_room_to_sync = false;
  SetUpAgain();
  const absl::StatusOr<ChangeSequence> next = CommitAndWait(database_.get(), RecordUnit("after"));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_GT(next->value(), reached) << "whoever reads on from there finds it";
  EXPECT_EQ(Value("lost"), "(none)");
}

TEST_F(FailedSequencesTest, AreReadAfterARestartThatBringsThemBack) {
  const absl::StatusOr<ChangeSequence> before = CommitAndWait(database_.get(), RecordUnit("before"));
  ASSERT_TRUE(before.ok()) << before.status();
  resume_test::sync_errno = EIO;
  resume_test::truncations_fail = true;
  Fail();
  EXPECT_EQ(Watermark(), before->value());
  EXPECT_FALSE(CommitAndWait(database_.get(), RecordUnit("refused")).ok());
  EXPECT_EQ(Watermark(), before->value());
  database_.reset();
  resume_test::no_room_to_sync = false;
  resume_test::truncations_fail = false;
  resume_test::sync_errno = ENOSPC;
  SetUpAgain();
  ASSERT_EQ(Value("lost"), "v") << "it was not cut off";
  size_t records = 0;
  const auto read =
      database_->change_log().Read(snapshot_->Find("t")->descriptor.id, *before, database_->change_log().watermark(),
                                   /*records_max=*/10, /*bytes_max=*/1000, [&](ChangeSequence, std::string_view) {
                                     ++records;
                                     return absl::StatusOr<size_t>(1);
                                   });
  EXPECT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(records, 1u) << "whoever has read all gets it";
}

TEST_F(FailedSequencesTest, AResumptionGetsPastThem) {
  ASSERT_TRUE(CommitAndWait(database_.get(), RecordUnit("before")).ok());
  Fail();
  EXPECT_LT(Watermark(), LastTaken());
  resume_test::no_room_to_sync = false;
  EXPECT_TRUE(Eventually([&] { return Watermark() == LastTaken(); })) << "without another write";
}

TEST_F(FailedSequencesTest, ATableThatIsNotMadeTakesNone) {
  ASSERT_TRUE(CommitAndWait(database_.get(), RecordUnit("before")).ok());
  const uint64_t before = Watermark();
  resume_test::no_room_to_sync = true;
  model::TableDescriptor table = PlainTable("streamed");
  table.settings.stream_enabled = true;
  table.settings.stream_view_type = "NEW_IMAGE";
  EXPECT_FALSE(database_->tables().Create(table).ok());
  EXPECT_EQ(Watermark(), before) << "a start would hand it out again";
  EXPECT_EQ(LastTaken(), before);
  resume_test::no_room_to_sync = false;
}

TEST_F(FailedSequencesTest, TheNextCommitGetsPastThem) {
  ASSERT_TRUE(CommitAndWait(database_.get(), RecordUnit("before")).ok());
  Fail();
  resume_test::no_room_to_sync = false;
  absl::StatusOr<ChangeSequence> next = absl::UnknownError("");
  ASSERT_TRUE(Eventually([&] {
    next = CommitAndWait(database_.get(), RecordUnit("after"));
    return next.ok();
  }));
  EXPECT_EQ(Watermark(), next->value());
}

}  // namespace armature::store::failed_batch_test
