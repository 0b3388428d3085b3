// Damaged schema files of all forms: none crashes the command, and what they give passes on to the comparison.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tests/support/random.h"
#include "tools/armature/json_text.h"
#include "tools/armature/schema/schema_files.h"
#include "tools/armature/schema/table_difference.h"
#include "tools/armature/schema/yaml_text.h"

namespace armature::cli::schema_garbage_test {

constexpr std::string_view kTemplate = R"(
Parameters: {Stage: {Type: String, Default: dev}, Zones: {Type: CommaDelimitedList, Default: 'a,b'}}
Mappings: {Units: {dev: {Reads: 5}}}
Conditions: {IsDev: !Equals [!Ref Stage, dev], Both: !And [!Condition IsDev, !Not [!Condition IsDev]]}
Resources:
  T:
    Type: AWS::DynamoDB::Table
    Condition: IsDev
    Properties:
      TableName: !Sub ['t-${Stage}-${x}', {x: !Join ['-', !Ref Zones]}]
      AttributeDefinitions: &a [{AttributeName: p, AttributeType: S}]
      KeySchema: &k [{AttributeName: p, KeyType: HASH}]
      BillingMode: !If [Both, PROVISIONED, PAY_PER_REQUEST]
      ProvisionedThroughput: {ReadCapacityUnits: !FindInMap [Units, !Ref Stage, Reads], WriteCapacityUnits: '5'}
      GlobalSecondaryIndexes: [{IndexName: I, KeySchema: *k, Projection: {ProjectionType: ALL},
        ContributorInsightsSpecification: {Enabled: true}}]
      TimeToLiveSpecification: {AttributeName: e, Enabled: true}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      SSESpecification: {SSEEnabled: !Select [0, [true]]}
      KinesisStreamSpecification: {StreamArn: !ImportValue x}
  G:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      AttributeDefinitions: *a
      KeySchema: *k
      WriteProvisionedThroughputSettings: {WriteCapacityAutoScalingSettings: {MinCapacity: 1, MaxCapacity: 3}}
      GlobalSecondaryIndexes: [{IndexName: J, KeySchema: *k, WriteOnDemandThroughputSettings: {MaxWriteRequestUnits: 1}}]
      Replicas: [{Region: a, GlobalSecondaryIndexes: [{IndexName: J, ReadOnDemandThroughputSettings:
        {MaxReadRequestUnits: 2}}], ReadProvisionedThroughputSettings: {ReadCapacityUnits: 2}}, {Region: b}]
  S: {Type: 'AWS::Serverless::SimpleTable', Properties: {PrimaryKey: {Name: id, Type: String}, Tags: {a: b}}}
)";

constexpr std::string_view kModel = R"({"DataModel": [{"TableName": "T", "BillingMode": "PROVISIONED",
  "KeyAttributes": {"PartitionKey": {"AttributeName": "p", "AttributeType": "S"}, "SortKey": {"AttributeName": "s"}},
  "GlobalSecondaryIndexes": [{"IndexName": "I", "KeyAttributes": {"PartitionKey": {"AttributeName": "q",
    "AttributeType": "N"}}, "Projection": {"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": []}}],
  "TableData": [{"p": {"S": "x"}, "l": {"L": [{"M": {"a": {"NULL": true}}}]}}],
  "ProvisionedCapacitySettings": {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}}]})";

constexpr std::string_view kDefinitions = R"X([{"Table": {"TableName": "A", "BillingModeSummary": {"BillingMode": "X"},
  "TableClassSummary": {"TableClass": "STANDARD"}, "SSEDescription": {"Status": "ENABLED"}, "KeySchema":
  [{"AttributeName": "p", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [{"IndexName": "I", "WarmThroughput": {}}]}},
  {"name": "d", "schema": {"pk": "a (S)", "sk": null}, "mode": "Provisioned", "capacity": {"rcu": 1, "wcu": 2},
   "gsi": [{"name": "g", "schema": {"pk": "b (N)"}, "capacity": null}], "lsi": []}])X";

constexpr std::string_view kBatch = R"({"RequestItems": {"T": [{"PutRequest": {"Item": {"p": {"S": "x"}}}}]}})";

constexpr std::string_view kScript =
    "CREATE TABLE t (id S PRIMARY KEY), GLOBAL INDEX i (a S | b N) WITH (ttl = e);\n-- end";

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFiles = {{{"t.yaml", kTemplate},
                                                                                  {"m.json", kModel},
                                                                                  {"d.json", kDefinitions},
                                                                                  {"d.yml", kDefinitions},
                                                                                  {"b.json", kBatch},
                                                                                  {"s.sql", kScript}}};

void Try(std::string_view name, const std::string& text) {
  const auto schema = SchemaOfText(std::string(name), text, {});
  if (!schema.ok()) {
    EXPECT_FALSE(schema.status().message().empty()) << text;
    return;
  }
  for (const SchemaTable& table : schema->tables) DifferenceOf(table.definition, api::v1::TableDescription());
}

// All places of values in the document.
void Collect(Json* json, std::vector<Json*>* places) {
  places->push_back(json);
  if (!json->is_structured()) return;
  for (Json& child : *json) Collect(&child, places);
}

TEST(SchemaGarbage, DamagedTextsAreErrorsOrSchemas) {
  test::Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto& [name, intact] = random.Pick(kFiles);
    std::string text(intact);
    for (int i = random.Below(4); i >= 0; --i) {
      const size_t at = random.Below(text.size());
      switch (random.Below(4)) {
        case 0:
          text[at] = static_cast<char>(random.Below(256));
          break;
        case 1:
          text.erase(at, random.Below<size_t>(20));
          break;
        case 2:
          text.insert(at, text.substr(random.Below(text.size()), random.Below<size_t>(20)));
          break;
        default:
          text.insert(at, 1, random.Pick(std::string_view("{}[],:'\"&*!|-\n #<>;()")));
      }
      if (text.empty()) text = " ";
    }
    Try(name, text);
  }
}

TEST(SchemaGarbage, ValuesOfOtherTypesAreErrorsOrSchemas) {
  test::Random random(2);
  const std::array<Json, 8> others = {
      nullptr, true, 7, -1.5, "text", Json::array(), Json::object(), Json::array({1, "a"})};
  for (const auto& [name, intact] : kFiles) {
    if (name.ends_with(".sql")) continue;
    const auto parsed = ParseYaml(intact);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    std::vector<Json*> all;
    Json original = *parsed;
    Collect(&original, &all);
    for (size_t i = 0; i < all.size(); ++i) {
      for (const Json& other : others) {
        Json damaged = original;
        std::vector<Json*> places;
        Collect(&damaged, &places);
        *places[i] = other;
        Try("d.json", CompactJson(damaged));
      }
    }
  }
}

}  // namespace armature::cli::schema_garbage_test
