// Streams: the records of every kind of write, shards and iterators.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/streams/stream_ops.h"
#include "engine/tables/table_settings.h"
#include "storage/codec/stored_item.h"
#include "storage/codec/stream_codec.h"
#include "storage/model/table_name.h"
#include "storage/store/stream/stream_keeper.h"
#include "storage/store/stream/stream_log.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/items/group_test_util.h"
#include "tests/unit/engine/streams/streams_test_util.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::engine::streams_test {

using codec::Item;
using codec::N;
using codec::S;
using codec::StreamEvent;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ViewCase {
  const char* view;
  bool has_new;
  bool has_old;
};

TEST_F(StreamsTest, EachViewHasItsImages) {
  for (const ViewCase& c : {ViewCase{"KEYS_ONLY", false, false}, ViewCase{"NEW_IMAGE", true, false},
                            ViewCase{"OLD_IMAGE", false, true}, ViewCase{"NEW_AND_OLD_IMAGES", true, true}}) {
    ASSERT_TRUE(engine_.CreateTable(StreamTable(c.view, c.view)).ok());
    const auto write = [&](std::string item) { return WriteTo(c.view, std::move(item)); };
    ASSERT_TRUE(engine_.Put(write(PlainItem("a", "1", {{"v", N("1")}}))).ok());
    ASSERT_TRUE(engine_.Put(write(PlainItem("a", "1", {{"v", N("2")}}))).ok());
    ASSERT_TRUE(engine_.Delete(write(PlainItem("a", "1"))).ok());
    const std::vector<ChangeOfItem> changes = Read(Arn(c.view));
    ASSERT_EQ(changes.size(), 3u) << c.view;
    const std::string keys = Canonical(PlainItem("a", "1"));
    const std::string first = Canonical(PlainItem("a", "1", {{"v", N("1")}}));
    const std::string second = Canonical(PlainItem("a", "1", {{"v", N("2")}}));
    const auto image = [](bool is_there, std::optional<std::string> bytes) {
      return is_there ? std::move(bytes) : std::nullopt;
    };
    const StreamEvent events[] = {StreamEvent::kInsert, StreamEvent::kModify, StreamEvent::kRemove};
    const std::optional<std::string> news[] = {first, second, std::nullopt};
    const std::optional<std::string> olds[] = {std::nullopt, first, second};
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(changes[i].event, events[i]) << c.view;
      EXPECT_EQ(changes[i].keys, keys) << c.view;
      EXPECT_EQ(changes[i].new_image, image(c.has_new, news[i])) << c.view << i;
      EXPECT_EQ(changes[i].old_image, image(c.has_old, olds[i])) << c.view << i;
      EXPECT_FALSE(changes[i].is_expiry);
      const bool has_new = changes[i].new_image.has_value();
      const bool has_old = changes[i].old_image.has_value();
      EXPECT_EQ(changes[i].api_size, 7 + 10 * (has_new ? 1 : 0) + 10 * (has_old ? 1 : 0)) << "pk, a, sk, 1; v and 2";
    }
  }
}

TEST_F(StreamsTest, KeysAreStoredAsTheItemThatTheyAre) {
  Create("KEYS_ONLY");
  ASSERT_TRUE(Put("a", {{"v", N("1e125")}}).ok());
  const store::StreamLog& streams = engine_.database().streams();
  const StreamId stream = streams.StreamsOf(kTable).at(0).id;
  int records = 0;
  for (const ShardRange& shard : Shards(Arn())) {
    const auto read = streams.Read(shard.key.segment, stream, shard.key.slot, ChangeSequence(0),
                                   [&](ChangeSequence, std::string_view bytes) -> absl::StatusOr<bool> {
                                     ++records;
                                     const auto record = codec::ParseStreamRecord(bytes);
                                     EXPECT_TRUE(record.ok() && record->keys.has_value());
                                     EXPECT_FALSE(codec::ParseStoredItem(*record->keys)->compact_numbers);
                                     return true;
                                   });
    EXPECT_TRUE(read.ok()) << read.status();
  }
  EXPECT_EQ(records, 1);
}

