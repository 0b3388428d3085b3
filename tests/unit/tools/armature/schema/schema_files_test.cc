#include "tools/armature/schema/schema_files.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tests/support/temp_dir.h"
#include "tools/armature/message_json.h"
#include "tools/armature/schema/table_difference.h"
#include "tools/armature/schema/yaml_text.h"
#include "tools/armature/session.h"

namespace armature::cli::schema_files_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kRequest[] =
    R"({"TableName": "T", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]})";

class SchemaFiles : public testing::Test {
 protected:
  void Write(const std::string& name, std::string_view text) {
    std::ofstream(directory_.path(name), std::ios::binary) << text;
  }
  // The schema of the directory, or an empty one with `error_`.
  Schema Read() {
    auto schema = ReadSchema({directory_.path()}, {});
    error_ = std::string(schema.status().message());
    EXPECT_EQ(ExitCodeOf(schema.status()), schema.ok() ? ExitCode::kOk : ExitCode::kInputError);
    return schema.ok() ? *std::move(schema) : Schema();
  }
  // The only table of a file, as JSON, or the error.
  std::string TableOf(const std::string& name, std::string_view text) {
    Write(name, text);
    const Schema schema = Read();
    if (!error_.empty()) return error_;
    EXPECT_THAT(schema.tables, SizeIs(1));
    return CompactJson(MessageToJson(schema.tables.at(0).definition));
  }

  test::TempDir directory_;
  std::string error_;
};

TEST_F(SchemaFiles, RequestsDescriptionsAndListsDefineTables) {
  Write("a.json", kRequest);
  Write("b.json", R"([{"Table": {"TableName": "U", "TableStatus": "ACTIVE", "CreationDateTime": "2024-01-01T00:00:00Z",
    "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"}, "WarmThroughput": {"Status": "ACTIVE"},
    "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0, "NumberOfDecreasesToday": 0},
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]}}])");
  const Schema schema = Read();
  ASSERT_EQ(error_, "");
  ASSERT_THAT(schema.tables, SizeIs(2));
  EXPECT_EQ(schema.tables[0].definition.table_name(), "T");
  EXPECT_THAT(schema.tables[0].source, EndsWith("/a.json"));
  const auto& second = schema.tables[1].definition;
  EXPECT_EQ(second.table_name(), "U");
  EXPECT_EQ(second.billing_mode(), api::v1::BILLING_MODE_PAY_PER_REQUEST);
  EXPECT_FALSE(second.has_provisioned_throughput());
  EXPECT_FALSE(second.has_warm_throughput());
}

TEST_F(SchemaFiles, DyneinsDescriptionDefinesATable) {
  const std::string made = TableOf("t.yaml", R"(---
name: users
region: us-west-2
status: ACTIVE
schema:
  pk: app (S)
  sk: user id (N)
mode: Provisioned
capacity: {wcu: 5, rcu: 10}
gsi:
  - name: ByMail
    schema: {pk: mail (S), sk: ~}
    capacity: {wcu: 1, rcu: 2}
lsi: ~
stream: ~
)");
  EXPECT_THAT(made, HasSubstr(R"("KeySchema":[{"AttributeName":"app","KeyType":"HASH"},)"
                              R"({"AttributeName":"user id","KeyType":"RANGE"}])"));
  EXPECT_THAT(made, HasSubstr(R"({"AttributeName":"user id","AttributeType":"N"})"));
  EXPECT_THAT(made, HasSubstr(R"("ProvisionedThroughput":{"ReadCapacityUnits":2,"WriteCapacityUnits":1})"));
  EXPECT_THAT(TableOf("t.yaml", "{name: t, schema: {pk: id}}"), HasSubstr("schema.pk: write the attribute as"));
}

