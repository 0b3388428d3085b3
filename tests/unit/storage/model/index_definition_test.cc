#include "storage/model/table_definition.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tests/unit/storage/model/table_definition_cases.h"

namespace armature::model::index_definition_test {

using ::testing::ElementsAre;

TEST(IndexDefinition, RefusesBadLocalIndexes) {
  ExpectRefused({
      {"empty list", [](TableDefinition& t) { t.local_indexes->clear(); },
       Cat(kInvalid, "List of LocalSecondaryIndexes is empty")},
      {"table without sort key",
       [](TableDefinition& t) {
         t.key_schema.pop_back();
         t.attribute_definitions = {{"a", "S"}, {"c", "S"}};
       },
       Cat(kInvalid,
           "Table KeySchema does not have a range key, which is required when specifying a "
           "LocalSecondaryIndex")},
      {"no sort key", [](TableDefinition& t) { FirstLocal(t).key_schema.pop_back(); },
       Cat(kInvalid, "Index KeySchema does not have a range key for index: local")},
      {"another hash key",
       [](TableDefinition& t) {
         FirstLocal(t).key_schema[0] = {"b", "HASH"};
       },
       Cat(kInvalid,
           "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
           "local. index hash key: b, table hash key: a")},
      {"one name twice",
       [](TableDefinition& t) {
         FirstLocal(t).key_schema[1] = {"a", "RANGE"};
       },
       "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
      {"RANGE first", [](TableDefinition& t) { FirstLocal(t).key_schema[0].key_type = "RANGE"; },
       "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
      {"two HASH", [](TableDefinition& t) { FirstLocal(t).key_schema[1].key_type = "HASH"; },
       "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"},
      {"one index name twice", [](TableDefinition& t) { t.local_indexes->push_back(Local("local")); },
       Cat(kInvalid, "Duplicate index name: local")},
      {"six", [](TableDefinition& t) { t.local_indexes = Many(6, Local); },
       Cat(kInvalid, "Number of LocalSecondaryIndexes exceeds per-table limit of 5")},
      {"before global ones",
       [](TableDefinition& t) {
         t.local_indexes = Many(6, Local);
         t.global_indexes->clear();
       },
       Cat(kInvalid, "Number of LocalSecondaryIndexes exceeds per-table limit of 5")},
  });
}

TEST(IndexDefinition, RefusesBadProjections) {
  ExpectRefused({
      {"no type", [](TableDefinition& t) { FirstLocal(t).projection = {}; },
       Cat(kInvalid, "Unknown ProjectionType: null")},
      {"no type, global", [](TableDefinition& t) { FirstGlobal(t).projection = {}; },
       Cat(kInvalid, "Unknown ProjectionType: null")},
      {"ALL with names",
       [](TableDefinition& t) {
         FirstLocal(t).projection = {"ALL", {{"x"}}};
       },
       Cat(kInvalid, "ProjectionType is ALL, but NonKeyAttributes is specified")},
      {"KEYS_ONLY with names",
       [](TableDefinition& t) {
         FirstGlobal(t).projection = {"KEYS_ONLY", {{"x"}}};
       },
       Cat(kInvalid, "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified")},
      {"INCLUDE without",
       [](TableDefinition& t) {
         FirstGlobal(t).projection = {"INCLUDE", std::nullopt};
       },
       Cat(kInvalid, "ProjectionType is INCLUDE, but NonKeyAttributes is not specified")},
      {"duplicate",
       [](TableDefinition& t) {
         FirstLocal(t).projection = {"INCLUDE", {{"x", "y", "x"}}};
       },
       Cat(kInvalid, "Duplicate element in NonKeyAttributes: x")},
      {"more than 100 in all, the same names again",
       [](TableDefinition& t) {
         FirstLocal(t).projection = Include(1);
         t.global_indexes = Many(5, Global);
         for (IndexDefinition& index : *t.global_indexes) index.projection = Include(20);
       },
       Cat(kInvalid, "Number of NonKeyAttributes over all indexes exceeds per-table limit of 100")},
  });
}

TEST(IndexDefinition, RefusesBadGlobalIndexes) {
  ExpectRefused({
      {"empty list", [](TableDefinition& t) { t.global_indexes->clear(); },
       Cat(kInvalid, "List of GlobalSecondaryIndexes is empty")},
      {"name of a local index", [](TableDefinition& t) { FirstGlobal(t).index_name = "local"; },
       Cat(kInvalid, "Duplicate index name: local")},
      {"one index name twice", [](TableDefinition& t) { t.global_indexes->push_back(Global("global")); },
       Cat(kInvalid, "Duplicate index name: global")},
      {"throughput on demand",
       [](TableDefinition& t) {
         FirstGlobal(t).provisioned = Throughput{1, 1};
       },
       Cat(kInvalid,
           "ProvisionedThroughput should not be specified for index: global when BillingMode is "
           "PAY_PER_REQUEST")},
      {"no throughput, provisioned",
       [](TableDefinition& t) {
         t = ProvisionedTable();
         FirstGlobal(t).provisioned.reset();
       },
       Cat(kInvalid, "ProvisionedThroughput is not specified for index: global")},
      {"read units",
       [](TableDefinition& t) {
         t = ProvisionedTable();
         FirstGlobal(t).provisioned->read_units = kCapacityUnitsMax + 1;
       },
       "Given value 1000000000001 for ReadCapacityUnits is out of bounds for index global"},
      {"21", [](TableDefinition& t) { t.global_indexes = Many(21, Global); },
       Cat(kInvalid, "GlobalSecondaryIndex count exceeds the per-table limit of 20")},
  });
}

TEST(IndexDefinition, RefusesBadMultiAttributeKeys) {
  struct KeyCase {
    std::string what;
    std::vector<KeyElementDefinition> key;
    std::string message;
  };
  const std::string same_name = "Both the Hash Key and the Range Key element in the KeySchema have the same name";
  const std::string multiple = "The KeySchema contains multiple key attributes with the same name";
  const std::string first = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
  const std::vector<KeyCase> keys = {
      {"five HASH", MultiKey(5, 0),
       Cat(kInvalid, "The KeySchema exceeds the maximum allowed number of HASH key attributes")},
      {"five RANGE", MultiKey(1, 5),
       Cat(kInvalid, "The KeySchema exceeds the maximum allowed number of RANGE key attributes")},
      {"HASH after RANGE",
       {{"a", "HASH"}, {"b", "RANGE"}, {"x", "HASH"}},
       Cat(kInvalid, "All HASH key attributes must precede RANGE key attributes in the KeySchema")},
      {"RANGE first", {{"a", "RANGE"}, {"b", "HASH"}}, first},
      {"no HASH", {{"x", "RANGE"}}, first},
      {"pair with one name", {{"a", "HASH"}, {"a", "RANGE"}}, same_name},
      {"two HASH with one name", {{"a", "HASH"}, {"a", "HASH"}}, multiple},
      {"three with a name twice", {{"a", "HASH"}, {"b", "RANGE"}, {"a", "RANGE"}}, multiple},
  };
  std::vector<RefusedCase> cases;
  for (const KeyCase& c : keys) {
    cases.push_back({c.what, [&c](TableDefinition& t) { t = MultiKeyTable(c.key); }, c.message});
  }
  ExpectRefused(cases);
}

TEST(IndexDefinition, KeepsTheOrderOfMultiAttributeKeys) {
  const absl::StatusOr<TableDescriptor> table = BuildTableDescriptor(MultiKeyTable({{"z", "HASH"},
                                                                                    {"a", "HASH"},
                                                                                    {"y", "HASH"},
                                                                                    {"h", "HASH"},
                                                                                    {"x", "RANGE"},
                                                                                    {"b", "RANGE"},
                                                                                    {"w", "RANGE"},
                                                                                    {"r", "RANGE"}}));
  ASSERT_TRUE(table.ok()) << table.status();
  std::vector<std::string> partition;
  std::vector<std::string> sort;
  for (const KeyAttribute& k : table->global_indexes[0].key.partition) partition.push_back(k.name);
  for (const KeyAttribute& k : table->global_indexes[0].key.sort) sort.push_back(k.name);
  EXPECT_THAT(partition, ElementsAre("z", "a", "y", "h"));
  EXPECT_THAT(sort, ElementsAre("x", "b", "w", "r"));
}

TEST(IndexDefinition, AcceptsIndexesThatLookRedundant) {
  TableDefinition definition = PlainTable();
  const std::vector<KeyElementDefinition> table_key = definition.key_schema;
  definition.local_indexes = {Index("same-local", table_key), Index("same-again", table_key)};
  // The last index has the name of the table.
  definition.global_indexes = {Index("same-global", table_key), Index("abc", table_key)};
  ExpectAccepted(definition);
}

}  // namespace armature::model::index_definition_test