TEST_F(StreamsTest, WritesThatChangeNothingMakeNoRecord) {
  Create();
  ASSERT_TRUE(Put("a", {{"v", N("1.0")}}).ok());
  EXPECT_TRUE(Put("a", {{"v", N("1")}}).ok());
  EXPECT_TRUE(Delete("missing").ok());
  WriteRequest conditional = WriteTo(kTable, PlainItem("a", "1"));
  conditional.expressions.condition = "attribute_not_exists(pk)";
  EXPECT_FALSE(engine_.Put(conditional).ok());
  WriteRequest update = WriteTo(kTable, PlainItem("b", "1"));
  update.expressions.update = "REMOVE v";
  EXPECT_TRUE(engine_.Update(update).ok());
  const std::vector<ChangeOfItem> changes = Read();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].event, StreamEvent::kInsert);
}

TEST_F(StreamsTest, AnItemWithKeysOnlyHasAnOldImage) {
  Create("OLD_IMAGE");
  ASSERT_TRUE(Put("a").ok());
  ASSERT_TRUE(Delete("a").ok());
  const std::vector<ChangeOfItem> changes = Read();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1].old_image, Canonical(PlainItem("a", "1")));
}

TEST_F(StreamsTest, LongNumbersAreAnsweredInFull) {
  Create();
  ASSERT_TRUE(Put("a", {{"v", N("1e30")}}).ok());
  EXPECT_EQ(Read().at(0).new_image, Canonical(PlainItem("a", "1")) + Item({{"v", N("1" + std::string(30, '0'))}}));
}

TEST_F(StreamsTest, ReadingGoesFromClosedShardsToTheirChildren) {
  Create();
  ASSERT_TRUE(Put("a", {{"v", N("1")}}).ok());
  Roll();
  ASSERT_TRUE(Put("a", {{"v", N("2")}}).ok());
  Roll();
  Roll();
  ASSERT_TRUE(Put("a", {{"v", N("3")}}).ok());
  const std::vector<ShardRange> shards = Shards(Arn());
  ASSERT_EQ(shards.size(), 4u * kShards);
  for (size_t i = 0; i < shards.size(); ++i) {
    EXPECT_EQ(shards[i].parent.has_value(), i >= kShards);
    EXPECT_EQ(shards[i].last.has_value(), i < 3u * kShards);
  }
  const std::vector<ChangeOfItem> changes = Read(Arn(), 1);
  ASSERT_EQ(changes.size(), 3u);
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_GT(changes[i].sequence, changes[i - 1].sequence);
    EXPECT_EQ(changes[i].old_image, changes[i - 1].new_image);
  }
  const auto children =
      DescribeStream(engine_.database(), {Arn(), {}, {}, ShardFilter{"CHILD_SHARDS", ShardIdText({SegmentId(1), 2})}});
  ASSERT_TRUE(children.ok());
  ASSERT_EQ(children->shards.size(), 1u);
  EXPECT_EQ(children->shards[0].key, (ShardKey{SegmentId(2), 2}));
  const auto leaf =
      DescribeStream(engine_.database(), {Arn(), {}, {}, ShardFilter{"CHILD_SHARDS", ShardIdText({SegmentId(4), 2})}});
  ASSERT_TRUE(leaf.ok());
  EXPECT_THAT(leaf->shards, IsEmpty());
}

// The shard that holds the records of a partition key.
ShardKey ShardOf(const std::vector<ShardRange>& shards, TestEngine& engine, const std::string& arn) {
  for (const ShardRange& shard : shards) {
    const auto iterator =
        GetShardIterator(engine.database(), {arn, ShardIdText(shard.key), "TRIM_HORIZON", std::nullopt});
    if (!GetRecords(engine.database(), {*iterator, {}})->records.empty()) return shard.key;
  }
  ADD_FAILURE() << "no records";
  return {};
}

