#include "storage/store/log/change_log.h"

#include <gtest/gtest.h>

#include "storage/base/api_error.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::change_log_test {

constexpr size_t kNoBound = size_t{1} << 30;

class ChangeLogTest : public testing::Test {
 protected:
  // Writes `count` records of ten bytes for `table`. Returns the last sequence.
  ChangeSequence Append(TableId table, int count) {
    ChangeSequence last;
    for (int i = 0; i < count; ++i) {
      WriteUnit unit(nullptr);
      unit.SetChangeRecord(table, std::string(10, static_cast<char>('a' + i)));
      last = *CommitAndWait(database_.get(), std::move(unit));
    }
    return last;
  }

  struct Result {
    ChangeLog::ReadOutcome outcome;
    std::vector<uint64_t> sequences;
  };
  Result Read(TableId table, uint64_t after, size_t records_max = kNoBound, size_t bytes_max = kNoBound) {
    Result result;
    const auto outcome =
        database_->change_log().Read(table, ChangeSequence(after), database_->change_log().watermark(), records_max,
                                     bytes_max, [&](ChangeSequence sequence, std::string_view record) {
                                       result.sequences.push_back(sequence.value());
                                       return record.size();
                                     });
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    result.outcome = *outcome;
    return result;
  }

  using Sequences = std::vector<uint64_t>;
  const test::TempDir dir_;
  std::unique_ptr<Database> database_ = OpenDatabase(TestOptions(dir_.path("data")));
};

TEST_F(ChangeLogTest, EmptyLogIsDrained) {
  const Result result = Read(TableId(1), 0);
  EXPECT_TRUE(result.outcome.drained);
  EXPECT_EQ(result.outcome.records, 0u);
  EXPECT_EQ(result.outcome.read_through, ChangeSequence(0));
}

TEST_F(ChangeLogTest, ReadsTheRecordsOfOneTableBehindAPosition) {
  Append(TableId(1), 2);  // 1, 2
  Append(TableId(2), 2);  // 3, 4
  Append(TableId(1), 1);  // 5
  EXPECT_EQ(database_->change_log().watermark(), ChangeSequence(5));
  EXPECT_EQ(Read(TableId(1), 0).sequences, (Sequences{1, 2, 5}));
  EXPECT_EQ(Read(TableId(1), 1).sequences, (Sequences{2, 5}));
  EXPECT_EQ(Read(TableId(2), 0).sequences, (Sequences{3, 4}));
  const Result behind = Read(TableId(2), 4);
  EXPECT_TRUE(behind.sequences.empty());
  EXPECT_TRUE(behind.outcome.drained);
  // Drained means that the log was read up to the watermark, even if the table's last record lies before it.
  EXPECT_EQ(behind.outcome.read_through, ChangeSequence(5));
}

TEST_F(ChangeLogTest, StopsAtTheBounds) {
  Append(TableId(1), 5);
  const Result by_records = Read(TableId(1), 0, 2);
  EXPECT_EQ(by_records.sequences, (Sequences{1, 2}));
  EXPECT_FALSE(by_records.outcome.drained);
  EXPECT_EQ(by_records.outcome.read_through, ChangeSequence(2));
  // The byte bound: the record that exceeds it is the last one.
  const Result by_bytes = Read(TableId(1), 2, kNoBound, 11);
  EXPECT_EQ(by_bytes.sequences, (Sequences{3, 4}));
  EXPECT_FALSE(by_bytes.outcome.drained);
  const Result rest = Read(TableId(1), 4, 1);
  EXPECT_EQ(rest.sequences, (Sequences{5}));
  EXPECT_TRUE(rest.outcome.drained);
}

TEST_F(ChangeLogTest, HandsOnTheErrorOfTheReader) {
  Append(TableId(1), 2);
  const auto outcome =
      database_->change_log().Read(TableId(1), ChangeSequence(0), ChangeSequence(2), kNoBound, kNoBound,
                                   [](ChangeSequence, std::string_view) { return absl::DataLossError("no"); });
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ChangeLogTest, TrimForgetsUpToAndIncludingThePosition) {
  Append(TableId(1), 4);
  Append(TableId(2), 1);
  ASSERT_TRUE(database_->change_log().Trim(TableId(1), ChangeSequence(3)).ok());
  EXPECT_EQ(Read(TableId(1), 0).sequences, (Sequences{4}));
  EXPECT_EQ(Read(TableId(2), 0).sequences, (Sequences{5}));
}

