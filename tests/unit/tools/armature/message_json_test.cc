#include "tools/armature/message_json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::cli::message_json_test {

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

TEST(MessageJsonTest, ListsOfNumbersAppear) {
  admin::v1::BackupJob job;
  job.add_deleted_ids(3);
  job.add_deleted_ids(4);
  EXPECT_EQ(CompactJson(MessageToJson(job)["DeletedIds"]), "[3,4]");
}

// A directory can be opened like a file.
TEST(MessageJsonTest, DirectoryIsNoFile) {
  EXPECT_EQ(ReadJsonFile("/").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ParseJsonArgument("@/").status().code(), absl::StatusCode::kNotFound);
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

TEST(MessageJsonTest, TimesAreReadAsSeconds) {
  api::v1::RestoreTableToPointInTimeRequest request;
  ASSERT_TRUE(MessageFromJson(*ParseJson(R"({"RestoreDateTime":1700000000.5})"), "", &request).ok());
  EXPECT_EQ(request.restore_date_time_ms(), 1'700'000'000'500);
  EXPECT_THAT(MessageFromJson(*ParseJson(R"({"RestoreDateTime":"now"})"), "", &request).message(),
              HasSubstr("RestoreDateTime: must be a number of seconds, not string"));
}

// The JSON protocol keeps values beside the fields of a message, for the engine. They are not sent to the daemon.
TEST(MessageJsonTest, MessagesHaveNothingBesideTheirFields) {
  api::v1::PutItemRequest request;
  ASSERT_TRUE(MessageFromJson(*ParseJson(R"({"Item":{"a":{"L":[{"S":""}]}},
      "ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":v":{"M":{"k":{"NULL":true}}}}})"),
                              "", &request)
                  .ok());
  api::v1::PutItemRequest expected;
  (*expected.mutable_item()->mutable_attributes())["a"].mutable_l()->add_values()->set_s("");
  (*expected.mutable_expression_attribute_names())["#n"] = "n";
  auto& value = (*expected.mutable_expression_attribute_values())[":v"];
  (*value.mutable_m()->mutable_entries())["k"].set_null(true);
  EXPECT_EQ(request.SerializeAsString(), expected.SerializeAsString());
  api::v1::CreateTableRequest create;
  ASSERT_TRUE(MessageFromJson(*ParseJson(R"({"KeySchema":[]})"), "", &create).ok());
  EXPECT_EQ(create.SerializeAsString(), "");
}

Json Parsed(const std::string& text) {
  auto json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << text << ": " << json.status();
  return json.ok() ? *json : Json();
}

// The error of reading the item `text`; empty if it is valid.
std::string ItemComplaint(const std::string& text) {
  return std::string(Sv(ItemFromJson(Parsed(text), "Item").status().message()));
}

std::string Nested(int levels) {
  std::string text = R"({"S":"x"})";
  for (int i = 1; i < levels; ++i) text = Cat(R"({"L":[)", text, "]}");
  return Cat(R"({"a":)", text, "}");
}

TEST(AttributeJsonTest, EveryTypeComesBackAsItWas) {
  for (const std::string text : {
           R"({})",
           R"({"a":{"S":""}})",
           R"({"a":{"S":"quote \" backslash \\ line\nfeed \u0000 é 😀"}})",
           R"({"a":{"N":"-12.5e3"}})",
           R"({"a":{"B":""}})",
           R"({"a":{"B":"AP8="}})",
           R"({"a":{"BOOL":false},"b":{"BOOL":true},"c":{"NULL":true}})",
           R"({"a":{"SS":["x",""]},"b":{"NS":["1","2"]},"c":{"BS":["AA==","/w=="]}})",
           R"({"a":{"L":[]},"b":{"M":{}}})",
           R"({"a":{"L":[{"M":{"S":{"S":"x"},"":{"N":"1"}}},{"L":[{"NULL":true}]}]}})",
           R"({"dotted.name":{"S":"x"}," ":{"S":"y"}})",
       }) {
    const auto item = ItemFromJson(Parsed(text), "");
    ASSERT_TRUE(item.ok()) << text << ": " << item.status();
    const Json again = MessageToJson(*item);
    // nlohmann::json compares objects without their order.
    EXPECT_EQ(nlohmann::json(again), nlohmann::json(Parsed(text))) << text;
  }
}

