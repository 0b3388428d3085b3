#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "storage/base/strings.h"
#include "tools/armature/message_json.h"
#include "tools/armature/request_options.h"
#include "tools/armature/shorthand.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

using testing::HasSubstr;

std::string Complaint(const std::string& text) {
  api::v1::CreateTableRequest request;
  return std::string(Sv(MessageFromJson(*ParseJson(text), "", &request).message()));
}

TEST(MessageJsonTest, NamesAreTheDocumentedOnes) {
  EXPECT_EQ(JsonName("key_condition_expression"), "KeyConditionExpression");
  EXPECT_EQ(JsonName("sse_specification"), "SSESpecification");
  EXPECT_EQ(JsonName("kms_master_key_id"), "KMSMasterKeyId");
  EXPECT_EQ(JsonName("creation_date_time_ms"), "CreationDateTime");
  EXPECT_EQ(JsonName("size_estimate_range_gb"), "SizeEstimateRangeGB");
}

TEST(MessageJsonTest, CreateTableComesBackAsItWas) {
  const std::string text =
      R"({"TableName":"T","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],)"
      R"("KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",)"
      R"("GlobalSecondaryIndexes":[{"IndexName":"I","KeySchema":[{"AttributeName":"b","KeyType":"RANGE"}],)"
      R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["c"]},)"
      R"("ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2}}]})";
  api::v1::CreateTableRequest request;
  const absl::Status status = MessageFromJson(*ParseJson(text), "", &request);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(request.global_secondary_indexes(0).provisioned_throughput().write_capacity_units(), 2);
  EXPECT_EQ(CompactJson(MessageToJson(request)), text);
}

TEST(MessageJsonTest, ErrorsNameThePath) {
  EXPECT_EQ(Complaint(R"({"KeySchema":[{"KeyType":"HASH"},{"KeyType":"SORT"}]})"),
            R"(KeySchema[1].KeyType: "SORT" is not one of HASH, RANGE)");
  EXPECT_THAT(Complaint(R"({"BillingMode":"UNSPECIFIED"})"), HasSubstr("is not one of PROVISIONED"));
  EXPECT_EQ(Complaint(R"({"Tablename":"x"})"), "unknown member \"Tablename\"");
  EXPECT_EQ(Complaint(R"({"KeySchema":{}})"), "KeySchema: must be an array, not object");
  EXPECT_EQ(Complaint(R"({"ProvisionedThroughput":{"ReadCapacityUnits":"1"}})"),
            "ProvisionedThroughput.ReadCapacityUnits: must be an integer, not string");
  EXPECT_THAT(Complaint(R"({"ProvisionedThroughput":{"ReadCapacityUnits":18446744073709551615}})"),
              HasSubstr("is out of range"));
}

TEST(MessageJsonTest, TimesAreSecondsAndZeroCountsAppear) {
  api::v1::TableDescription table;
  table.set_creation_date_time_ms(1500);
  const Json json = MessageToJson(table);
  EXPECT_EQ(json["CreationDateTime"], 1.5);
  EXPECT_EQ(json["ItemCount"], 0);
  EXPECT_FALSE(json.contains("TableName"));
  EXPECT_FALSE(json.contains("BillingModeSummary"));
}

TEST(ShorthandTest, ReadsPairsAndJson) {
  EXPECT_EQ(CompactJson(*ParseShorthand("AttributeName=1,AttributeType=S", Scalars::kTexts)),
            R"({"AttributeName":"1","AttributeType":"S"})");
  EXPECT_EQ(CompactJson(*ParseShorthand("ReadCapacityUnits=1,X=true", Scalars::kTyped)),
            R"({"ReadCapacityUnits":1,"X":true})");
  EXPECT_EQ(CompactJson(*ParseShorthandList({"A=1", R"([{"A":"2"},{"A":"3"}])", R"({"A":"4"})"})),
            R"([{"A":"1"},{"A":"2"},{"A":"3"},{"A":"4"}])");
  for (const std::string text : {"", "A", "=1", "A=1,", "A=1,A=2"}) {
    EXPECT_FALSE(ParseShorthand(text, Scalars::kTexts).ok()) << text;
  }
}