TEST_F(StreamsTest, IteratorsBeginWhereTheyAreAsked) {
  Create();
  for (const char* const v : {"1", "2", "3"}) ASSERT_TRUE(Put("a", {{"v", N(v)}}).ok());
  const std::string arn = Arn();
  const ShardKey shard = ShardOf(Shards(arn), engine_, arn);
  const std::vector<ChangeOfItem> all = Read();
  const uint64_t first = all.front().sequence.value();
  const auto sequences = [&](const absl::StatusOr<std::string>& iterator) {
    std::vector<uint64_t> found;
    EXPECT_TRUE(iterator.ok()) << iterator.status();
    if (!iterator.ok()) return found;
    const absl::StatusOr<GetRecordsResult> page = Get(*iterator);
    for (const ChangeOfItem& change : page->records) found.push_back(change.sequence.value());
    return found;
  };
  EXPECT_THAT(sequences(Iterator(arn, shard, "TRIM_HORIZON")), ElementsAre(first, first + 1, first + 2));
  EXPECT_THAT(sequences(Iterator(arn, shard, "LATEST")), IsEmpty());
  const std::string second = SequenceText(all[1].sequence);
  EXPECT_THAT(sequences(Iterator(arn, shard, "AT_SEQUENCE_NUMBER", second)), ElementsAre(first + 1, first + 2));
  EXPECT_THAT(sequences(Iterator(arn, shard, "AFTER_SEQUENCE_NUMBER", second)), ElementsAre(first + 2));
  const absl::StatusOr<std::string> latest = Iterator(arn, shard, "LATEST");
  ASSERT_TRUE(Put("a", {{"v", N("4")}}).ok());
  EXPECT_THAT(sequences(latest), ElementsAre(first + 3));
  // A shard in which nothing was written yet.
  Roll();
  const ShardRange open = Shards(arn).back();
  EXPECT_THAT(sequences(Iterator(arn, open.key, "AT_SEQUENCE_NUMBER", SequenceText(open.first))), IsEmpty());
  const ShardRange closed = Shards(arn).front();
  const absl::StatusOr<GetRecordsResult> end = Get(*Iterator(arn, closed.key, "LATEST"));
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->next_shard_iterator.has_value());
}

TEST_F(StreamsTest, PositionsOutsideOfTheShardAreErrors) {
  Create();
  ASSERT_TRUE(Put("a").ok());
  Roll();
  ASSERT_TRUE(Put("a", {{"v", N("1")}}).ok());
  const std::string arn = Arn();
  const ShardKey second = Shards(arn).back().key;
  const auto error = [&](ShardKey shard, const char* type, const std::string& sequence) {
    return ErrorNameOf(Iterator(arn, shard, type, sequence).status());
  };
  EXPECT_EQ(error(second, "AT_SEQUENCE_NUMBER", SequenceText(ChangeSequence(0))), "TrimmedDataAccessException");
  EXPECT_EQ(error(second, "AFTER_SEQUENCE_NUMBER", SequenceText(ChangeSequence(1))), "TrimmedDataAccessException");
  const ChangeSequence beyond(engine_.database().streams().watermark().value() + 1);
  EXPECT_EQ(error(second, "AT_SEQUENCE_NUMBER", SequenceText(beyond)), "ValidationException");
  EXPECT_EQ(error(second, "AT_SEQUENCE_NUMBER", "12345678901234567890a"), "ValidationException");
  EXPECT_EQ(error(second, "LATEST", SequenceText(ChangeSequence(1))), "ValidationException");
  EXPECT_EQ(ErrorNameOf(Iterator(arn, second, "AT_SEQUENCE_NUMBER").status()), "ValidationException");
  EXPECT_EQ(ErrorNameOf(Iterator(arn, {SegmentId(9), 0}, "LATEST").status()), "ResourceNotFoundException");
  EXPECT_EQ(ErrorNameOf(Iterator(arn, {SegmentId(1), 4}, "LATEST").status()), "ResourceNotFoundException");

  const std::string before = *Iterator(arn, Shards(arn).front().key, "TRIM_HORIZON");
  ASSERT_TRUE(engine_.database().streams().TrimOldest().ok());
  EXPECT_EQ(ErrorNameOf(Get(before).status()), "TrimmedDataAccessException");
  EXPECT_EQ(error({SegmentId(1), 0}, "AT_SEQUENCE_NUMBER", SequenceText(ChangeSequence(1))),
            "TrimmedDataAccessException");
  EXPECT_TRUE(Shards(arn).front().parent.has_value()) << "a parent that is gone is named all the same";
}

