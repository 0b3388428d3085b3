#include "storage/store/commit/committer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "storage/base/api_error.h"
#include "storage/model/wire.h"
#include "storage/store/keyspace.h"
#include "storage/store/log/change_log.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/stream/stream_log.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::committer_test {

// A stream that begins while a batch takes its sequences leaves one out.
TEST(Reservation, HasRoomForSequencesThatAreLeftOut) {
  const test::TempDir dir;
  const DatabaseOptions options = TestOptions(dir.path("data"));
  const std::unique_ptr<RocksDb> rocks = *RocksDb::Open(options.path, options);
  SequenceTickets tickets(ChangeSequence(0));
  ChangeLog log(rocks.get(), &tickets);
  const std::unique_ptr<StreamLog> streams = *StreamLog::Open(rocks.get(), &tickets, /*shards=*/1);
  Committer committer(options, rocks.get(), &tickets, &log, streams.get());
  const auto commit = [&] {
    absl::Notification done;
    std::vector<WriteUnit> units;
    units.emplace_back(nullptr).SetChangeRecord(TableId(1), "record");
    committer.CommitAll(std::move(units), [&done](const absl::StatusOr<ChangeSequence>& sequence) {
      EXPECT_TRUE(sequence.ok()) << sequence.status();
      done.Notify();
    });
    done.WaitForNotification();
  };
  const auto reserved = [&] { return *ParseU64(**rocks->Get(*rocks->meta(), kSequenceKey)); };
  commit();
  const uint64_t first = reserved();
  tickets.Skip(ChangeSequence(first - 1));
  commit();
  EXPECT_EQ(tickets.last_taken().value(), first);
  EXPECT_GT(reserved(), first);
}

class CommitterTest : public testing::Test {
 protected:
  void SetUp() override { Open(TestOptions(dir_.path("data"))); }

  void Open(const DatabaseOptions& options) {
    snapshot_.reset();
    database_.reset();
    database_ = OpenDatabase(options);
    if (database_->catalog()->Find("t") == nullptr) CreateActive(database_.get(), IndexedTable("t"));
    snapshot_ = database_->catalog();
  }

  const Table& table() const { return *snapshot_->Find("t"); }
  WriteUnit Unit() const { return WriteUnit(snapshot_); }
  WriteUnit PutUnit(std::string_view key, std::string_view value) const {
    WriteUnit unit = Unit();
    unit.Put(table().data, key, value);
    unit.AddStats(table().data, {1, static_cast<int64_t>(value.size())});
    return unit;
  }
  WriteUnit RecordUnit(std::string_view key) const {
    WriteUnit unit = PutUnit(key, "v");
    unit.SetChangeRecord(table().descriptor.id, "record");
    return unit;
  }
  // Makes the column families of the table and of its local index. The first write to a family waits for it.
  void MakeFamilies() {
    WriteUnit unit = Unit();
    unit.Put(table().data, "first", "v");
    unit.Put(table().local_indexes[0].keyspace, "first", "v");
    unit.AddCounter(table().collections, "first", 1);
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
    // The thread that has made them passes commits on for a moment longer, and those have no epoch.
    ASSERT_TRUE(Eventually([this] {
      absl::Notification answered;
      const auto epoch = database_->commits().Commit(
          PutUnit("first", "v"), [&answered](const absl::StatusOr<ChangeSequence>&) { answered.Notify(); });
      answered.WaitForNotification();
      return epoch.has_value();
    }));
  }
  std::string Value(std::string_view key) const { return ValueOf(*database_, table().data, key); }
  // The collection counter under `key`, 0 without one.
  uint64_t Counter(std::string_view key) const {
    const std::string value = ValueOf(*database_, table().collections, key);
    if (value == "(none)") return 0;
    std::string_view bytes = value;
    uint64_t count = 0;
    EXPECT_TRUE(model::TakeVarint(&bytes, &count) && bytes.empty());
    return count;
  }

  const test::TempDir dir_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
};

