// Provisioned throughput, and the maximum throughput of on-demand tables.

#include "engine/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/api_error.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::throughput_test {

using codec::S;

constexpr char kTable[] = "things";
constexpr char kTableArn[] = "arn:aws:dynamodb:local:000000000000:table/things";
constexpr char kIndexArn[] = "arn:aws:dynamodb:local:000000000000:table/things/index/colors";
constexpr size_t kLargeBytes = 310 * 1024;  // 310 write units, 78 consistent read units

class ThroughputTest : public testing::Test {
 protected:
  explicit ThroughputTest(bool enforce = true) : engine_(store::Durability::kOs, OptionsWith(enforce, clock_)) {}

  static EngineOptions OptionsWith(bool enforce, const std::shared_ptr<std::atomic<int64_t>>& clock) {
    EngineOptions options;
    options.enforce_throughput = enforce;
    options.monotonic_ns = [clock] { return clock->load(); };
    return options;
  }
  void Pass(double seconds) { *clock_ += static_cast<int64_t>(seconds * 1e9); }

  // A PROVISIONED table with these amounts, the global index "colors" and the local index "ranks".
  static model::TableDefinition Provisioned(model::Throughput table, model::Throughput index) {
    model::TableDefinition definition = PlainTable(kTable);
    definition.attribute_definitions.push_back({"color", "S"});
    definition.attribute_definitions.push_back({"rank", "S"});
    definition.billing_mode = "PROVISIONED";
    definition.provisioned = table;
    definition.global_indexes = {IndexOf("colors", {{"color", "HASH"}}, "ALL")};
    definition.global_indexes->front().provisioned = index;
    definition.local_indexes = {IndexOf("ranks", {{"pk", "HASH"}, {"rank", "RANGE"}}, "ALL")};
    return definition;
  }
  void Create(const model::TableDefinition& definition) {
    const absl::Status created = engine_.CreateTable(definition);
    ASSERT_TRUE(created.ok()) << created;
  }

  absl::Status Put(codec::Attributes more = {}) {
    return engine_.Put(WriteTo(kTable, PlainItem("a", "1", std::move(more)))).status();
  }
  absl::Status PutLarge(codec::Attributes more = {}) {
    more.emplace_back("note", S(std::string(kLargeBytes, 'n')));
    return Put(std::move(more));
  }
  absl::Status Get() { return engine_.Get(GetFrom(kTable, PlainItem("a", "1"))).status(); }
  absl::Status Scan(const std::string& index) {
    ReadRequest request;
    request.table_name = kTable;
    if (!index.empty()) request.index_name = index;
    return engine_.Scan(request).status();
  }
  absl::Status ScanIndex() {
    // Waits until the index has applied all writes.
    ReadRequest request;
    request.table_name = kTable;
    request.index_name = "colors";
    request.at_least_sequence = engine_.database().change_log().watermark().value();
    return engine_.Scan(request).status();
  }

  static std::string ReasonOf(const absl::Status& status) {
    const std::vector<ThrottlingReason> reasons = GetThrottlingReasons(status);
    if (reasons.size() != 1) return status.ToString();
    return ErrorNameOf(status) + " " + reasons[0].reason + " " + reasons[0].resource;
  }
  static std::string Exceeded(const std::string& what, const std::string& arn) {
    return "ProvisionedThroughputExceededException " + what + "ProvisionedThroughputExceeded " + arn;
  }

  std::shared_ptr<std::atomic<int64_t>> clock_ = std::make_shared<std::atomic<int64_t>>(0);
  TestEngine engine_;
};

TEST_F(ThroughputTest, FiveMinutesAreSavedAndThenTheRateHolds) {
  Create(Provisioned({1, 1}, {1, 1}));
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put().ok()) << i;
  const absl::Status refused = Put();
  EXPECT_EQ(ReasonOf(refused), Exceeded("TableWrite", kTableArn));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(refused.message()),
            "The level of configured provisioned throughput for the table was exceeded. Consider increasing your "
            "provisioning level with the UpdateTable API.");
  EXPECT_TRUE(Get().ok()) << "reads have their own";
  Pass(2);
  EXPECT_TRUE(Put().ok());
  EXPECT_TRUE(Put().ok());
  EXPECT_FALSE(Put().ok());
}

TEST_F(ThroughputTest, ALargeWriteOverdrawsAndTellsHowLong) {
  Create(Provisioned({1, 1}, {1, 1}));
  ASSERT_TRUE(PutLarge().ok());
  const absl::Status refused = Put();
  EXPECT_EQ(ReasonOf(refused), Exceeded("TableWrite", kTableArn));
  EXPECT_EQ(GetApiError(refused)->retry_after_ms, 11'001) << "311 units of 300";
  Pass(11);
  EXPECT_FALSE(Put().ok());
  Pass(0.1);
  EXPECT_TRUE(Put().ok());
}

TEST_F(ThroughputTest, AWriteNeedsCapacityInEachGlobalIndexThatItTouches) {
  Create(Provisioned({1000, 1000}, {1, 1}));
  ASSERT_TRUE(PutLarge({{"color", S("red")}}).ok());
  const absl::Status refused = Put();
  EXPECT_EQ(ReasonOf(refused), Exceeded("IndexWrite", kIndexArn)) << "it takes the entry away";
  EXPECT_EQ(std::string(refused.message()),
            "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
            "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes "
            "with the UpdateTable API.");
  EXPECT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("b", "1"))).ok()) << "touches no index";
}

