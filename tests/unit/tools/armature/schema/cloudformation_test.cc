#include "tools/armature/schema/cloudformation.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tools/armature/message_json.h"
#include "tools/armature/schema/yaml_text.h"

namespace armature::cli::cloudformation_test {

using testing::ElementsAre;
using testing::HasSubstr;

Json Yaml(std::string_view text) {
  auto json = ParseYaml(text);
  EXPECT_TRUE(json.ok()) << json.status();
  return *json;
}

// The value of an expression in a template with these sections, or the error.
std::string Value(std::string_view sections, std::string_view expression, const TemplateParameters& given = {}) {
  const Json root = Yaml(sections);
  TemplateValues values(root, given);
  const auto value = values.Resolve(Yaml(expression), "Here");
  if (!value.ok()) return std::string(value.status().message());
  return value->is_absent ? "absent" : CompactJson(value->json);
}

constexpr char kSections[] = R"(
Parameters:
  Stage: {Type: String, Default: dev}
  Count: {Type: Number, Default: 3}
  Zones: {Type: CommaDelimitedList, Default: 'a,b'}
  Secret: {Type: String}
  Image: {Type: 'AWS::SSM::Parameter::Value<String>', Default: /path}
Mappings:
  Units: {dev: {Reads: 5}, prod: {Reads: 50}}
Conditions:
  IsDev: !Equals [!Ref Stage, dev]
  IsNot: !Not [!Condition IsDev]
  Both: !And [!Condition IsDev, !Equals [1, '1']]
  Any: !Or [!Condition IsNot, !Condition IsDev]
  Loop: !Not [!Condition Loop]
Resources:
  Named: {Type: 'AWS::DynamoDB::Table', Properties: {TableName: !Sub 't-${Stage}'}}
  Plain: {Type: 'AWS::DynamoDB::Table'}
  Ring: {Type: 'AWS::DynamoDB::Table', Properties: {TableName: !Ref Ring}}
  Queue: {Type: 'AWS::SQS::Queue'}
)";

TEST(TemplateValues, RefsAreParametersPseudoParametersAndTables) {
  EXPECT_EQ(Value(kSections, "!Ref Stage"), "\"dev\"");
  EXPECT_EQ(Value(kSections, "!Ref Stage", {{"Stage", "prod"}}), "\"prod\"");
  EXPECT_EQ(Value(kSections, "[!Ref Count, !Ref Zones]"), R"(["3",["a","b"]])");
  EXPECT_EQ(Value(kSections, "[!Ref 'AWS::Region', !Ref 'AWS::AccountId']"), R"(["local","000000000000"])");
  EXPECT_EQ(Value(kSections, "[!Ref Named, !Ref Plain]"), R"(["t-dev","Plain"])");
  EXPECT_EQ(Value(kSections, "{a: !Ref 'AWS::NoValue', b: 1}"), R"({"b":1})");
  EXPECT_EQ(Value(kSections, "!Ref 'AWS::StackName'", {{"AWS::StackName", "shop"}}), "\"shop\"");
}

TEST(TemplateValues, ValuesThatOnlyCloudFormationHasAreErrors) {
  EXPECT_EQ(Value(kSections, "!Ref Secret"),
            "Here: the parameter Secret has no default; give --parameter Secret=VALUE");
  EXPECT_THAT(Value(kSections, "!Ref Image"), HasSubstr("the parameter Image has no default"));
  EXPECT_EQ(Value(kSections, "a: [!Ref 'AWS::StackName']"),
            "Here.a[0]: AWS::StackName has no value; give --parameter AWS::StackName=VALUE");
  EXPECT_THAT(Value(kSections, "!Ref Queue"), HasSubstr("Queue has no value"));
  EXPECT_THAT(Value(kSections, "!ImportValue x"), HasSubstr("Fn::ImportValue has no value outside of CloudFormation"));
  EXPECT_THAT(Value(kSections, "!GetAtt Queue.Arn"), HasSubstr("Fn::GetAtt of Queue.Arn has no value"));
  EXPECT_THAT(Value(kSections, "!GetAtt Named.StreamArn"), HasSubstr("has no value"));
}