TEST_F(CommitterTest, WhatWasAnsweredIsReadAndSurvivesReopen) {
  for (const Durability durability : {Durability::kSync, Durability::kInterval, Durability::kOs}) {
    DatabaseOptions options = TestOptions(dir_.path("data"));
    options.durability = durability;
    options.sync_interval_ms = 1;
    Open(options);
    const std::string key = "k" + std::to_string(static_cast<int>(durability));
    ASSERT_TRUE(CommitAndWait(database_.get(), PutUnit(key, "value")).ok());
    EXPECT_EQ(Value(key), "value");
    Open(options);
    EXPECT_EQ(Value(key), "value");
  }
}

TEST_F(CommitterTest, UnitsThatComeTogetherAreWrittenTogetherAndFailByThemselves) {
  DatabaseOptions options = TestOptions(dir_.path("data"));
  options.item_collection_bytes_max = 100;
  Open(options);
  MakeFamilies();
  const uint64_t batches = database_->commits().counters().batches;
  std::vector<Commitment> commitments;
  std::vector<absl::Status> answers(50);
  absl::BlockingCounter left(50);
  for (size_t i = 0; i < answers.size(); ++i) {
    WriteUnit unit = PutUnit("k" + std::to_string(i), "v");
    if (i == 7) unit.AddCounter(table().collections, "full", 101);
    commitments.push_back({std::move(unit), [&, i](const absl::StatusOr<ChangeSequence>& sequence) {
                             answers[i] = sequence.status();
                             left.DecrementCount();
                           }});
  }
  database_->commits().CommitEach(std::move(commitments));
  left.Wait();
  EXPECT_EQ(database_->commits().counters().batches, batches + 1);
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].ok(), i != 7) << answers[i];
    EXPECT_EQ(Value("k" + std::to_string(i)), i != 7 ? "v" : "(none)");
  }
  EXPECT_EQ(ExceededCollections(answers[7]), (std::vector<CollectionName>{{NameOf(table().collections), "full"}}));
}

TEST_F(CommitterTest, UnitsAreAppliedInOrderAndCallbacksRunOnceInThatOrder) {
  constexpr int kUnits = 5000;
  std::vector<int> order;
  absl::BlockingCounter left(kUnits);
  for (int i = 0; i < kUnits; ++i) {
    WriteUnit unit = Unit();
    unit.Put(table().data, "k", std::to_string(i));
    database_->commits().Commit(std::move(unit), [&, i](absl::StatusOr<ChangeSequence> sequence) {
      EXPECT_TRUE(sequence.ok());
      order.push_back(i);
      left.DecrementCount();
    });
  }
  left.Wait();
  ASSERT_EQ(order.size(), size_t{kUnits});
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(Value("k"), std::to_string(kUnits - 1));
}

TEST_F(CommitterTest, SequencesAscendAndAUnitWithoutRecordAnswersTheOneBefore) {
  EXPECT_EQ(*CommitAndWait(database_.get(), PutUnit("a", "1")), ChangeSequence(0));
  EXPECT_EQ(*CommitAndWait(database_.get(), RecordUnit("b")), ChangeSequence(1));
  EXPECT_EQ(*CommitAndWait(database_.get(), PutUnit("c", "1")), ChangeSequence(1));
  EXPECT_EQ(*CommitAndWait(database_.get(), RecordUnit("d")), ChangeSequence(2));
  std::vector<WriteUnit> both;
  both.push_back(RecordUnit("e"));
  both.push_back(RecordUnit("f"));
  EXPECT_EQ(*CommitAndWait(database_.get(), std::move(both)), ChangeSequence(4));
  Open(TestOptions(dir_.path("data")));
  EXPECT_GT(*CommitAndWait(database_.get(), RecordUnit("g")), ChangeSequence(4));
}

TEST_F(CommitterTest, ManyThreadsGetSequencesOfTheirOwn) {
  constexpr int kThreads = 8;
  constexpr int kUnits = 300;
  absl::Mutex mutex;
  std::set<uint64_t> sequences;
  absl::BlockingCounter left(kThreads * kUnits);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kUnits; ++i) {
        database_->commits().Commit(RecordUnit("k" + std::to_string(t * kUnits + i)),
                                    [&](absl::StatusOr<ChangeSequence> sequence) {
                                      {
                                        const absl::MutexLock lock(&mutex);
                                        EXPECT_TRUE(sequences.insert(sequence->value()).second);
                                      }
                                      left.DecrementCount();
                                    });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  left.Wait();
  EXPECT_EQ(sequences.size(), size_t{kThreads * kUnits});
  EXPECT_EQ(*sequences.rbegin(), uint64_t{kThreads * kUnits});
  EXPECT_EQ(table().data.stats->items(), kThreads * kUnits);
}