TEST_F(SchemaFiles, ModelsHaveTablesWithItems) {
  Write("m.json", R"({"ModelName": "M", "DataModel": [{"TableName": "T",
    "KeyAttributes": {"PartitionKey": {"AttributeName": "p", "AttributeType": "N"}},
    "GlobalSecondaryIndexes": [{"IndexName": "I", "KeyAttributes": {"PartitionKey": {"AttributeName": "q",
      "AttributeType": "S"}, "SortKey": {}}, "Projection": {"ProjectionType": "ALL", "NonKeyAttributes": ["x"]}}],
    "TableData": [{"p": {"N": "1"}, "q": {"S": "x"}}, {"p": {"N": "2"}}],
    "ProvisionedCapacitySettings": {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}}}]})");
  const Schema schema = Read();
  ASSERT_EQ(error_, "");
  ASSERT_THAT(schema.tables, SizeIs(1));
  EXPECT_THAT(schema.tables[0].items, SizeIs(2));
  const auto& index = schema.tables[0].definition.global_secondary_indexes(0);
  EXPECT_EQ(index.key_schema_size(), 1);
  EXPECT_EQ(index.projection().non_key_attributes_size(), 0);
  EXPECT_EQ(index.provisioned_throughput().write_capacity_units(), 6);
  EXPECT_THAT(TableOf("m.json", R"({"DataModel": [{"TableName": "T", "KeyAttributes": {"SortKey": {}}}]})"),
              HasSubstr("m.json: DataModel[0].KeyAttributes: there is no PartitionKey"));
  EXPECT_THAT(TableOf("m.json", R"({"DataModel": [{"TableName": "T", "KeyAttributes": {"PartitionKey":
    {"AttributeName": "p"}}, "TableData": [{"p": {"N": 1}}]}]})"),
              HasSubstr("DataModel[0].TableData[0]"));
  EXPECT_THAT(TableOf("m.json", R"({"DataModel": [7]})"), HasSubstr("DataModel[0]: not an object"));
}

TEST_F(SchemaFiles, ScriptsHaveTablesOnly) {
  Write("s.sql",
        "-- tables\nCREATE TABLE A (id S PRIMARY KEY) WITH (ttl = gone);\n\nCREATE TABLE B (id N PRIMARY KEY);");
  const Schema schema = Read();
  ASSERT_EQ(error_, "");
  ASSERT_THAT(schema.tables, SizeIs(2));
  EXPECT_EQ(schema.tables[0].expiry_attribute, "gone");
  EXPECT_THAT(TableOf("s.sql", "CREATE TABLE A (id S PRIMARY KEY);\nDROP TABLE A;"),
              HasSubstr("line 2: only CREATE TABLE"));
  EXPECT_THAT(TableOf("s.sql", "SELECT * FROM A"), HasSubstr("line 1: only CREATE TABLE"));
  EXPECT_THAT(TableOf("s.sql", "\\d\n"), HasSubstr("line 1: a command of the shell"));
  EXPECT_THAT(TableOf("s.sql", "CREATE TABLE A (id S"), HasSubstr("s.sql: line 1: "));
}

TEST_F(SchemaFiles, ItemsOfOtherFilesJoinTheirTables) {
  Write("t.json", kRequest);
  Write("T.items.jsonl", "{\"p\": \"a\", \"n\": 1}\n\n{\"p\": {\"S\": \"b\"}}\n");
  Write("batch.json", R"({"T": [{"PutRequest": {"Item": {"p": {"S": "c"}}}}]})");
  Write("notes.txt", "no schema");
  Write(".hidden.json", "no schema");
  const Schema schema = Read();
  ASSERT_EQ(error_, "");
  ASSERT_THAT(schema.tables, SizeIs(1));
  EXPECT_THAT(schema.tables[0].items, SizeIs(3));
}

TEST_F(SchemaFiles, FaultsNameTheirFile) {
  EXPECT_THAT(TableOf("a.json", "{"), HasSubstr("a.json: not valid JSON"));
  EXPECT_THAT(TableOf("a.json", "{}"), HasSubstr("a.json: neither a template"));
  EXPECT_THAT(TableOf("a.json", "7"), HasSubstr("a.json: neither a template"));
  EXPECT_THAT(TableOf("a.json", "[7]"), HasSubstr("a.json: [0]: not a definition"));
  EXPECT_THAT(TableOf("a.json", "[]"), HasSubstr("define no table"));
  EXPECT_THAT(TableOf("a.json", std::string(1'000'000, '[')), HasSubstr("a.json: nested too deeply"));
  std::string many = R"({"text \" { : [": 1)";
  for (size_t i = 0; i < kYamlMembersMax; ++i) many += Cat(", \"k", i, "\": ", "1");
  EXPECT_THAT(TableOf("a.json", many + "}"), HasSubstr("an object has more than 1000 members"));
  EXPECT_THAT(TableOf("a.json", std::string(kSchemaFileBytesMax + 1, ' ')), HasSubstr("at most 32 MiB"));
  EXPECT_THAT(TableOf("a.json", R"({"T": [{"DeleteRequest": {}}]})"), HasSubstr("only puts"));
  EXPECT_THAT(TableOf("a.json", R"({"T": [{"PutRequest": {"Item": {"p": {"S": "c"}}}}]})"),
              HasSubstr("no definition of this table"));
  EXPECT_THAT(TableOf("a.json", R"({"TableName": "T", "KeySchema": 7})"), HasSubstr("a.json: KeySchema"));
  EXPECT_THAT(TableOf("a.json", R"({"TableName": "T", "KeySchema": [], "Colour": 7})"), HasSubstr("Colour"));
  Write("a.json", kRequest);
  EXPECT_THAT(TableOf("b.json", kRequest), HasSubstr("the table T is also defined in "));
}

