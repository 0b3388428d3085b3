// Proposals of the advisor serve their patterns, and a daemon accepts them.
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "storage/base/strings.h"
#include "storage/model/table_definition.h"
#include "tests/unit/tools/advise/advise_testing.h"
#include "tools/advise/index_design.h"
#include "tools/advise/plan.h"

namespace armature::advise::proposals_test {

std::vector<model::KeyElementDefinition> KeySchemaOf(const Json& json) {
  std::vector<model::KeyElementDefinition> schema;
  for (const Json& element : json) schema.push_back({element["AttributeName"], element["KeyType"]});
  return schema;
}

std::optional<std::vector<model::IndexDefinition>> IndexesOf(const Json& request, const char* member) {
  if (!request.contains(member)) return std::nullopt;
  std::vector<model::IndexDefinition> indexes;
  for (const Json& index : request[member]) {
    model::IndexDefinition definition;
    definition.index_name = index["IndexName"];
    definition.key_schema = KeySchemaOf(index["KeySchema"]);
    const Json& projection = index["Projection"];
    definition.projection.projection_type = projection["ProjectionType"];
    if (projection.contains("NonKeyAttributes")) {
      definition.projection.non_key_attributes = projection["NonKeyAttributes"].get<std::vector<std::string>>();
    }
    indexes.push_back(std::move(definition));
  }
  return indexes;
}

// The validation of CreateTable.
absl::Status CheckCreateTable(const Advice& advice) {
  const Json request = AdviceToJson(advice)["CreateTable"];
  model::TableDefinition definition;
  definition.table_name = request["TableName"];
  for (const Json& attribute : request["AttributeDefinitions"]) {
    definition.attribute_definitions.push_back({attribute["AttributeName"], attribute["AttributeType"]});
  }
  definition.key_schema = KeySchemaOf(request["KeySchema"]);
  definition.local_indexes = IndexesOf(request, "LocalSecondaryIndexes");
  definition.global_indexes = IndexesOf(request, "GlobalSecondaryIndexes");
  definition.billing_mode = request["BillingMode"];
  return model::BuildTableDescriptor(definition).status();
}

class RandomWorkloads {
 public:
  explicit RandomWorkloads(unsigned seed) : random_(seed) {}

  WorkloadBuilder Next() {
    WorkloadBuilder builder;
    const size_t attributes = 3 + Below(10);
    for (size_t i = 0; i < attributes; ++i) {
      builder.Attribute(Cat("a", i), static_cast<double>(1 + Below(5000)), i > 1 && Below(5) == 0 ? 0.1 : 1);
      if (i > 1 && Below(8) == 0) builder.workload().table.attributes.back().type = AttributeType::kOther;
    }
    builder.TableKey("a0", Below(2) == 0 ? "a1" : "").Writes(static_cast<double>(Below(20'000)));
    for (size_t p = 1 + Below(12); p > 0; --p) AddPattern(Cat("p", p), attributes, &builder);
    return builder;
  }

 private:
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  void AddPattern(const std::string& name, size_t attributes, WorkloadBuilder* builder) {
    builder->Pattern(name, {});
    Pattern& pattern = builder->workload().patterns.back();
    for (AttributeId id = 0; id < attributes; ++id) {
      if (Below(3) == 0) pattern.equality.push_back(id);
    }
    const AttributeId ranged = Below(attributes);
    if (!Contains(pattern.equality, ranged)) pattern.range = RangeCondition{ranged, RangeKind::kRange};
    if (Below(2) == 0) pattern.order.push_back(Below(attributes));
    if (Below(6) == 0) pattern.has.push_back(Below(attributes));
    if (Below(3) == 0) pattern.returns.push_back(Below(attributes));
    pattern.strong = Below(4) == 0;
    pattern.per_second = static_cast<double>(Below(3000));
  }

  std::mt19937 random_;
};

constexpr int kRounds = 400;
constexpr unsigned kSeed = 20'250'101;

TEST(AdviseProposals, EveryIndexAnswersItsPatterns) {
  RandomWorkloads workloads(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    WorkloadBuilder builder = workloads.Next();
    ASSERT_TRUE(CheckWorkload(builder.workload()).ok());
    const Plan plan = BestPlan(builder.workload());
    size_t planned = 0;
    for (const IndexDesign& index : plan.indexes) {
      for (const size_t pattern : index.patterns) {
        ++planned;
        const bool answers = index.scanned || Answers(builder.workload().table, index.key, plan.patterns[pattern].need);
        EXPECT_TRUE(answers) << "round " << round << " " << builder.workload().patterns[pattern].name;
      }
    }
    size_t from_indexes = 0;
    for (const PatternPlan& pattern : plan.patterns) {
      from_indexes += pattern.service == Service::kNewIndex || pattern.service == Service::kIndexScan ? 1 : 0;
    }
    EXPECT_EQ(planned, from_indexes);
  }
}

TEST(AdviseProposals, AreTablesThatCanBeCreated) {
  RandomWorkloads workloads(kSeed + 1);
  int checked = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Advice advice = workloads.Next().Advise();
    bool too_many = false;  // reported as a warning, and refused by a daemon
    for (const std::string& warning : advice.warnings)
      too_many = too_many || warning.find("at most") != std::string::npos;
    if (too_many) continue;
    ++checked;
    const absl::Status status = CheckCreateTable(advice);
    EXPECT_TRUE(status.ok()) << "round " << round << ": " << status;
  }
  EXPECT_GT(checked, kRounds / 2);
}

TEST(AdviseProposals, OfTheExamplesCanBeCreated) {
  for (const char* const name : {"orders.json", "business.json", "order-status.json", "dashboard.json", "forum.json",
                                 "dashboard-hot.json", "game-scores.json", "open-orders.json"}) {
    const absl::Status status = CheckCreateTable(AdviseOnExample(name));
    EXPECT_TRUE(status.ok()) << name << ": " << status;
  }
}

// The partition key has its maximum number of attributes, so the shard number is appended to the value of one.
TEST(AdviseProposals, TheShardOfAFullPartitionKeyIsGluedToItsLastAttribute) {
  WorkloadBuilder builder;
  builder.Attribute("id", 1e6).TableKey("id");
  for (int i = 0; i < 8; ++i) builder.Attribute(Cat("e", i), 10 + i).HotShare(1);
  builder.Writes(2000).Pattern("p", {"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7"});
  const Advice advice = builder.Advise();
  ASSERT_EQ(advice.indexes.size(), 1u);
  EXPECT_EQ(advice.indexes[0].key.ToString(), "e7, e6, e5, e7Shard | e0, e1, e2, e3");
  EXPECT_EQ(advice.indexes[0].key.partition.back().type, AttributeType::kString);
  EXPECT_EQ(advice.patterns[0].condition,
            "e7 = ? AND e6 = ? AND e5 = ? AND e0 = ? AND e1 = ? AND e2 = ? AND e3 = ? AND e7Shard = \"<e4>.n\", for n "
            "from 1 to 4");
  EXPECT_TRUE(CheckCreateTable(advice).ok());
}

}  // namespace armature::advise::proposals_test