TEST_F(CommitterTest, CountsUnitsAndBatches) {
  const CommitterCounters before = database_->commits().counters();
  std::vector<WriteUnit> units;
  for (const char* key : {"a", "b", "c"}) units.push_back(PutUnit(key, "v"));
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(units)).ok());
  const CommitterCounters after = database_->commits().counters();
  EXPECT_EQ(after.units - before.units, 3u);
  EXPECT_EQ(after.batches - before.batches, 1u);
}

TEST_F(CommitterTest, TotalsAreExactAcrossReopen) {
  ASSERT_TRUE(CommitAndWait(database_.get(), PutUnit("a", "12345")).ok());
  ASSERT_TRUE(CommitAndWait(database_.get(), PutUnit("b", "678")).ok());
  WriteUnit remove = Unit();
  remove.Delete(table().data, "a");
  remove.AddStats(table().data, {-1, -5});
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(remove)).ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(table().data.stats->items(), 1);
    EXPECT_EQ(table().data.stats->bytes(), 3);
    EXPECT_EQ(table().local_indexes[0].keyspace.stats->items(), 0);
    Open(TestOptions(dir_.path("data")));
  }
}

TEST_F(CommitterTest, CountersAddUpWithinAndAcrossBatchesAndVanishAtZero) {
  std::vector<WriteUnit> units;
  for (const int64_t delta : {100, 200, -50}) {
    WriteUnit unit = Unit();
    unit.AddCounter(table().collections, "p", delta);
    units.push_back(std::move(unit));
  }
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(units)).ok());
  EXPECT_EQ(Counter("p"), 250u);
  WriteUnit unit = Unit();
  unit.AddCounter(table().collections, "p", 1000);
  unit.AddCounter(table().collections, "q", 1);
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  EXPECT_EQ(Counter("p"), 1250u);
  Open(TestOptions(dir_.path("data")));
  EXPECT_EQ(Counter("p"), 1250u);
  unit = Unit();
  unit.AddCounter(table().collections, "p", -1250);
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  EXPECT_EQ(KeysOf(*database_, table().collections), std::vector<std::string>{"q"});
}

TEST_F(CommitterTest, AFailedUnitLeavesNothingOfItsGroup) {
  // An invalid counter fails its batch.
  WriteUnit damage = Unit();
  damage.Put(table().collections, "bad", "\xff");
  ASSERT_TRUE(CommitAndWait(database_.get(), std::move(damage)).ok());
  std::vector<WriteUnit> units;
  units.push_back(RecordUnit("a"));
  units.push_back(Unit());
  units.back().AddCounter(table().collections, "bad", 1);
  units.push_back(PutUnit("b", "v"));
  EXPECT_EQ(CommitAndWait(database_.get(), std::move(units)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Value("a"), "(none)");
  EXPECT_EQ(Value("b"), "(none)");
  EXPECT_EQ(table().data.stats->items(), 0);
  // The sequence of the failed unit is a gap. It does not block the watermark.
  const absl::StatusOr<ChangeSequence> next = CommitAndWait(database_.get(), RecordUnit("c"));
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(database_->change_log().watermark(), *next);
  EXPECT_EQ(Value("c"), "v");
}

// Blocks the writing thread, which notifies the consumer of each batch with records before it takes the next batch.
class HoldingConsumer : public ChangeConsumer {
 public:
  void OnAppended(const std::vector<TableId>&) override {
    if (!holding_.HasBeenNotified()) holding_.Notify();
    go_on_.WaitForNotification();
  }
  absl::Notification holding_;
  absl::Notification go_on_;
};

TEST_F(CommitterTest, AFullQueueThrottlesAtOnceAndWritesNothing) {
  DatabaseOptions options = TestOptions(dir_.path("data"));
  options.commit_queue_units_max = 3;
  Open(options);
  HoldingConsumer consumer;
  database_->change_log().SetConsumer(&consumer);
  absl::BlockingCounter left(4);
  const auto accepted = [&](absl::StatusOr<ChangeSequence> sequence) {
    EXPECT_TRUE(sequence.ok()) << sequence.status();
    left.DecrementCount();
  };
  database_->commits().Commit(RecordUnit("held"), accepted);
  consumer.holding_.WaitForNotification();
  for (const char* key : {"a", "b", "c"}) database_->commits().Commit(PutUnit(key, "v"), accepted);
  bool refused = false;
  database_->commits().Commit(PutUnit("d", "v"), [&](absl::StatusOr<ChangeSequence> sequence) {
    const std::optional<ApiError> error = GetApiError(sequence.status());
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->type, ApiErrorType::kThrottling);
    EXPECT_GT(error->retry_after_ms, 0);
    refused = true;
  });
  EXPECT_TRUE(refused);
  consumer.go_on_.Notify();
  left.Wait();
  EXPECT_EQ(Value("c"), "v");
  EXPECT_EQ(Value("d"), "(none)");
  EXPECT_EQ(table().data.stats->items(), 4);
  EXPECT_TRUE(CommitAndWait(database_.get(), PutUnit("d", "v")).ok());
  database_->change_log().SetConsumer(nullptr);
}