TEST_F(ThroughputTest, LocalIndexesDrawOnTheTable) {
  Create(Provisioned({1, 2}, {1000, 1000}));
  ASSERT_TRUE(Put({{"rank", S("x")}, {"note", S(std::string(190 * 1024, 'n'))}}).ok()) << "380 units";
  ASSERT_TRUE(
      engine_.Put(WriteTo(kTable, PlainItem("b", "1", {{"rank", S("x")}, {"note", S(std::string(120 * 1024, 'n'))}})))
          .ok());
  EXPECT_EQ(ReasonOf(Put()), Exceeded("TableWrite", kTableArn));
}

TEST_F(ThroughputTest, ReadsOfAGlobalIndexUseItsOwnCapacity) {
  Create(Provisioned({1, 1000}, {1, 1000}));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(engine_
                    .Put(WriteTo(kTable, PlainItem("a", std::to_string(i),
                                                   {{"color", S("red")}, {"note", S(std::string(200'000, 'n'))}})))
                    .ok());
  }
  for (int i = 0; i < 1000 && ScanIndex().ok(); ++i) {
  }
  EXPECT_EQ(ReasonOf(ScanIndex()), Exceeded("IndexRead", kIndexArn));
  EXPECT_TRUE(Get().ok());
  EXPECT_TRUE(Scan("ranks").ok());
  for (int i = 0; i < 1000 && Scan("").ok(); ++i) {
  }
  EXPECT_EQ(ReasonOf(Scan("")), Exceeded("TableRead", kTableArn));
  EXPECT_EQ(ReasonOf(Get()), Exceeded("TableRead", kTableArn));
  EXPECT_EQ(ReasonOf(Scan("ranks")), Exceeded("TableRead", kTableArn));
}

TEST_F(ThroughputTest, AFailedConditionAndAWriteOfNothingAreCharged) {
  Create(Provisioned({1, 1}, {1, 1}));
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("none", "1"))).ok());
  for (int i = 0; i < 150; ++i) {
    WriteRequest request = WriteTo(kTable, PlainItem("a", "1"));
    request.expressions.condition = "attribute_exists(pk)";
    ASSERT_EQ(ErrorNameOf(engine_.Put(request).status()), "ConditionalCheckFailedException");
  }
  EXPECT_EQ(ReasonOf(Put()), Exceeded("TableWrite", kTableArn));
}

TEST_F(ThroughputTest, AChangeOfTheAmountsHoldsAtOnce) {
  Create(Provisioned({1, 1}, {1, 1}));
  ASSERT_TRUE(PutLarge().ok());
  ASSERT_FALSE(Put().ok());
  model::TableUpdate update;
  update.table_name = kTable;
  update.provisioned = model::Throughput{1, 1000};
  Answer<TableDescription> answer;
  engine_->UpdateTable(update, answer.Catch());
  ASSERT_TRUE(answer.Take().ok());
  EXPECT_FALSE(Put().ok()) << "the debt is not forgiven";
  Pass(0.02);
  EXPECT_TRUE(Put().ok()) << "but made up sooner";
}

TEST_F(ThroughputTest, ATableOfTheSameNameBeginsAnew) {
  Create(Provisioned({1, 1}, {1, 1}));
  ASSERT_TRUE(PutLarge().ok());
  ASSERT_FALSE(Put().ok());
  ASSERT_TRUE(engine_.DeleteTable(kTable).ok());
  ASSERT_TRUE(engine_.WaitForTableGone(kTable).ok());
  Create(Provisioned({1, 1}, {1, 1}));
  EXPECT_TRUE(Put().ok());
}

TEST_F(ThroughputTest, TablesBilledPerRequestHaveNoBoundsButTheirMaxima) {
  Create(PlainTable(kTable));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(PutLarge({{"i", S(std::to_string(i))}}).ok());
  model::TableUpdate update;
  update.table_name = kTable;
  update.on_demand_max = model::Throughput{-1, 1};
  Answer<TableDescription> answer;
  engine_->UpdateTable(update, answer.Catch());
  ASSERT_TRUE(answer.Take().ok());
  ASSERT_TRUE(PutLarge().ok());
  EXPECT_EQ(ReasonOf(Put()), std::string("ThrottlingException TableWriteMaxOnDemandThroughputExceeded ") + kTableArn);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Get().ok());
}

class NotEnforcedTest : public ThroughputTest {
 protected:
  NotEnforcedTest() : ThroughputTest(false) {}
};

TEST_F(NotEnforcedTest, NothingIsRefused) {
  Create(Provisioned({1, 1}, {1, 1}));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(PutLarge({{"color", S(std::to_string(i))}}).ok());
}

}  // namespace armature::engine::throughput_test
