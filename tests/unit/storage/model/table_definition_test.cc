#include "storage/model/table_definition.h"

#include <optional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tests/unit/storage/model/table_definition_cases.h"

namespace armature::model::table_definition_test {

using ::testing::ElementsAre;

TEST(TableDefinition, RefusesBadBilling) {
  ExpectRefused({
      {"throughput on demand",
       [](TableDefinition& t) {
         t.provisioned = Throughput{1, 1};
       },
       Cat(kInvalid,
           "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
           "PAY_PER_REQUEST")},
      {"no throughput by default", [](TableDefinition& t) { t.billing_mode = ""; },
       Cat(kInvalid,
           "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
           "PROVISIONED")},
      {"no throughput, provisioned", [](TableDefinition& t) { t.billing_mode = "PROVISIONED"; },
       Cat(kInvalid,
           "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
           "PROVISIONED")},
      {"read units",
       [](TableDefinition& t) {
         t = ProvisionedTable();
         t.provisioned->read_units = kCapacityUnitsMax + 1;
       },
       "Given value 1000000000001 for ReadCapacityUnits is out of bounds"},
      {"write units",
       [](TableDefinition& t) {
         t = ProvisionedTable();
         t.provisioned->write_units = kCapacityUnitsMax + 1;
       },
       "Given value 1000000000001 for WriteCapacityUnits is out of bounds"},
  });
}

TEST(TableDefinition, RefusesBadTableKeys) {
  ExpectRefused({
      {"definition twice",
       [](TableDefinition& t) {
         t.attribute_definitions.push_back({"a", "N"});
       },
       "Attribute Name is duplicated: a"},
      {"more keys than definitions",
       [](TableDefinition& t) {
         t = PlainTable();
         t.attribute_definitions = {{"a", "S"}};
       },
       "Invalid KeySchema: Some index key attribute have no definition"},
      {"undefined key",
       [](TableDefinition& t) {
         t = PlainTable();
         t.key_schema[1].attribute_name = "z";
       },
       Cat(kInvalid,
           "Some index key attributes are not defined in AttributeDefinitions. Keys: [a, z], "
           "AttributeDefinitions: [a, b]")},
      {"one name twice", [](TableDefinition& t) { t.key_schema[1].attribute_name = "a"; },
       "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
      {"one name twice with one definition",
       [](TableDefinition& t) {
         t = PlainTable();
         t.attribute_definitions = {{"a", "S"}};
         t.key_schema[1].attribute_name = "a";
       },
       "Invalid KeySchema: Some index key attribute have no definition"},
      {"RANGE first",
       [](TableDefinition& t) {
         t.key_schema = {{"b", "RANGE"}, {"a", "HASH"}};
       },
       "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
      {"RANGE alone",
       [](TableDefinition& t) {
         t.key_schema = {{"a", "RANGE"}};
       },
       "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
      {"two HASH", [](TableDefinition& t) { t.key_schema[1].key_type = "HASH"; },
       "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"},
  });
}

TEST(TableDefinition, WantsExactlyTheAttributesThatKeysUse) {
  const std::string unused = Cat(kInvalid,
                                 "Some AttributeDefinitions are not used. AttributeDefinitions: "
                                 "[a, b, c, d], keys used: [a, b, c]");
  ExpectRefused({
      {"unused, no indexes",
       [](TableDefinition& t) {
         t = PlainTable();
         t.attribute_definitions.push_back({"c", "S"});
       },
       Cat(kInvalid,
           "Number of attributes in KeySchema does not exactly match number of attributes defined "
           "in AttributeDefinitions")},
      {"unused, with indexes",
       [](TableDefinition& t) {
         t.attribute_definitions.push_back({"d", "S"});
       },
       unused},
      {"unused masks the rules of indexes",
       [](TableDefinition& t) {
         t.attribute_definitions.push_back({"d", "S"});
         FirstLocal(t).projection = {};
         FirstGlobal(t).provisioned = Throughput{1, 1};
         FirstGlobal(t).index_name = "local";
       },
       unused},
      {"undefined in a local index", [](TableDefinition& t) { FirstLocal(t).key_schema[1].attribute_name = "z"; },
       Cat(kInvalid,
           "Some index key attributes are not defined in AttributeDefinitions. Keys: [a, z], "
           "AttributeDefinitions: [a, b, c]")},
      {"undefined in a global index", [](TableDefinition& t) { FirstGlobal(t).key_schema[0].attribute_name = "z"; },
       Cat(kInvalid,
           "Some index key attributes are not defined in AttributeDefinitions. Keys: [a, z], "
           "AttributeDefinitions: [a, b, c]")},
  });
}

TEST(TableDefinition, RefusesBadStreamsTagsAndClasses) {
  const std::string long_key(129, 'k');
  const std::string long_value(257, 'v');
  ExpectRefused({
      {"stream without view type",
       [](TableDefinition& t) {
         t.stream = {true, ""};
       },
       Cat(kInvalid, "Table is being created with a stream enabled, UpdateViewType is required")},
      {"view type without stream",
       [](TableDefinition& t) {
         t.stream = {false, "KEYS_ONLY"};
       },
       Cat(kInvalid,
           "Table is being created with a stream disabled, UpdateViewType should not be "
           "specified")},
      {"empty tag key",
       [](TableDefinition& t) {
         t.tags = {{"", "v"}};
       },
       "The Tag Key provided is invalid, Key: "},
      {"long tag key",
       [&](TableDefinition& t) {
         t.tags = {{long_key, "v"}};
       },
       Cat("The Tag Key provided is invalid, Key: ", long_key)},
      {"tag key characters",
       [](TableDefinition& t) {
         t.tags = {{"a;b", "v"}};
       },
       "The Tag Key provided is invalid, Key: a;b"},
      {"reserved tag key",
       [](TableDefinition& t) {
         t.tags = {{"aws:x", "v"}};
       },
       "Tag Key cannot be prefixed with aws:, Key: aws:x"},
      {"long tag value",
       [&](TableDefinition& t) {
         t.tags = {{"k", long_value}};
       },
       Cat("The Tag Value provided is invalid, Value: ", long_value)},
      {"tag value characters",
       [](TableDefinition& t) {
         t.tags = {{"k", "v\n"}};
       },
       "The Tag Value provided is invalid, Value: v\n"},
      {"tag key twice",
       [](TableDefinition& t) {
         t.tags = {{"k", "1"}, {"l", "2"}, {"k", "3"}};
       },
       "Duplicate Tag Keys provided as input: Duplicate Tag Key found k"},
      {"51 tags",
       [](TableDefinition& t) {
         for (int i = 0; i < 51; ++i) t.tags.emplace_back(Cat("k", i), "v");
       },
       "Number of Tags exceed the current limit for the provided ResourceArn"},
      {"table class", [](TableDefinition& t) { t.table_class = "COLD"; },
       "Invalid table-class parameter provided. Please try again with a valid table-class value: "
       "[STANDARD, STANDARD_INFREQUENT_ACCESS]."},
  });
}

// Each step breaks an earlier rule than the step before it. The error names the earlier rule.
TEST(TableDefinition, ChecksInTheDocumentedOrder) {
  TableDefinition definition = ValidTable();
  const auto expect = [&definition](std::string_view part) {
    const absl::Status status = BuildTableDescriptor(definition).status();
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(std::string(part)));
  };
  definition.table_class = "COLD";
  expect("table-class");
  definition.tags = {{"aws:x", ""}};
  expect("Tag Key");
  definition.stream = {true, ""};
  expect("UpdateViewType");
  FirstGlobal(definition).provisioned = Throughput{1, 1};
  expect("should not be specified for index: global");
  FirstGlobal(definition).projection = {};
  expect("Unknown ProjectionType");
  FirstGlobal(definition).index_name = "local";
  expect("Duplicate index name");
  FirstLocal(definition).projection = Include(2);
  FirstLocal(definition).projection.projection_type = "ALL";
  expect("ProjectionType is ALL");
  FirstLocal(definition).key_schema[0] = {"b", "HASH"};
  expect("same leading hash key");
  definition.attribute_definitions.push_back({"d", "S"});
  expect("not used");
  definition.key_schema[1].key_type = "HASH";
  expect("second KeySchemaElement");
  definition.key_schema[0].key_type = "RANGE";
  expect("first KeySchemaElement");
  definition.key_schema[1].attribute_name = "a";
  expect("same name");
  definition.key_schema[1].attribute_name = "z";
  expect("are not defined");
  definition.attribute_definitions.push_back({"a", "S"});
  expect("duplicated: a");
  definition.provisioned = Throughput{1, 1};
  expect("Neither ReadCapacityUnits");
  FirstLocal(definition).index_name = "x";
  expect("1 validation error detected");
  definition.table_name = "";
  expect("Value '' at 'tableName' failed to satisfy constraint");
  definition.has_table_name = false;
  expect("'TableName' is required");
}

TEST(TableDefinition, BuildsTheDescriptor) {
  TableDefinition definition = ProvisionedTable();
  definition.stream = {true, "NEW_AND_OLD_IMAGES"};
  definition.table_class = "STANDARD";
  definition.tags = {{"team", ""}};
  definition.deletion_protection = true;
  FirstLocal(definition).projection = {"INCLUDE", {{"y", "b", "x"}}};
  FirstGlobal(definition).projection = {"KEYS_ONLY", std::nullopt};
  FirstGlobal(definition).warm = Throughput{kThroughputNotGiven, 11};
  const absl::StatusOr<TableDescriptor> table = BuildTableDescriptor(definition);
  ASSERT_TRUE(table.ok()) << table.status();

  const KeyAttribute a{"a", ScalarType::kString};
  const KeyAttribute b{"b", ScalarType::kBinary};
  const KeyAttribute c{"c", ScalarType::kNumber};
  EXPECT_EQ(table->name, "abc");
  EXPECT_EQ(table->state, TableState::kCreating);
  EXPECT_EQ(table->key, (KeySchema{{a}, {b}}));
  EXPECT_THAT(table->attribute_definitions, ElementsAre(a, b, c));

  ASSERT_EQ(table->local_indexes.size(), 1U);
  const IndexDescriptor& local = table->local_indexes[0];
  EXPECT_EQ(local.kind, IndexKind::kLocal);
  EXPECT_EQ(local.name, "local");
  EXPECT_EQ(local.key, (KeySchema{{a}, {c}}));
  EXPECT_EQ(local.projection, (Projection{ProjectionType::kInclude, {"y", "b", "x"}}));
  EXPECT_FALSE(local.provisioned.has_value());

  ASSERT_EQ(table->global_indexes.size(), 1U);
  const IndexDescriptor& global = table->global_indexes[0];
  EXPECT_EQ(global.kind, IndexKind::kGlobal);
  EXPECT_EQ(global.name, "global");
  EXPECT_EQ(global.key, (KeySchema{{c}, {a}}));
  EXPECT_EQ(global.projection, (Projection{ProjectionType::kKeysOnly, {}}));
  EXPECT_EQ(global.provisioned, (Throughput{7, 8}));
  EXPECT_FALSE(global.on_demand_max.has_value());
  EXPECT_EQ(global.warm, (Throughput{0, 11}));

  EXPECT_EQ(table->settings.billing_mode, BillingMode::kProvisioned);
  EXPECT_EQ(table->settings.provisioned, (Throughput{5, 6}));
  EXPECT_TRUE(table->settings.stream_enabled);
  EXPECT_EQ(table->settings.stream_view_type, "NEW_AND_OLD_IMAGES");
  EXPECT_EQ(table->settings.table_class, "STANDARD");
  EXPECT_EQ(table->settings.tags, definition.tags);
  EXPECT_TRUE(table->settings.deletion_protection);
}

TEST(TableDefinition, FillsBillingModeAndStreamFromTheDefinition) {
  TableDefinition definition = PlainTable();
  definition.stream = {false, ""};
  definition.on_demand_max = Throughput{kThroughputNotGiven, 9};
  const absl::StatusOr<TableDescriptor> table = BuildTableDescriptor(definition);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->settings.billing_mode, BillingMode::kPayPerRequest);
  EXPECT_EQ(table->settings.on_demand_max, (Throughput{-1, 9}));
  EXPECT_FALSE(table->settings.stream_enabled);
  EXPECT_EQ(table->settings.stream_view_type, "");
}

TEST(TableDefinition, AcceptsEverythingAtItsLimit) {
  const std::string long_name(255, 'x');
  TableDefinition definition = ProvisionedTable();
  definition.table_name = long_name;
  definition.provisioned = Throughput{1, kCapacityUnitsMax};
  definition.local_indexes = Many(5, [](const std::string& name) { return Local("l" + name); });
  definition.global_indexes = Many(20, Global);
  for (IndexDefinition& index : *definition.local_indexes) index.projection = Include(20);
  for (IndexDefinition& index : *definition.global_indexes) {
    index.provisioned = Throughput{kCapacityUnitsMax, 1};
  }
  FirstLocal(definition).index_name = long_name;
  FirstLocal(definition).projection.non_key_attributes->back() = long_name;
  for (int i = 0; i < 49; ++i) definition.tags.emplace_back(Cat("k", i), "");
  // Lengths count characters, not bytes.
  std::string umlauts;
  for (int i = 0; i < 128; ++i) umlauts += "ä";
  definition.tags.emplace_back(umlauts, umlauts + umlauts);
  ExpectAccepted(definition);

  definition = PlainTable();
  definition.attribute_definitions[1].attribute_name = long_name;
  definition.key_schema[1].attribute_name = long_name;
  ExpectAccepted(definition);
  ExpectAccepted(MultiKeyTable(MultiKey(4, 4)));
  ExpectAccepted(MultiKeyTable(MultiKey(4, 0)));
}

TEST(TableDefinition, AcceptsPlainTables) {
  ExpectAccepted(PlainTable());
  TableDefinition definition = PlainTable();
  definition.key_schema.pop_back();
  definition.attribute_definitions.pop_back();
  definition.table_class = "STANDARD_INFREQUENT_ACCESS";
  definition.tags = {{"a +-=._:/@9", "b +-=._:/@9"}};
  ExpectAccepted(definition);
  definition.stream = {true, ""};
  for (const char* type : {"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"}) {
    definition.stream->view_type = type;
    ExpectAccepted(definition);
  }
}

}  // namespace armature::model::table_definition_test
