#include "storage/model/table_shape.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tests/unit/storage/model/table_definition_cases.h"

namespace armature::model::table_shape_test {

TEST(TableShape, RefusesBadTableNames) {
  const std::string longest(256, 'x');
  const std::string at_least_3 = "have length greater than or equal to 3";
  const std::string pattern = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
  ExpectRefused({
      {"empty", [](TableDefinition& t) { t.table_name = ""; }, One("''", "tableName", at_least_3)},
      {"absent", [](TableDefinition& t) { t.has_table_name = false; },
       "The parameter 'TableName' is required but was not present in the request"},
      {"absent, told alone",
       [](TableDefinition& t) {
         t.has_table_name = false;
         t.key_schema.clear();
       },
       "The parameter 'TableName' is required but was not present in the request"},
      {"short", [](TableDefinition& t) { t.table_name = "ab"; }, One("'ab'", "tableName", at_least_3)},
      {"long", [&](TableDefinition& t) { t.table_name = longest; },
       One(Cat("'", longest, "'"), "tableName", "have length less than or equal to 255")},
      {"characters", [](TableDefinition& t) { t.table_name = "ab;"; }, One("'ab;'", "tableName", pattern)},
      {"short and characters", [](TableDefinition& t) { t.table_name = "a;"; },
       Cat("2 validation errors detected: ", Violation("'a;'", "tableName", at_least_3), "; ",
           Violation("'a;'", "tableName", pattern))},
  });
}

TEST(TableShape, RefusesBadAttributeShapes) {
  const std::string long_name(256, 'x');
  const std::string definition = "attributeDefinitions.1.member";
  const std::string types = "satisfy enum value set: [B, N, S]";
  ExpectRefused({
      {"no definitions", [](TableDefinition& t) { t.attribute_definitions.clear(); },
       One("null", "attributeDefinitions", "not be null")},
      {"empty name", [](TableDefinition& t) { t.attribute_definitions[0].attribute_name = ""; },
       One("''", Cat(definition, ".attributeName"), "have length greater than or equal to 1")},
      {"long name", [&](TableDefinition& t) { t.attribute_definitions[0].attribute_name = long_name; },
       One(Cat("'", long_name, "'"), Cat(definition, ".attributeName"), "have length less than or equal to 255")},
      {"no type", [](TableDefinition& t) { t.attribute_definitions[0].attribute_type = ""; },
       One("null", Cat(definition, ".attributeType"), "not be null")},
      {"unknown type", [](TableDefinition& t) { t.attribute_definitions[2].attribute_type = "BOOL"; },
       One("'BOOL'", "attributeDefinitions.3.member.attributeType", types)},
      {"type in lower case", [](TableDefinition& t) { t.attribute_definitions[0].attribute_type = "s"; },
       One("'s'", Cat(definition, ".attributeType"), types)},
  });
}

TEST(TableShape, RefusesBadKeySchemaShapes) {
  const std::string long_name(256, 'x');
  const std::string at_most_2 = "have length less than or equal to 2";
  const std::string printed =
      "'[KeySchemaElement(attributeName=a, keyType=HASH), KeySchemaElement(attributeName=b, "
      "keyType=RANGE), KeySchemaElement(attributeName=c, keyType=RANGE)]'";
  const std::vector<KeyElementDefinition> three = {{"a", "HASH"}, {"b", "RANGE"}, {"c", "RANGE"}};
  ExpectRefused({
      {"none", [](TableDefinition& t) { t.key_schema.clear(); }, One("null", "keySchema", "not be null")},
      {"three elements", [&](TableDefinition& t) { t.key_schema = three; }, One(printed, "keySchema", at_most_2)},
      {"three elements in a local index", [&](TableDefinition& t) { FirstLocal(t).key_schema = three; },
       One(printed, "localSecondaryIndexes.1.member.keySchema", at_most_2)},
      {"none in a local index", [](TableDefinition& t) { FirstLocal(t).key_schema.clear(); },
       One("null", "localSecondaryIndexes.1.member.keySchema", "not be null")},
      {"none in a global index", [](TableDefinition& t) { FirstGlobal(t).key_schema.clear(); },
       One("null", "globalSecondaryIndexes.1.member.keySchema", "not be null")},
      {"empty name", [](TableDefinition& t) { t.key_schema[1].attribute_name = ""; },
       One("''", "keySchema.2.member.attributeName", "have length greater than or equal to 1")},
      {"long name", [&](TableDefinition& t) { t.key_schema[0].attribute_name = long_name; },
       One(Cat("'", long_name, "'"), "keySchema.1.member.attributeName", "have length less than or equal to 255")},
      {"no type", [](TableDefinition& t) { t.key_schema[0].key_type = ""; },
       One("null", "keySchema.1.member.keyType", "not be null")},
      {"unknown type", [](TableDefinition& t) { t.key_schema[0].key_type = "HSAH"; },
       One("'HSAH'", "keySchema.1.member.keyType", "satisfy enum value set: [HASH, RANGE]")},
      {"unknown type in a global index", [](TableDefinition& t) { FirstGlobal(t).key_schema[1].key_type = "SORT"; },
       One("'SORT'", "globalSecondaryIndexes.1.member.keySchema.2.member.keyType",
           "satisfy enum value set: [HASH, RANGE]")},
  });
}

TEST(TableShape, RefusesBadIndexShapes) {
  const std::string long_name(256, 'x');
  const std::string global = "globalSecondaryIndexes.1.member";
  const std::string local = "localSecondaryIndexes.1.member";
  ExpectRefused({
      {"short name", [](TableDefinition& t) { FirstLocal(t).index_name = "ab"; },
       One("'ab'", Cat(local, ".indexName"), "have length greater than or equal to 3")},
      {"no name", [](TableDefinition& t) { FirstGlobal(t).index_name = ""; },
       One("''", Cat(global, ".indexName"), "have length greater than or equal to 3")},
      {"long name", [&](TableDefinition& t) { FirstGlobal(t).index_name = long_name; },
       One(Cat("'", long_name, "'"), Cat(global, ".indexName"), "have length less than or equal to 255")},
      {"name characters", [](TableDefinition& t) { FirstLocal(t).index_name = "a/b"; },
       One("'a/b'", Cat(local, ".indexName"), "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")},
      {"projection type", [](TableDefinition& t) { FirstGlobal(t).projection.projection_type = "SOME"; },
       One("'SOME'", Cat(global, ".projection.projectionType"), "satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]")},
      {"no projected names", [](TableDefinition& t) { FirstLocal(t).projection = Include(0); },
       One("'[]'", Cat(local, ".projection.nonKeyAttributes"), "have length greater than or equal to 1")},
      {"21 projected names", [](TableDefinition& t) { FirstGlobal(t).projection = Include(21); },
       One("'[p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, "
           "p19, p20]'",
           Cat(global, ".projection.nonKeyAttributes"), "have length less than or equal to 20")},
      {"empty projected name",
       [](TableDefinition& t) {
         FirstGlobal(t).projection = {"INCLUDE", {{"x", ""}}};
       },
       One("''", Cat(global, ".projection.nonKeyAttributes.2.member"), "have length greater than or equal to 1")},
      {"long projected name",
       [&](TableDefinition& t) {
         FirstLocal(t).projection = {"INCLUDE", {{long_name}}};
       },
       One(Cat("'", long_name, "'"), Cat(local, ".projection.nonKeyAttributes.1.member"),
           "have length less than or equal to 255")},
  });
}

TEST(TableShape, RefusesBadModesAndUnits) {
  const std::string at_least_1 = "have value greater than or equal to 1";
  ExpectRefused({
      {"billing mode", [](TableDefinition& t) { t.billing_mode = "FREE"; },
       One("'FREE'", "billingMode", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]")},
      {"units of the table",
       [](TableDefinition& t) {
         t = ProvisionedTable();
         t.provisioned = Throughput{0, -1};
       },
       Cat("2 validation errors detected: ", Violation("'0'", "provisionedThroughput.readCapacityUnits", at_least_1),
           "; ", Violation("'-1'", "provisionedThroughput.writeCapacityUnits", at_least_1))},
      {"units of an index",
       [](TableDefinition& t) {
         t = ProvisionedTable();
         FirstGlobal(t).provisioned = Throughput{1, 0};
       },
       One("'0'", "globalSecondaryIndexes.1.member.provisionedThroughput.writeCapacityUnits", at_least_1)},
      {"stream view type",
       [](TableDefinition& t) {
         t.stream = {true, "ALL"};
       },
       One("'ALL'", "streamSpecification.streamViewType",
           "satisfy enum value set: [NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]")},
      {"stream neither on nor off",
       [](TableDefinition& t) {
         t.stream = {std::nullopt, "KEYS_ONLY"};
       },
       One("null", "streamSpecification.streamEnabled", "not be null")},
  });
}

TEST(TableShape, GathersViolationsInOrderWithGlobalIndexesBeforeLocalOnes) {
  ExpectRefused(
      {{"all kinds",
        [](TableDefinition& t) {
          t.table_name = "ab";
          t.attribute_definitions[0].attribute_type = "X";
          t.key_schema[0].key_type = "X";
          t.billing_mode = "X";
          t.provisioned = Throughput{0, 1};
          FirstLocal(t).index_name = "l";
          FirstGlobal(t).index_name = "g";
          t.stream = {true, "X"};
        },
        Cat("8 validation errors detected: ", Violation("'ab'", "tableName", "have length greater than or equal to 3"),
            "; ", Violation("'X'", "attributeDefinitions.1.member.attributeType", "satisfy enum value set: [B, N, S]"),
            "; ", Violation("'X'", "keySchema.1.member.keyType", "satisfy enum value set: [HASH, RANGE]"), "; ",
            Violation("'X'", "billingMode", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"), "; ",
            Violation("'0'", "provisionedThroughput.readCapacityUnits", "have value greater than or equal to 1"), "; ",
            Violation("'g'", "globalSecondaryIndexes.1.member.indexName", "have length greater than or equal to 3"),
            "; ",
            Violation("'l'", "localSecondaryIndexes.1.member.indexName", "have length greater than or equal to 3"),
            "; ",
            Violation("'X'", "streamSpecification.streamViewType",
                      "satisfy enum value set: [NEW_IMAGE, OLD_IMAGE, "
                      "NEW_AND_OLD_IMAGES, KEYS_ONLY]"))}});
}

TEST(TableShape, TellsAtMostTenViolations) {
  std::string message = "10 validation errors detected: ";
  for (int i = 1; i <= 10; ++i) {
    message += Cat(i == 1 ? "" : "; ", Violation("''", Cat("attributeDefinitions.", i, ".member.attributeName"),
                                                 "have length greater than or equal to 1"));
  }
  ExpectRefused({{"eleven",
                  [](TableDefinition& t) {
                    t.attribute_definitions.assign(11, AttributeDefinition{"", "S"});
                  },
                  message}});
}

TEST(HasOnlyNameCharacters, KnowsTheSet) {
  EXPECT_TRUE(HasOnlyNameCharacters("azAZ09_.-"));
  for (std::string_view name : {"a b", "a/b", "a:b", "a@b", "a[b", "a`b", "a{b", "a\xc3\xa4"}) {
    EXPECT_FALSE(HasOnlyNameCharacters(name)) << name;
  }
  EXPECT_FALSE(HasOnlyNameCharacters(std::string_view("a\0b", 3)));
}

TEST(IsName, AgreesWithTheCheck) {
  const std::string longest(kTableNameMaxChars, 'n');
  std::string umlauts;  // of two bytes each, fewer characters than the limit
  for (size_t i = 0; i < 128; ++i) umlauts += "\xc3\xa4";
  for (const auto& [name, is_name] : std::vector<std::pair<std::string, bool>>{{"", false},
                                                                               {"ab", false},
                                                                               {"abc", true},
                                                                               {"a b", false},
                                                                               {"a\xc3\xa4", false},
                                                                               {longest, true},
                                                                               {longest + "n", false},
                                                                               {umlauts, false}}) {
    EXPECT_EQ(IsName(name, 3), is_name) << name;
    ConstraintList constraints;
    constraints.CheckName(name, "tableName", 3);
    EXPECT_EQ(constraints.ToStatus().ok(), is_name) << name;
  }
}

}  // namespace armature::model::table_shape_test
