// Batches: properties that conformance cases cannot observe, such as sizes, throttling and locked rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tests/unit/engine/items/group_test_util.h"

namespace armature::engine::batch_test {

using codec::S;

constexpr char kTable[] = "things";

class BatchTest : public testing::Test {
 protected:
  BatchTest() : clock_(std::make_shared<std::atomic<int64_t>>(0)), engine_(store::Durability::kOs, Options(clock_)) {}

  static EngineOptions Options(const std::shared_ptr<std::atomic<int64_t>>& clock) {
    EngineOptions options;
    options.monotonic_ns = [clock] { return clock->load(); };
    return options;
  }
  void Create(const model::TableDefinition& definition) {
    const absl::Status created = engine_.CreateTable(definition);
    ASSERT_TRUE(created.ok()) << created;
  }
  bool Exists(const std::string& pk, const std::string& sk) {
    const absl::StatusOr<GetItemResult> got = engine_.Get(GetFrom(kTable, PlainItem(pk, sk)));
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() && got->item.has_value();
  }
  static model::TableDefinition Provisioned(int64_t reads, int64_t writes) {
    model::TableDefinition definition = PlainTable(kTable);
    definition.billing_mode = "PROVISIONED";
    definition.provisioned = model::Throughput{reads, writes};
    return definition;
  }

  std::shared_ptr<std::atomic<int64_t>> clock_;
  TestEngine engine_;
};

TEST_F(BatchTest, MembersAreCommittedTogether) {
  Create(PlainTable(kTable));
  const uint64_t batches = engine_.database().commits().counters().batches;
  std::vector<BatchWrite> writes;
  for (int i = 0; i < 25; ++i) writes.push_back(PutOf(PlainItem("a", std::to_string(i))));
  const absl::StatusOr<BatchWriteResult> result = BatchWriteTo(engine_, BatchOf(kTable, std::move(writes)));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->unprocessed.empty());
  // One commit, or more if keys share a lock.
  EXPECT_LE(engine_.database().commits().counters().batches - batches, 3u);
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(Exists("a", std::to_string(i))) << i;
}

TEST_F(BatchTest, ALockedRowHoldsUpItsOwnMemberOnly) {
  Create(PlainTable(kTable));
  HeldRequest<WriteResult> held(
      [this](RequestContext context) { return engine_.Put(WriteTo(kTable, PlainItem("a", "1")), std::move(context)); });
  Answer<BatchWriteResult> answer;
  engine_->BatchWriteItem(
      {}, BatchOf(kTable, {PutOf(PlainItem("a", "1", {{"x", S("batch")}})), PutOf(PlainItem("b", "1"))}),
      answer.Catch());
  ASSERT_TRUE(TestEngine::WaitUntil([this] { return Exists("b", "1"); }).ok());
  EXPECT_FALSE(answer.IsThere());
  ASSERT_TRUE(held.Finish().ok());
  const absl::StatusOr<BatchWriteResult> result = answer.Take();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->unprocessed.empty());
}

TEST_F(BatchTest, AMemberThatIsLateComesBackUnprocessed) {
  Create(PlainTable(kTable));
  HeldRequest<WriteResult> held(
      [this](RequestContext context) { return engine_.Put(WriteTo(kTable, PlainItem("a", "1")), std::move(context)); });
  RequestContext context;
  context.deadline = Deadline::After(absl::Milliseconds(200));
  const absl::StatusOr<BatchWriteResult> result = BatchWriteTo(
      engine_, BatchOf(kTable, {PutOf(PlainItem("b", "1")), DeleteOf(PlainItem("a", "1.0"))}), std::move(context));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->unprocessed.size(), 1u);
  ASSERT_EQ(result->unprocessed[0].writes.size(), 1u);
  EXPECT_TRUE(result->unprocessed[0].writes[0].is_delete);
  EXPECT_EQ(result->unprocessed[0].writes[0].delete_wire, PlainItem("a", "1"));
  EXPECT_TRUE(Exists("b", "1"));
}

// Written out, the number would take 126 bytes in place of 5: a request of the largest size could not be sent again.
TEST_F(BatchTest, WhatComesBackIsNoLargerThanWhatWasSent) {
  Create(PlainTable(kTable));
  HeldRequest<WriteResult> held(
      [this](RequestContext context) { return engine_.Put(WriteTo(kTable, PlainItem("a", "1")), std::move(context)); });
  RequestContext context;
  context.deadline = Deadline::After(absl::Milliseconds(20));
  const std::string item = PlainItem("a", "1", {{"n", codec::L(std::vector<std::string>(100, codec::N("1e125")))}});
  const absl::StatusOr<BatchWriteResult> result =
      BatchWriteTo(engine_, BatchOf(kTable, {PutOf(item)}), std::move(context));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->unprocessed.size(), 1u);
  EXPECT_LE(result->unprocessed[0].writes[0].put_wire->size(), item.size());
}