TEST(TemplateValues, SubAndJoinMakeTexts) {
  EXPECT_EQ(Value(kSections, "!Sub 'a-${Stage}-${Count}-${!Stage}-${Named}-$'"), "\"a-dev-3-${Stage}-t-dev-$\"");
  EXPECT_EQ(Value(kSections, "!Sub ['${x}${Stage}', {x: !Ref Count}]"), "\"3dev\"");
  EXPECT_EQ(Value(kSections, "!Sub '${Named.Arn}'"), "\"arn:aws:dynamodb:local:000000000000:table/t-dev\"");
  EXPECT_EQ(Value(kSections, "!Join ['-', [a, !Ref Stage, 1]]"), "\"a-dev-1\"");
  EXPECT_EQ(Value(kSections, "!Join [',', !Ref Zones]"), "\"a,b\"");
  EXPECT_EQ(Value(kSections, "!Select [1, !Ref Zones]"), "\"b\"");
  EXPECT_THAT(Value(kSections, "!Sub '${Zones}'"), HasSubstr("${Zones} is not a text"));
  EXPECT_THAT(Value(kSections, "!Select [2, !Ref Zones]"), HasSubstr("a list that has it"));
  EXPECT_THAT(Value(kSections, "!Sub [a]"), HasSubstr("Fn::Sub needs"));
  EXPECT_EQ(Value(kSections, "!Sub 'open ${Stage'"), "\"open ${Stage\"");
}

TEST(TemplateValues, ConditionsChooseValues) {
  EXPECT_EQ(Value(kSections, "[!If [IsDev, 1, 2], !If [IsNot, 1, 2], !If [Both, 1, 2], !If [Any, 1, 2]]"), "[1,2,1,1]");
  EXPECT_EQ(Value(kSections, "!If [IsNot, !Ref Secret, x]"), "\"x\"") << "the other value has no meaning";
  EXPECT_EQ(Value(kSections, "!FindInMap [Units, !Ref Stage, Reads]"), "5");
  EXPECT_THAT(Value(kSections, "!FindInMap [Units, test, Reads]"), HasSubstr("Mappings have no"));
  EXPECT_THAT(Value(kSections, "!If [None, 1, 2]"), HasSubstr("there is no condition None"));
}

TEST(TemplateValues, CirclesAndBombsEnd) {
  EXPECT_THAT(Value(kSections, "!If [Loop, 1, 2]"), HasSubstr("in a circle"));
  EXPECT_THAT(Value(kSections, "!Ref Ring"), HasSubstr("in a circle"));
  std::string sections = "Conditions:\n  C0: !Equals [1, 1]\n";
  for (int i = 1; i < 30; ++i) {
    sections += Cat("  C", i, ": !And [!Condition C", i - 1, ", !Condition C", i - 1, "]\n");
  }
  EXPECT_THAT(Value(sections, "!If [C29, 1, 2]"), HasSubstr("the values of the template are too large"));
  // Names without a text of their own.
  sections = "Resources:\n  T0: {Type: AWS::DynamoDB::Table}\n";
  for (int i = 1; i < 28; ++i) {
    const std::string before = Cat("!Ref T", i - 1);
    sections += Cat("  T", i, ": {Type: AWS::DynamoDB::Table, Properties: {TableName: !Select [0, [", before, ", ",
                    before, ", ", before, "]]}}\n");
  }
  EXPECT_THAT(Value(sections, "!Ref T27"), HasSubstr("the values of the template are too large"));
  sections = Cat("Parameters: {P: {Type: String, Default: '", std::string(1 << 20, 'x'), "'}}");
  std::string list = "[!Ref P";
  for (int i = 0; i < 100; ++i) list += ", !Ref P";
  EXPECT_THAT(Value(sections, list + "]"), HasSubstr("the values of the template are too large"));
}

// The definitions of a template as JSON, or the error.
std::string Tables(std::string_view text, Schema* out = nullptr) {
  auto schema = TablesOfTemplate(Yaml(text), {});
  if (!schema.ok()) return std::string(schema.status().message());
  std::string made;
  for (const SchemaTable& table : schema->tables) made += CompactJson(MessageToJson(table.definition)) + "\n";
  if (out != nullptr) *out = *std::move(schema);
  return made;
}

constexpr char kKey[] =
    "AttributeDefinitions: [{AttributeName: p, AttributeType: S}], "
    "KeySchema: [{AttributeName: p, KeyType: HASH}]";
constexpr char kKeyJson[] = R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)"
                            R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}])";

std::string Resource(std::string_view type, std::string_view properties) {
  return Cat("Resources: {R: {Type: '", type, "', Properties: {", properties, "}}}");
}