TEST_F(ChangeLogTest, SequencesGoOnAfterReopenEvenIfTheLogWasTrimmed) {
  Append(TableId(1), 4);
  ASSERT_TRUE(database_->change_log().Trim(TableId(1), ChangeSequence(4)).ok());
  database_.reset();
  database_ = OpenDatabase(TestOptions(dir_.path("data")));
  const ChangeSequence reserved = database_->change_log().watermark();
  EXPECT_GE(reserved, ChangeSequence(4));
  EXPECT_EQ(Append(TableId(1), 1), ChangeSequence(reserved.value() + 1));
}

class NotingConsumer : public ChangeConsumer {
 public:
  void OnAppended(const std::vector<TableId>& tables) override {
    const absl::MutexLock lock(&mutex_);
    tables_.insert(tables_.end(), tables.begin(), tables.end());
  }
  std::vector<TableId> tables() {
    const absl::MutexLock lock(&mutex_);
    return tables_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<TableId> tables_;
};

TEST_F(ChangeLogTest, ConsumerIsToldOfRecordsUntilItIsTakenAway) {
  NotingConsumer consumer;
  database_->change_log().SetConsumer(&consumer);
  Append(TableId(3), 1);
  EXPECT_EQ(consumer.tables(), std::vector<TableId>{TableId(3)});
  database_->change_log().SetConsumer(nullptr);
  Append(TableId(3), 1);
  EXPECT_EQ(consumer.tables().size(), 1u);
}

TEST(IndexProgress, WaiterRunsAtOnceIfTheSequenceIsApplied) {
  TimerQueue timers;
  const auto progress = std::make_shared<IndexProgress>(ChangeSequence(5), &timers);
  bool ran = false;
  progress->WhenApplied(ChangeSequence(5), Deadline::Passed(), [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    ran = true;
  });
  EXPECT_TRUE(ran);
}

TEST(IndexProgress, AdvanceRunsThoseThatWaitedForItAndNoOthers) {
  TimerQueue timers;
  const auto progress = std::make_shared<IndexProgress>(ChangeSequence(0), &timers);
  std::vector<uint64_t> ran;
  for (const uint64_t sequence : {3, 1, 2, 7}) {
    progress->WhenApplied(ChangeSequence(sequence), Deadline::Never(), [&ran, sequence](const absl::Status& status) {
      EXPECT_TRUE(status.ok());
      ran.push_back(sequence);
    });
  }
  progress->Advance(ChangeSequence(2));
  std::sort(ran.begin(), ran.end());
  EXPECT_EQ(ran, (std::vector<uint64_t>{1, 2}));
  progress->Advance(ChangeSequence(1));  // lower position: ignored
  EXPECT_EQ(progress->applied(), ChangeSequence(2));
  progress->Advance(ChangeSequence(10));
  EXPECT_EQ(ran.size(), 4u);
}

TEST(IndexProgress, CloseEndsTheWaitsOfNowAndLater) {
  TimerQueue timers;
  const auto progress = std::make_shared<IndexProgress>(ChangeSequence(5), &timers);
  std::vector<absl::Status> ended;
  const auto note = [&ended](const absl::Status& status) { ended.push_back(status); };
  progress->WhenApplied(ChangeSequence(6), Deadline::Never(), note);
  EXPECT_TRUE(ended.empty());
  progress->Close(absl::AbortedError("gone"));
  progress->WhenApplied(ChangeSequence(7), Deadline::Never(), note);
  progress->Advance(ChangeSequence(9));
  EXPECT_EQ(ended, std::vector<absl::Status>(2, absl::AbortedError("gone")));
}

TEST(IndexProgress, WaiterExpiresOnceAndIsForgotten) {
  TimerQueue timers;
  const auto progress = std::make_shared<IndexProgress>(ChangeSequence(0), &timers);
  absl::Notification expired;
  int calls = 0;
  progress->WhenApplied(ChangeSequence(1), Deadline::After(absl::Milliseconds(3)), [&](const absl::Status& status) {
    const auto error = GetApiError(status);
    EXPECT_TRUE(error.has_value() && error->type == ApiErrorType::kDeadlineExceeded) << status;
    ++calls;
    expired.Notify();
  });
  expired.WaitForNotification();
  progress->Advance(ChangeSequence(1));
  EXPECT_EQ(calls, 1);
}

TEST(IndexProgress, TimerOfAWaiterMayOutliveTheProgress) {
  TimerQueue timers;
  absl::Notification later;
  const Deadline soon = Deadline::After(absl::Milliseconds(3));
  {
    const auto progress = std::make_shared<IndexProgress>(ChangeSequence(0), &timers);
    progress->WhenApplied(ChangeSequence(1), soon, [](const absl::Status&) {});
  }
  timers.At(Deadline::After(absl::Milliseconds(4)), [&] { later.Notify(); });
  later.WaitForNotification();
}

}  // namespace armature::store::change_log_test