TEST(AttributeJsonTest, BytesAreDecoded) {
  const auto value = AttributeValueFromJson(Parsed(R"({"B":"AP8="})"), "");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->b(), std::string("\0\xff", 2));
}

TEST(AttributeJsonTest, MembersAreSorted) {
  const auto item = ItemFromJson(Parsed(R"({"b":{"S":""},"C":{"S":""},"a":{"S":""}})"), "");
  ASSERT_TRUE(item.ok());
  EXPECT_EQ(CompactJson(MessageToJson(*item)), R"({"C":{"S":""},"a":{"S":""},"b":{"S":""}})");
}

TEST(AttributeJsonTest, ErrorsNameThePath) {
  EXPECT_EQ(ItemComplaint(R"({"a":{"M":{"t":{"L":[{"S":"x"},{"N":1}]}}}})"),
            "Item.a.M.t.L[1].N: must be a string, not number; write numbers in quotes");
  EXPECT_THAT(ItemComplaint(R"({"a":"x"})"), HasSubstr("Item.a: must be an object"));
  EXPECT_THAT(ItemComplaint(R"({"a":{}})"), HasSubstr("Item.a: must be an object"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"S":"x","N":"1"}})"), HasSubstr("Item.a: must be an object"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"s":"x"}})"), HasSubstr("\"s\" is no type"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"BOOL":"true"}})"), HasSubstr("Item.a.BOOL: must be true or"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"NULL":null}})"), HasSubstr("Item.a.NULL: must be true or"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"SS":"x"}})"), HasSubstr("Item.a.SS: must be an array"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"NS":["1",2]}})"), HasSubstr("Item.a.NS[1]: must be a string"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"M":[]}})"), HasSubstr("Item.a.M: must be an object"));
  EXPECT_THAT(ItemComplaint(R"({"a":{"L":{}}})"), HasSubstr("Item.a.L: must be an array"));
  EXPECT_THAT(ItemComplaint("[]"), HasSubstr("Item: must be an object, not array"));
}

TEST(AttributeJsonTest, Base64IsCanonical) {
  for (const char* bytes : {"A", "AP8", "AP 8=", "AP8=\\n", "AP9=", "-_8=", "!!!!"}) {
    EXPECT_EQ(ItemComplaint(Cat(R"({"a":{"B":")", bytes, R"("}})")), "Item.a.B: must be base64 with padding") << bytes;
  }
}

TEST(AttributeJsonTest, DepthIsBounded) {
  EXPECT_EQ(ItemComplaint(Nested(model::kNestingDepthMax)), "");
  EXPECT_THAT(ItemComplaint(Nested(model::kNestingDepthMax + 1)), HasSubstr("nests deeper than 32 levels"));
}

TEST(JsonTextTest, RefusesWhatIsAmbiguousOrBroken) {
  EXPECT_THAT(ParseJson(R"({"a":1,"a":2})").status().message(), HasSubstr("\"a\" occurs twice"));
  EXPECT_TRUE(ParseJson(R"([{"a":1},{"a":2}])").ok());
  for (const std::string text : {"", "{", "{} x", "{'a':1}", "nul", "\"\xff\"", "{\"a\":1,}"}) {
    EXPECT_THAT(ParseJson(text).status().message(), HasSubstr("not valid JSON")) << text;
  }
  EXPECT_THAT(ParseJson(std::string(100000, '[') + std::string(100000, ']')).status().message(),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(ParseJsonArgument("@/no/such/file").status().message(), HasSubstr("cannot read"));
}

}  // namespace armature::cli::message_json_test