TEST_F(CommitterTest, TheBoundOnBytesThrottlesButNeverRefusesASingleUnit) {
  DatabaseOptions options = TestOptions(dir_.path("data"));
  options.commit_queue_bytes_max = 1000;
  Open(options);
  const std::string large(5000, 'x');
  ASSERT_TRUE(CommitAndWait(database_.get(), PutUnit("alone", large)).ok());
  HoldingConsumer consumer;
  database_->change_log().SetConsumer(&consumer);
  absl::BlockingCounter left(2);
  const auto accepted = [&](absl::StatusOr<ChangeSequence> sequence) {
    EXPECT_TRUE(sequence.ok());
    left.DecrementCount();
  };
  database_->commits().Commit(RecordUnit("held"), accepted);
  consumer.holding_.WaitForNotification();
  database_->commits().Commit(PutUnit("a", large), accepted);
  bool refused = false;
  database_->commits().Commit(PutUnit("b", "v"),
                              [&](absl::StatusOr<ChangeSequence> sequence) { refused = !sequence.ok(); });
  EXPECT_TRUE(refused);
  consumer.go_on_.Notify();
  left.Wait();
  database_->change_log().SetConsumer(nullptr);
}

TEST_F(CommitterTest, AnAnswerWithoutAWriteWaitsForWhatIsQueued) {
  MakeFamilies();
  HoldingConsumer consumer;
  database_->change_log().SetConsumer(&consumer);
  std::string order;  // callbacks run on one thread
  absl::BlockingCounter left(3);
  const auto note = [&](char name) {
    return [&order, &left, name](const absl::StatusOr<ChangeSequence>& sequence) {
      EXPECT_TRUE(sequence.ok()) << sequence.status();
      order += name;
      left.DecrementCount();
    };
  };
  database_->commits().Commit(RecordUnit("held"), note('h'));
  consumer.holding_.WaitForNotification();
  const std::optional<CommitEpoch> epoch = database_->commits().Commit(RecordUnit("a"), note('a'));
  ASSERT_TRUE(epoch.has_value());
  const uint64_t units = database_->commits().counters().units;
  ChangeSequence seen;
  database_->commits().WhenDurable(*epoch, /*held_bytes=*/100, [&](const absl::StatusOr<ChangeSequence>& sequence) {
    EXPECT_EQ(Value("a"), "v");
    seen = sequence.ok() ? *sequence : ChangeSequence();
    note('w')(sequence);
  });
  EXPECT_GE(database_->commits().counters().queue_bytes, 100U);
  consumer.go_on_.Notify();
  left.Wait();
  EXPECT_EQ(order, "haw");
  EXPECT_EQ(seen, ChangeSequence(2));
  EXPECT_EQ(database_->commits().counters().units, units + 1) << "nothing was written for the answer";
  // Alone in its batch.
  absl::Notification alone;
  database_->commits().WhenDurable(*epoch, /*held_bytes=*/0, [&](const absl::StatusOr<ChangeSequence>& sequence) {
    EXPECT_TRUE(sequence.ok() && *sequence == ChangeSequence(2)) << sequence.status();
    alone.Notify();
  });
  alone.WaitForNotification();
  database_->change_log().SetConsumer(nullptr);
}

