#ifndef ARMATURE_TESTS_UNIT_ENGINE_STREAMS_STREAMS_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_STREAMS_STREAMS_TEST_UTIL_H_

// A table with a stream, and a reader of all its records.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/streams/stream_ops.h"
#include "engine/streams/stream_shards.h"
#include "storage/codec/item_codec.h"
#include "storage/model/table_name.h"
#include "storage/store/stream/stream_log.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::streams_test {

inline constexpr char kTable[] = "things";

inline model::TableDefinition StreamTable(const std::string& name, const std::string& view) {
  model::TableDefinition definition = PlainTable(name);
  definition.stream = {true, view};
  return definition;
}

class StreamsTest : public testing::Test {
 protected:
  static constexpr uint32_t kShards = 4;

  explicit StreamsTest(uint32_t shards = kShards)
      : engine_(store::Durability::kOs, {},
                [shards](store::DatabaseOptions* options) { options->streams.shards = shards; }) {}

  void Create(const std::string& view = "NEW_AND_OLD_IMAGES") {
    ASSERT_TRUE(engine_.CreateTable(StreamTable(kTable, view)).ok());
  }
  std::string Arn(const std::string& table = kTable) {
    const std::vector<model::StreamDescriptor> streams = engine_.database().streams().StreamsOf(table);
    EXPECT_FALSE(streams.empty());
    return streams.empty() ? "" : model::StreamArn(table, streams.back().label);
  }
  std::vector<ShardRange> Shards(const std::string& arn) {
    std::vector<ShardRange> all;
    std::optional<std::string> after;
    while (true) {
      const auto page = DescribeStream(engine_.database(), {arn, 3, after, {}});
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) return all;
      all.insert(all.end(), page->shards.begin(), page->shards.end());
      if (!page->last_evaluated_shard.has_value()) return all;
      after = ShardIdText(*page->last_evaluated_shard);
    }
  }
  absl::StatusOr<std::string> Iterator(const std::string& arn, ShardKey shard, const std::string& type,
                                       std::optional<std::string> sequence = {}) {
    return GetShardIterator(engine_.database(), {arn, ShardIdText(shard), type, std::move(sequence)});
  }
  absl::StatusOr<GetRecordsResult> Get(const std::string& iterator, std::optional<int64_t> limit = {}) {
    Answer<GetRecordsResult> answer;
    engine_->GetRecords({iterator, limit}, answer.Catch());
    return answer.Take();
  }
  // Reads all shards to their ends, parents first, as consumers do.
  std::vector<ChangeOfItem> Read(const std::string& arn, int64_t limit = 1000) {
    std::vector<ChangeOfItem> all;
    for (const ShardRange& shard : Shards(arn)) {
      absl::StatusOr<std::string> iterator = Iterator(arn, shard.key, "TRIM_HORIZON");
      EXPECT_TRUE(iterator.ok()) << iterator.status();
      std::optional<std::string> next = *iterator;
      while (next.has_value()) {
        absl::StatusOr<GetRecordsResult> page = Get(*next, limit);
        EXPECT_TRUE(page.ok()) << page.status();
        if (!page.ok()) return all;
        next = page->next_shard_iterator;
        if (page->records.empty() && !shard.last.has_value()) break;
        for (ChangeOfItem& change : page->records) all.push_back(std::move(change));
      }
      EXPECT_EQ(next.has_value(), !shard.last.has_value()) << "the iterator ends with a closed shard";
    }
    return all;
  }
  std::vector<ChangeOfItem> Read() { return Read(Arn()); }
  absl::Status Update(model::StreamDefinition stream) {
    model::TableUpdate update;
    update.table_name = kTable;
    update.stream = std::move(stream);
    Answer<TableDescription> answer;
    engine_->UpdateTable(update, answer.Catch());
    return answer.Take().status();
  }
  void SetStream(bool enabled, const std::string& view = "") { ASSERT_EQ(Update({enabled, view}), absl::OkStatus()); }
  // The parents of the shards in each segment, by slot; -1: none.
  std::vector<std::vector<int>> Parents() {
    std::vector<std::vector<int>> parents;
    for (const ShardRange& shard : Shards(Arn())) {
      if (shard.key.slot == 0) parents.emplace_back();
      parents.back().push_back(shard.parent.has_value() ? shard.parent->slot : -1);
    }
    return parents;
  }
  void Roll() { ASSERT_TRUE(engine_.database().streams().BeginSegment(absl::ToUnixMillis(absl::Now())).ok()); }
  absl::Status Put(std::string_view pk, codec::Attributes more = {}) {
    return engine_.Put(WriteTo(kTable, PlainItem(pk, "1", std::move(more)))).status();
  }
  absl::Status Delete(std::string_view pk) { return engine_.Delete(WriteTo(kTable, PlainItem(pk, "1"))).status(); }

  TestEngine engine_;
};

// Canonical bytes: the attributes in the order of their names.
inline std::string Canonical(const std::string& wire) { return codec::CanonicalizeItem(wire)->bytes; }

}  // namespace armature::engine::streams_test

#endif  // ARMATURE_TESTS_UNIT_ENGINE_STREAMS_STREAMS_TEST_UTIL_H_
