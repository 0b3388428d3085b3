// Numbers of shards and of streams, and iterators that begin at a time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/store/stream/stream_set.h"
#include "tests/unit/engine/streams/streams_test_util.h"

namespace armature::engine::streams_test {

using codec::N;
using testing::HasSubstr;
using testing::IsEmpty;

class DefaultStreamsTest : public StreamsTest {
 protected:
  DefaultStreamsTest() : StreamsTest(store::StreamOptions().shards) {}
};

// Programs that read Shards[0] only see all changes.
TEST_F(DefaultStreamsTest, ANewStreamHasOneShardAtATime) {
  Create();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Put(Cat("k", i)).ok());
  ASSERT_EQ(Parents(), (std::vector<std::vector<int>>{{-1}}));
  const absl::StatusOr<GetRecordsResult> page = Get(*Iterator(Arn(), Shards(Arn()).front().key, "TRIM_HORIZON"));
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->records.size(), 20u);
  for (size_t i = 1; i < 20; ++i) EXPECT_GT(page->records[i].sequence, page->records[i - 1].sequence);
  Roll();
  EXPECT_EQ(Parents(), (std::vector<std::vector<int>>{{-1}, {0}}));
}

TEST_F(DefaultStreamsTest, ATableAsksForANumberOfShardsAndItGrowsWhenTheShardsAreReplaced) {
  model::TableDefinition table = StreamTable(kTable, "NEW_IMAGE");
  table.stream->shards = 2;
  ASSERT_TRUE(engine_.CreateTable(table).ok());
  const auto put_all = [&](int round) {
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(Put(Cat("k", i), {{"v", N(Cat(round))}}).ok());
  };
  put_all(1);
  ASSERT_EQ(Parents(), (std::vector<std::vector<int>>{{-1, -1}}));
  ASSERT_EQ(Update({true, "", 8}), absl::OkStatus());
  EXPECT_EQ(engine_.Describe(kTable)->descriptor.settings.stream_shards, 8u);
  put_all(2);
  EXPECT_EQ(Parents(), (std::vector<std::vector<int>>{{-1, -1}})) << "not before the roll-over";
  Roll();
  put_all(3);
  engine_.Reopen();
  put_all(4);
  Roll();
  put_all(5);
  EXPECT_EQ(Parents(), (std::vector<std::vector<int>>{{-1, -1}, {0, 1, 0, 1, 0, 1, 0, 1}, {0, 1, 2, 3, 4, 5, 6, 7}}));
  // A consumer that reads parents first gets all changes of an item in their order.
  std::map<std::string, int> rounds;
  for (const ChangeOfItem& change : Read()) {
    EXPECT_THAT(*change.new_image, HasSubstr(N(Cat(++rounds[change.keys]))));
  }
  EXPECT_EQ(rounds.size(), 40u);
  for (const auto& [keys, round] : rounds) EXPECT_EQ(round, 5);
  const auto children =
      DescribeStream(engine_.database(), {Arn(), {}, {}, ShardFilter{"CHILD_SHARDS", ShardIdText({SegmentId(1), 1})}});
  ASSERT_EQ(children->shards.size(), 4u);
  EXPECT_EQ(children->shards[3].key, (ShardKey{SegmentId(2), 7}));
}

TEST_F(DefaultStreamsTest, NumbersOfShardsThatCannotBeAreRefused) {
  model::TableDefinition table = StreamTable(kTable, "NEW_IMAGE");
  for (const int64_t shards : {-1, 0, 3, 65, 128}) {
    table.stream->shards = shards;
    EXPECT_EQ(ErrorNameOf(engine_.CreateTable(table)), "ValidationException") << shards;
  }
  table.stream->shards = 4;
  ASSERT_TRUE(engine_.CreateTable(table).ok());
  EXPECT_EQ(ErrorNameOf(Update({true, "", 3})), "ValidationException");
  EXPECT_EQ(ErrorNameOf(Update({true, "KEYS_ONLY", 8})), "ValidationException") << "another view";
  EXPECT_THAT(std::string(Update({true, "", 2}).message()), HasSubstr("cannot fall to 2"));
  EXPECT_EQ(Update({true, "NEW_IMAGE", 4}), absl::OkStatus());
  EXPECT_EQ(ErrorNameOf(Update({false, "", 4})), "ValidationException");
  EXPECT_EQ(Update({false, ""}), absl::OkStatus());
  EXPECT_EQ(ErrorNameOf(Update({true, "", 4})), "ValidationException") << "without a view";
  EXPECT_EQ(Update({true, "KEYS_ONLY", 1}), absl::OkStatus());
  EXPECT_EQ(Parents(), (std::vector<std::vector<int>>{{-1}}));
}