TEST_F(SchemaFiles, MissingFilesAndEmptyDirectoriesAreErrors) {
  Read();
  EXPECT_THAT(error_, HasSubstr("the directory has no schema files"));
  const auto missing = ReadSchema({directory_.path("none.json")}, {});
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("cannot read "));
}

// A table as the daemon describes it.
api::v1::TableDescription Description(std::string_view more) {
  const auto json = ParseJson(Cat(R"({"TableName": "T", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}])",
                                  more, "}"));
  EXPECT_TRUE(json.ok()) << json.status();
  api::v1::TableDescription made;
  EXPECT_TRUE(MessageFromJson(*json, "", &made).ok());
  return made;
}

std::string DifferenceWith(const api::v1::TableDescription& present, std::string_view more) {
  const auto json = ParseJson(Cat(R"({"TableName": "T", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}])",
                                  more, "}"));
  const auto wanted = DefinitionFromJson(*json, "");
  EXPECT_TRUE(wanted.ok()) << wanted.status();
  return DifferenceOf(*wanted, present);
}

constexpr char kOnDemand[] = R"(, "BillingMode": "PAY_PER_REQUEST")";
constexpr char kOnDemandSummary[] = R"(, "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
  "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0})";

TEST(TableDifference, EqualTablesHaveNone) {
  EXPECT_EQ(DifferenceWith(Description(kOnDemandSummary), kOnDemand), "");
  EXPECT_EQ(DifferenceWith(Description(Cat(kOnDemandSummary, R"(, "WarmThroughput": {"ReadUnitsPerSecond": 12000})")),
                           Cat(kOnDemand, R"(, "Tags": [{"Key": "a", "Value": "b"}], "TableClass": "STANDARD",
      "StreamSpecification": {"StreamEnabled": false}, "DeletionProtectionEnabled": false,
      "OnDemandThroughput": {"MaxReadRequestUnits": -1}, "SSESpecification": {"Enabled": false})")),
            "");
}

TEST(TableDifference, TheFirstDifferenceIsNamed) {
  const auto present = Description(Cat(kOnDemandSummary, R"(, "GlobalSecondaryIndexes": [{"IndexName": "I",
    "IndexStatus": "ACTIVE", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]}}])"));
  const auto with_index = [](std::string_view projection) {
    return Cat(kOnDemand, R"(, "GlobalSecondaryIndexes": [{"IndexName": "I", "KeySchema": [{"AttributeName": "p",
      "KeyType": "HASH"}], "Projection": )",
               projection, "}]");
  };
  EXPECT_EQ(DifferenceWith(present, with_index(R"({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b", "a"]})")),
            "");
  EXPECT_EQ(DifferenceWith(present, with_index(R"({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "c"]})")),
            "GlobalSecondaryIndexes[0].Projection.NonKeyAttributes[1] is \"c\" in the schema and \"b\" in the table");
  EXPECT_THAT(DifferenceWith(present, kOnDemand), HasSubstr("GlobalSecondaryIndexes is absent in the schema and ["));
  EXPECT_EQ(DifferenceWith(Description(kOnDemandSummary),
                           R"(, "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})"),
            "BillingMode is \"PROVISIONED\" in the schema and \"PAY_PER_REQUEST\" in the table");
  EXPECT_THAT(
      DifferenceWith(Description(kOnDemandSummary), Cat(kOnDemand, R"(, "SSESpecification": {"Enabled": true})")),
      HasSubstr("SSESpecification is {\"Enabled\":true"));
}

}  // namespace armature::cli::schema_files_test