TEST_F(BatchTest, ABatchOfWhichAllMembersAreLateComesBackUnprocessed) {
  Create(PlainTable(kTable));
  HeldRequest<WriteResult> held(
      [this](RequestContext context) { return engine_.Put(WriteTo(kTable, PlainItem("a", "1")), std::move(context)); });
  RequestContext context;
  context.deadline = Deadline::After(absl::Milliseconds(20));
  const absl::StatusOr<BatchWriteResult> result =
      BatchWriteTo(engine_, BatchOf(kTable, {PutOf(PlainItem("a", "1"))}), std::move(context));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->unprocessed.size(), 1u);
  EXPECT_EQ(result->unprocessed[0].writes.size(), 1u);
}

TEST_F(BatchTest, MembersBeyondTheCapacityComeBackUnprocessed) {
  Create(Provisioned(1, 1));
  const std::string large(200'000, 'x');  // two thirds of the saved capacity
  std::vector<BatchWrite> writes;
  for (int i = 0; i < 4; ++i) writes.push_back(PutOf(PlainItem("a", std::to_string(i), {{"x", S(large)}})));
  BatchWriteRequest request = BatchOf(kTable, std::move(writes));
  request.return_consumed_capacity = "TOTAL";
  absl::StatusOr<BatchWriteResult> result = BatchWriteTo(engine_, request);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->unprocessed.size(), 1u);
  EXPECT_EQ(result->unprocessed[0].writes.size(), 2u);
  ASSERT_EQ(result->capacity.size(), 1u);
  EXPECT_EQ(result->capacity[0].total, 2 * 196);
  EXPECT_TRUE(Exists("a", "1"));
  // If no write succeeds, the batch fails.
  BatchWriteRequest rest;
  rest.tables = std::move(result->unprocessed);
  result = BatchWriteTo(engine_, rest);
  EXPECT_EQ(ErrorNameOf(result.status()), "ProvisionedThroughputExceededException");
  *clock_ += int64_t{400} * 1'000'000'000;
  result = BatchWriteTo(engine_, rest);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->unprocessed.empty());
}

TEST_F(BatchTest, KeysBeyondTheCapacityComeBackUnprocessed) {
  Create(Provisioned(1, 1000));
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i) {
    const auto put =
        engine_.Put(WriteTo(kTable, PlainItem("a", std::to_string(i), {{"x", S(std::string(400'000, 'x'))}})));
    ASSERT_TRUE(put.ok()) << put.status();
    keys.push_back(PlainItem("a", Cat(i, ".0")));
  }
  // A hundred units per key, of three hundred saved.
  absl::StatusOr<BatchGetResult> result = BatchGet(engine_, BatchOfKeys(kTable, keys));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(
      result->tables[0].items.size() + (result->unprocessed.empty() ? 0 : result->unprocessed[0].key_wires->size()),
      4u);
  result = BatchGet(engine_, BatchOfKeys(kTable, keys));
  EXPECT_EQ(ErrorNameOf(result.status()), "ProvisionedThroughputExceededException");
  *clock_ += int64_t{200} * 1'000'000'000;
  result = BatchGet(engine_, BatchOfKeys(kTable, keys));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->unprocessed.size(), 1u);
  EXPECT_EQ(result->tables[0].items.size() + result->unprocessed[0].key_wires->size(), 4u);
  EXPECT_EQ(result->unprocessed[0].consistent_read, true);
}

TEST_F(BatchTest, ReadsEndAtSixteenMegabytes) {
  Create(PlainTable(kTable));
  std::vector<std::string> keys;
  for (int i = 0; i < 50; ++i) {
    const auto put =
        engine_.Put(WriteTo(kTable, PlainItem("a", std::to_string(i), {{"x", S(std::string(400'000, 'x'))}})));
    ASSERT_TRUE(put.ok()) << put.status();
    keys.push_back(PlainItem("a", std::to_string(i)));
  }
  const absl::StatusOr<BatchGetResult> result = BatchGet(engine_, BatchOfKeys(kTable, keys));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->tables[0].items.size(), model::kBatchGetMaxBytes / 400'008);
  ASSERT_EQ(result->unprocessed.size(), 1u);
  EXPECT_EQ(result->unprocessed[0].key_wires->size(), 50 - result->tables[0].items.size());
  EXPECT_EQ(result->unprocessed[0].key_wires->back(), keys.back());
}

TEST_F(BatchTest, AFullCollectionFailsTheCallAndNotTheOtherMembers) {
  TestEngine engine(store::Durability::kOs, {},
                    [](store::DatabaseOptions* options) { options->item_collection_bytes_max = 10'000; });
  model::TableDefinition table = PlainTable(kTable);
  table.attribute_definitions.push_back({"l", "S"});
  table.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
  ASSERT_TRUE(engine.CreateTable(table).ok());
  const absl::StatusOr<BatchWriteResult> result =
      BatchWriteTo(engine, BatchOf(kTable, {PutOf(PlainItem("full", "1", {{"x", S(std::string(20'000, 'x'))}})),
                                            PutOf(PlainItem("other", "1"))}));
  EXPECT_EQ(ErrorNameOf(result.status()), "ItemCollectionSizeLimitExceededException");
  const absl::StatusOr<GetItemResult> other = engine.Get(GetFrom(kTable, PlainItem("other", "1")));
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other->item.has_value());
}

}  // namespace armature::engine::batch_test