// A stream that a build without numbers of shards has begun.
TEST_F(DefaultStreamsTest, AnEarlierStreamKeepsItsShards) {
  Create();
  const std::string label = engine_.database().streams().StreamsOf(kTable).front().label;
  const auto forget = [](model::StreamDescriptor* stream) {
    stream->shard_counts.clear();
    return absl::OkStatus();
  };
  ASSERT_TRUE(*engine_.database().streams().ChangeSettings(kTable, label, forget));
  engine_.Reopen();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Put(Cat("k", i)).ok());
  Roll();
  EXPECT_EQ(Parents(), (std::vector<std::vector<int>>{{-1, -1, -1, -1}, {0, 1, 2, 3}}));
  EXPECT_EQ(Read().size(), 20u);
}

TEST_F(DefaultStreamsTest, ATableHasABoundedNumberOfStreams) {
  Create();
  size_t enabled = 1;
  while (true) {
    ASSERT_EQ(Update({false, ""}), absl::OkStatus());
    const absl::Status again = Update({true, "KEYS_ONLY"});
    if (!again.ok()) {
      EXPECT_EQ(ErrorNameOf(again), "LimitExceededException");
      break;
    }
    ASSERT_LT(++enabled, 1000u);
  }
  EXPECT_EQ(enabled, store::StreamSet::kOfTableMax);
  EXPECT_FALSE(engine_.Describe(kTable)->descriptor.settings.stream_enabled);
  // All of them are listed, by pages.
  std::optional<std::string> after;
  size_t listed = 0;
  do {
    const auto page = ListStreams(&engine_.database(), {std::nullopt, 7, after});
    ASSERT_TRUE(page.ok()) << page.status();
    listed += page->streams.size();
    after = page->last_evaluated_stream_arn;
  } while (after.has_value());
  EXPECT_EQ(listed, enabled);
  // A new table of the name is another one. Old streams go, the latest stay.
  for (size_t i = 0; i < store::StreamSet::kOfNameMax; ++i) {
    ASSERT_TRUE(engine_.DeleteTable(kTable).ok());
    Create();
  }
  const std::vector<model::StreamDescriptor> kept = engine_.database().streams().StreamsOf(kTable);
  EXPECT_EQ(kept.size(), store::StreamSet::kOfNameMax);
  EXPECT_TRUE(kept.back().is_enabled());
  engine_.Reopen();
  EXPECT_EQ(engine_.database().streams().StreamsOf(kTable), kept);
}

TEST_F(DefaultStreamsTest, AnIteratorBeginsAtATime) {
  Create();
  const auto at = [&](int64_t time_ms) {
    return GetShardIterator(engine_.database(),
                            {Arn(), ShardIdText({SegmentId(1), 0}), "AT_TIMESTAMP", std::nullopt, time_ms});
  };
  const auto keys = [&](int64_t time_ms) {
    size_t records = 0;
    std::optional<std::string> next = *at(time_ms);
    for (int i = 0; i < 2; ++i) {
      const absl::StatusOr<GetRecordsResult> page = Get(*next, 1);
      EXPECT_TRUE(page.ok()) << page.status();
      records += page->records.size();
      next = page->next_shard_iterator;
    }
    return records;
  };
  ASSERT_TRUE(Put("a").ok());
  ASSERT_TRUE(Put("b").ok());
  const std::vector<ChangeOfItem> all = Read();
  EXPECT_EQ(keys(0), 2u);
  EXPECT_EQ(keys(-5), 2u);
  EXPECT_EQ(keys(all[0].time_ms), 2u);
  EXPECT_EQ(keys(all[1].time_ms), all[0].time_ms == all[1].time_ms ? 2u : 1u);
  // No record yet: the next one.
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  const absl::StatusOr<std::string> later = at(std::max(now_ms, all[1].time_ms + 1));
  if (later.ok()) {
    EXPECT_THAT(Get(*later)->records, IsEmpty());
  }
  EXPECT_EQ(ErrorNameOf(at(now_ms + 3'600'000).status()), "ValidationException");
  const auto error = [&](const std::string& type, std::optional<std::string> sequence, std::optional<int64_t> time_ms) {
    return ErrorNameOf(GetShardIterator(engine_.database(),
                                        {Arn(), ShardIdText({SegmentId(1), 0}), type, std::move(sequence), time_ms})
                           .status());
  };
  EXPECT_EQ(error("AT_TIMESTAMP", std::nullopt, std::nullopt), "ValidationException");
  EXPECT_EQ(error("LATEST", std::nullopt, now_ms), "ValidationException");
  EXPECT_EQ(error("AT_SEQUENCE_NUMBER", SequenceText(all[0].sequence), now_ms), "ValidationException");
  EXPECT_EQ(error("AT_TIMESTAMP", SequenceText(all[0].sequence), now_ms), "ValidationException");
}

}  // namespace armature::engine::streams_test