TEST_F(StreamsTest, IteratorsExpireAndAreNotGuessed) {
  Create();
  const std::string arn = Arn();
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  const ShardKey shard{SegmentId(1), 0};
  const ChangeSequence epoch = engine_.database().streams().epoch_base();
  const auto error = [&](const std::string& text) { return ErrorNameOf(Get(text).status()); };
  EXPECT_TRUE(Get(EncodeIterator({arn, shard, ChangeSequence(0), now_ms - 14 * 60'000, epoch})).ok());
  EXPECT_EQ(error(EncodeIterator({arn, shard, ChangeSequence(0), now_ms - 16 * 60'000, epoch})),
            "ExpiredIteratorException");
  EXPECT_EQ(error("garbage"), "ValidationException");
  EXPECT_EQ(error(arn + "|1|"), "ValidationException");
  EXPECT_EQ(error(arn + "|1|AAAA"), "ValidationException");
  EXPECT_EQ(error(EncodeIterator({"arn", shard, ChangeSequence(0), now_ms, epoch})), "ValidationException");
  EXPECT_EQ(error(EncodeIterator({model::StreamArn("none", "2020-01-01T00:00:00.000"), shard, {}, now_ms, epoch})),
            "ResourceNotFoundException");
  EXPECT_EQ(error(EncodeIterator({arn, {SegmentId(7), 0}, {}, now_ms, epoch})), "TrimmedDataAccessException");
}

TEST_F(StreamsTest, ADisabledStreamIsReadToItsEndAndTheNextBeginsAnew) {
  Create();
  ASSERT_TRUE(Put("a", {{"v", N("1")}}).ok());
  const std::string first = Arn();
  SetStream(false);
  ASSERT_TRUE(Put("a", {{"v", N("2")}}).ok());
  SetStream(true, "NEW_IMAGE");
  ASSERT_TRUE(Put("a", {{"v", N("3")}}).ok());
  ASSERT_NE(Arn(), first);
  EXPECT_EQ(Read(first).size(), 1u);
  const std::vector<ChangeOfItem> changes = Read();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].event, StreamEvent::kModify);
  EXPECT_FALSE(changes[0].old_image.has_value());
  const auto listed = ListStreams(&engine_.database(), {kTable, 1, {}});
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->last_evaluated_stream_arn, first);
  const auto rest = ListStreams(&engine_.database(), {kTable, {}, first});
  ASSERT_EQ(rest->streams.size(), 1u);
  EXPECT_EQ(model::StreamArn(kTable, rest->streams[0].second), Arn());
  EXPECT_THAT(ListStreams(&engine_.database(), {"missing", {}, {}})->streams, IsEmpty());
}

TEST_F(StreamsTest, StreamsHaveTagsOfTheirOwn) {
  Create();
  const std::string arn = Arn();
  ASSERT_TRUE(TagResource(&engine_.database(), {arn, model::Tags{{"k", "v"}, {"l", "w"}}, {}}).ok());
  ASSERT_TRUE(UntagResource(&engine_.database(), {arn, std::vector<std::string>{"l"}}).ok());
  const auto tags = ListTagsOfResource(engine_.database(), {arn, {}});
  ASSERT_TRUE(tags.ok());
  EXPECT_EQ(tags->tags, (model::Tags{{"k", "v"}}));
  EXPECT_THAT(ListTagsOfResource(engine_.database(), {model::TableArn(kTable), {}})->tags, IsEmpty());
  EXPECT_EQ(ErrorNameOf(ListTagsOfResource(engine_.database(), {arn + "9", {}}).status()), "ResourceNotFoundException");
}

// A consumer of the stream that has applied all records has the table.
TEST_F(StreamsTest, ReplayedRecordsAreTheTable) {
  Create();
  std::mt19937_64 random(PrintedTestSeed());
  const auto below = [&random](uint64_t end) { return random() % end; };
  const auto item = [&] {
    codec::Attributes more;
    if (below(3) != 0) more.emplace_back("v", N(std::to_string(below(3))));
    return PlainItem(std::to_string(below(20)), "1", std::move(more));
  };
  for (int i = 0; i < 1500; ++i) {
    switch (below(8)) {
      case 0:
        ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem(std::to_string(below(20)), "1"))).ok());
        break;
      case 1: {
        std::vector<TransactAction> actions;
        const uint64_t from = below(16);
        for (uint64_t k = 0; k < 1 + below(4); ++k) {
          const std::string pk = std::to_string(from + k);
          if (below(2) == 0) {
            actions.push_back(
                ActionOf(WriteKind::kPut, kTable, PlainItem(pk, "1", {{"v", N(std::to_string(below(3)))}})));
          } else {
            actions.push_back(ActionOf(WriteKind::kDelete, kTable, PlainItem(pk, "1")));
          }
        }
        ASSERT_TRUE(Transact(engine_, TransactionOf(std::move(actions))).ok());
        break;
      }
      default:
        ASSERT_TRUE(engine_.Put(WriteTo(kTable, item())).ok());
    }
    if (below(100) == 0) Roll();
    if (below(200) == 0) {
      const absl::Status divided = Update({true, "", int64_t{1} << below(7)});
      ASSERT_TRUE(divided.ok() || ErrorNameOf(divided) == "ValidationException") << divided;
    }
    if (below(300) == 0) engine_.Reopen();
  }
  std::map<std::string, std::string> replayed;
  size_t records = 0;
  for (const ChangeOfItem& change : Read(Arn(), 7)) {
    ++records;
    const auto found = replayed.find(change.keys);
    EXPECT_EQ(change.old_image.has_value(), found != replayed.end());
    if (found != replayed.end()) {
      EXPECT_EQ(change.old_image, found->second);
      EXPECT_NE(change.new_image, found->second) << "a record of no change";
    }
    if (change.new_image.has_value()) {
      replayed[change.keys] = *change.new_image;
    } else {
      replayed.erase(change.keys);
    }
  }
  EXPECT_GT(records, 300u);
  ReadRequest scan;
  scan.table_name = kTable;
  std::map<std::string, std::string> table;
  const absl::StatusOr<Page> page = engine_.Scan(scan);
  ASSERT_TRUE(page.ok()) << page.status();
  for (const std::string& bytes : page->items) {
    table[model::PickAttributes(model::ItemView(bytes), {"pk", "sk"})] = bytes;
  }
  EXPECT_EQ(replayed, table);
}

TEST(StreamShards, TextsHaveOneFormEach) {
  const ShardKey shard{SegmentId(12), 3};
  EXPECT_EQ(ShardIdText(shard), "shardId-00000000000000000012-00000003");
  EXPECT_EQ(ParseShardId(ShardIdText(shard)), shard);
  for (const char* const text : {"", "shardId-", "shardId-00000000000000000012-00000040",
                                 "shardId-00000000000000000012-0000000A", "shardId-99999999999999999999-00000000",
                                 "shardId-+0000000000000000012-00000003", "shardid-00000000000000000012-00000003"}) {
    EXPECT_FALSE(ParseShardId(text).has_value()) << text;
  }
  EXPECT_EQ(SequenceText(ChangeSequence(7)), "100000000000000000007");
  EXPECT_EQ(ParseSequenceText("100000000000000000007"), ChangeSequence(7));
  EXPECT_EQ(ParseSequenceText("000100000000000000000007"), ChangeSequence(7));
  EXPECT_EQ(ParseSequenceText("000000000000000000000"), ChangeSequence(0));
  EXPECT_GT(*ParseSequenceText(std::string(40, '9')), ChangeSequence(UINT64_MAX / 2));
  for (const char* const text : {"", "7", "10000000000000000000x", "-00000000000000000007"}) {
    EXPECT_FALSE(ParseSequenceText(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseSequenceText(std::string(41, '1')).has_value());
}

}  // namespace armature::engine::streams_test