TEST(Cloudformation, PropertiesBecomeARequest) {
  Schema schema;
  const std::string made =
      Tables(Resource("AWS::DynamoDB::Table",
                      Cat(kKey,
                          ", BillingMode: PROVISIONED, ProvisionedThroughput: {ReadCapacityUnits: '5', "
                          "WriteCapacityUnits: 6}, DeletionProtectionEnabled: 'true', StreamSpecification: "
                          "{StreamViewType: NEW_IMAGE}, SSESpecification: {SSEEnabled: true}, "
                          "TimeToLiveSpecification: {AttributeName: e, Enabled: true}")),
             &schema);
  EXPECT_THAT(made, HasSubstr(kKeyJson));
  EXPECT_THAT(made, HasSubstr(R"("TableName":"R")"));
  EXPECT_THAT(made, HasSubstr(R"("ReadCapacityUnits":5,"WriteCapacityUnits":6)"));
  EXPECT_THAT(made, HasSubstr(R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE")"));
  EXPECT_THAT(made, HasSubstr(R"("SSESpecification":{"Enabled":true)"));
  EXPECT_THAT(made, HasSubstr(R"("DeletionProtectionEnabled":true)"));
  ASSERT_EQ(schema.tables.size(), 1U);
  EXPECT_EQ(schema.tables[0].expiry_attribute, "e");
  EXPECT_TRUE(schema.notes.empty());
}

TEST(Cloudformation, PropertiesOfOtherServicesAreNoted) {
  Schema schema;
  Tables(Resource("AWS::DynamoDB::Table", Cat(kKey, ", KinesisStreamSpecification: {StreamArn: !ImportValue x}")),
         &schema);
  EXPECT_THAT(schema.notes, ElementsAre("R: KinesisStreamSpecification is left out: there is no Kinesis"));
}

TEST(Cloudformation, UnknownPropertiesAreErrors) {
  EXPECT_EQ(Tables(Resource("AWS::DynamoDB::Table", Cat(kKey, ", Colour: red"))),
            "Resources.R.Properties.Colour: this property is not known");
  EXPECT_THAT(Tables(Resource("AWS::DynamoDB::Table", "KeySchema: [{AttributeNam: p}]")),
              HasSubstr("Resources.R.Properties.KeySchema[0]"));
  EXPECT_THAT(Tables("Resources: {R: {Type: 'AWS::DynamoDB::Table', Properties: [1]}}"), HasSubstr("not an object"));
}

TEST(Cloudformation, GlobalTablesTakeTheirFirstReplica) {
  Schema schema;
  const std::string made =
      Tables(Resource("AWS::DynamoDB::GlobalTable",
                      Cat(kKey,
                          ", BillingMode: PAY_PER_REQUEST, WriteOnDemandThroughputSettings: {MaxWriteRequestUnits: 4}, "
                          "Replicas: [{Region: a, DeletionProtectionEnabled: true, ReadOnDemandThroughputSettings: "
                          "{MaxReadRequestUnits: 9}, ResourcePolicy: !ImportValue p}, {Region: !ImportValue r}]")),
             &schema);
  EXPECT_THAT(made, HasSubstr(R"("OnDemandThroughput":{"MaxReadRequestUnits":9,"MaxWriteRequestUnits":4})"));
  EXPECT_THAT(made, HasSubstr(R"("DeletionProtectionEnabled":true)"));
  EXPECT_THAT(schema.notes, ElementsAre(HasSubstr("the first replica"), HasSubstr("ResourcePolicy is left out")));
}

TEST(Cloudformation, SimpleTablesHaveOneKeyAndAreOnDemand) {
  EXPECT_THAT(Tables(Resource("AWS::Serverless::SimpleTable", "Tags: {a: b}")),
              HasSubstr(R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}])"));
  const std::string made =
      Tables(Resource("AWS::Serverless::SimpleTable", "PrimaryKey: {Name: n, Type: Number}, TableName: t"));
  EXPECT_THAT(made, HasSubstr(R"("AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"}])"));
  EXPECT_THAT(made, HasSubstr(R"("BillingMode":"PAY_PER_REQUEST")"));
  EXPECT_THAT(Tables(Resource("AWS::Serverless::SimpleTable", "PrimaryKey: {Name: n, Type: Map}")),
              HasSubstr("PrimaryKey.Type: not String"));
}

TEST(Cloudformation, ConditionsLeaveTablesOut) {
  EXPECT_EQ(Tables(Cat("Conditions: {C: !Equals [a, b]}\n",
                       "Resources: {R: {Type: 'AWS::DynamoDB::Table', Condition: C, Properties: {", kKey, "}}}")),
            "");
}

}  // namespace armature::cli::cloudformation_test