TEST(TextTableTest, AlignsAndEscapes) {
  TextTable table({"Name", "Size"});
  table.AddRow({"é\n", "1"});
  table.AddRow({"longer", "200"});
  EXPECT_EQ(table.ToString(), "Name    Size\né\\n        1\nlonger   200\n");
}

TEST(TextTableTest, ShowsItems) {
  const auto items = ParseJson(R"([{"b":{"SS":["x","y"]},"a":{"S":"t"}},{"c":{"M":{"k":{"NULL":true}}}}])");
  EXPECT_EQ(ItemsTable(*items), "a  b       c\nt  {x, y}\n           {\"k\":{\"NULL\":true}}\n");
  EXPECT_EQ(ItemsTable(Json::array()), "");
}

// The request that `arguments` make with some options of each kind.
absl::StatusOr<api::v1::CreateTableRequest> Built(std::vector<std::string> arguments) {
  CLI::App app;
  const RequestOptions options(app, *api::v1::CreateTableRequest::descriptor(),
                               {{"--table-name", "", Presence::kRequired},
                                {"--key-schema", ""},
                                {"--global-secondary-indexes", ""},
                                {"--provisioned-throughput", ""},
                                {"--deletion-protection-enabled", ""}});
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  return options.Build<api::v1::CreateTableRequest>();
}

TEST(RequestOptionsTest, ListsMayBeRepeatedFollowEachOtherOrBeJson) {
  const std::string first = "AttributeName=a,KeyType=HASH";
  const std::string second = "AttributeName=b,KeyType=RANGE";
  const std::string json = R"([{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}])";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--table-name", "T", "--key-schema", first, second},
                                             {"--key-schema", first, second, "--table-name", "T"},
                                             {"--key-schema", first, "--key-schema", second, "--table-name", "T"},
                                             {"--table-name", "T", "--key-schema", json}}) {
    const auto request = Built(arguments);
    ASSERT_TRUE(request.ok()) << request.status();
    ASSERT_EQ(request->key_schema_size(), 2);
    EXPECT_EQ(request->key_schema(1).attribute_name(), "b");
  }
}

TEST(RequestOptionsTest, JsonArraysReachTheReaderWhole) {
  const auto request = Built({"--table-name", "T", "--global-secondary-indexes",
                              R"([{"IndexName":"I"},{"IndexName":"J"}])", "--provisioned-throughput",
                              "ReadCapacityUnits=3,WriteCapacityUnits=4", "--no-deletion-protection-enabled"});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->global_secondary_indexes_size(), 2);
  EXPECT_EQ(request->provisioned_throughput().write_capacity_units(), 4);
  EXPECT_TRUE(request->has_deletion_protection_enabled());
  EXPECT_FALSE(request->deletion_protection_enabled());
}

TEST(RequestOptionsTest, OptionsPrevailOverTheInput) {
  const auto request =
      Built({"--cli-input-json", R"({"TableName":"A","BillingMode":"PROVISIONED"})", "--table-name", "B"});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->table_name(), "B");
  EXPECT_EQ(request->billing_mode(), api::v1::BILLING_MODE_PROVISIONED);
}

TEST(RequestOptionsTest, WrongUseIsAUsageError) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"--table-name", "T", "--key-schema", "nonsense"},
                                             {"--table-name", "T", "--global-secondary-indexes", "{"},
                                             {"--cli-input-json", "[]"},
                                             {"--cli-input-json", R"({"TableName":1})"}}) {
    const auto request = Built(arguments);
    ASSERT_FALSE(request.ok());
    EXPECT_EQ(ExitCodeOf(request.status()), ExitCode::kUsageError) << request.status();
  }
}

}  // namespace
}  // namespace armature::cli