TEST_F(CommitterTest, AnswersAndCommitsHaveLimitsOfTheirOwn) {
  DatabaseOptions options = TestOptions(dir_.path("data"));
  options.commit_queue_bytes_max = 1000;
  Open(options);
  MakeFamilies();
  HoldingConsumer consumer;
  database_->change_log().SetConsumer(&consumer);
  absl::BlockingCounter left(3);
  const auto accepted = [&](const absl::StatusOr<ChangeSequence>& sequence) {
    EXPECT_TRUE(sequence.ok()) << sequence.status();
    left.DecrementCount();
  };
  int refused = 0;
  const auto is_refused = [&](const absl::StatusOr<ChangeSequence>& sequence) {
    const std::optional<ApiError> error = GetApiError(sequence.status());
    EXPECT_TRUE(error.has_value() && error->type == ApiErrorType::kThrottling) << sequence.status();
    ++refused;
  };
  const std::optional<CommitEpoch> epoch = database_->commits().Commit(RecordUnit("held"), accepted);
  ASSERT_TRUE(epoch.has_value());
  consumer.holding_.WaitForNotification();
  database_->commits().WhenDurable(*epoch, /*held_bytes=*/5000, accepted);
  database_->commits().WhenDurable(*epoch, /*held_bytes=*/1, is_refused);
  database_->commits().Commit(PutUnit("a", std::string(5000, 'x')), accepted);
  database_->commits().Commit(PutUnit("b", "v"), is_refused);
  EXPECT_EQ(refused, 2);
  EXPECT_GE(database_->commits().counters().queue_bytes, 10'000U);
  consumer.go_on_.Notify();
  left.Wait();
  EXPECT_EQ(database_->commits().counters().queue_bytes, 0U);
  absl::Notification next;
  database_->commits().WhenDurable(*epoch, /*held_bytes=*/1, [&next](const absl::StatusOr<ChangeSequence>& sequence) {
    EXPECT_TRUE(sequence.ok()) << sequence.status();
    next.Notify();
  });
  next.WaitForNotification();
  database_->change_log().SetConsumer(nullptr);
}

TEST_F(CommitterTest, HeldMemoryDoesNotMakeBatchesSmaller) {
  MakeFamilies();
  HoldingConsumer consumer;
  database_->change_log().SetConsumer(&consumer);
  absl::BlockingCounter left(5);
  const auto accepted = [&](const absl::StatusOr<ChangeSequence>& sequence) {
    EXPECT_TRUE(sequence.ok()) << sequence.status();
    left.DecrementCount();
  };
  database_->commits().Commit(RecordUnit("held"), accepted);
  consumer.holding_.WaitForNotification();
  const CommitterCounters before = database_->commits().counters();
  for (const char* key : {"a", "b", "c", "d"}) {
    database_->commits().Commit(PutUnit(key, "v"), accepted, {std::nullopt, size_t{8} << 20});
  }
  consumer.go_on_.Notify();
  left.Wait();
  const CommitterCounters after = database_->commits().counters();
  EXPECT_EQ(after.batches, before.batches + 1);
  EXPECT_LT(after.bytes - before.bytes, 10'000U);
  database_->change_log().SetConsumer(nullptr);
}

TEST_F(CommitterTest, ClosingCommitsAndAnswersWhatWaits) {
  constexpr int kUnits = 500;
  std::atomic<int> answered = 0;
  for (int i = 0; i < kUnits; ++i) {
    database_->commits().Commit(PutUnit("k" + std::to_string(i), "v"),
                                [&](absl::StatusOr<ChangeSequence> sequence) { answered += sequence.ok() ? 1 : 0; });
  }
  Open(TestOptions(dir_.path("data")));
  EXPECT_EQ(answered, kUnits);
  EXPECT_EQ(table().data.stats->items(), kUnits);
  EXPECT_EQ(KeysOf(*database_, table().data).size(), size_t{kUnits});
}

}  // namespace armature::store::committer_test
