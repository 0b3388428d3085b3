// Tables over the JSON protocol.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "armature/api/v1/tables.pb.h"
#include "daemon/api/table_messages.h"
#include "tests/unit/daemon/json/document_test_util.h"
#include "tests/unit/daemon/json/json_api_test_util.h"
#include "tests/unit/daemon/json/json_test_util.h"

namespace armature::daemon::table_operations_test {

namespace v1 = ::armature::api::v1;

class TableOperations : public JsonTest {};

constexpr std::string_view kPlain = R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)"
                                    R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}])";

std::string PlainTable(std::string_view name) {
  return Cat(R"({"TableName":")", name, R"(","BillingMode":"PAY_PER_REQUEST",)", kPlain, "}");
}

TEST_F(TableOperations, AreCreatedDescribedListedAndDeleted) {
  const JsonAnswer created = Ask("CreateTable", PlainTable("Cats"));
  EXPECT_EQ(created.status, 200u);
  EXPECT_TRUE(created.body.starts_with(R"({"TableDescription":{"TableName":"Cats",)")) << created.body;
  EXPECT_NE(created.body.find(R"("TableStatus":"CREATING","CreationDateTime":)"), std::string::npos) << created.body;
  EXPECT_EQ(Body("ListTables", "{}"), R"({"TableNames":["Cats"]})");
  EXPECT_NE(Body("DescribeTable", R"({"TableName":"Cats"})").find(R"({"Table":{"TableName":"Cats",)"),
            std::string::npos);
  EXPECT_EQ(Body("DescribeTable", R"({"TableName":"Dogs"})"),
            ErrorBody("ResourceNotFoundException", "Requested resource not found: Table: Dogs not found"));
  EXPECT_EQ(Body("CreateTable", PlainTable("a\\\"b")).substr(0, 60),
            ErrorBody("ValidationException", "1 validation error").substr(0, 60));
}

TEST_F(TableOperations, AreListedInPages) {
  for (const std::string_view name : {"Aaa", "Bbb", "Ccc"}) Ask("CreateTable", PlainTable(name));
  EXPECT_EQ(Body("ListTables", R"({"Limit":2})"), R"({"TableNames":["Aaa","Bbb"],"LastEvaluatedTableName":"Bbb"})");
  EXPECT_EQ(Body("ListTables", R"({"Limit":2,"ExclusiveStartTableName":"Bbb"})"), R"({"TableNames":["Ccc"]})");
  EXPECT_EQ(Body("ListTables", R"({"Limit":0})"),
            ErrorBody("ValidationException",
                      "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must "
                      "have value greater than or equal to 1"));
  EXPECT_EQ(Body("ListTables", R"({"Limit":"2"})"),
            ErrorBody("SerializationException", "STRING_VALUE cannot be converted to Integer"));
  EXPECT_EQ(Body("ListTables", ""), R"(400 {"__type":"com.amazon.coral.service#SerializationException"})");
}

TEST_F(TableOperations, ADefinitionKeepsAllThatWasSent) {
  const absl::StatusOr<v1::CreateTableRequest> request = ReadAs<v1::CreateTableRequest>(R"json({
    "TableName": "T", "BillingMode": "FREE", "TableClass": "COLD", "DeletionProtectionEnabled": true,
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "SS"}, {}],
    "KeySchema": [{"AttributeName": "p", "KeyType": "SORT"}, null],
    "LocalSecondaryIndexes": [],
    "GlobalSecondaryIndexes": [{"IndexName": "g", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
      "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": []},
      "ProvisionedThroughput": {"ReadCapacityUnits": 1}, "OnDemandThroughput": {"MaxReadRequestUnits": 3},
      "WarmThroughput": {"ReadUnitsPerSecond": 4, "WriteUnitsPerSecond": 5}}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 7},
    "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "ALL"},
    "SSESpecification": {"Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "k"},
    "Tags": [{"Key": "a", "Value": "b"}, {"Key": "c"}], "Unknown": [1, {}]})json");
  ASSERT_TRUE(request.ok()) << request.status();
  const std::optional<model::TableDefinition> read = ToTableDefinition(*request);
  EXPECT_EQ(read->table_name, "T");
  EXPECT_EQ(read->billing_mode, "FREE");
  ASSERT_EQ(read->attribute_definitions.size(), 2u);
  EXPECT_EQ(read->attribute_definitions[0].attribute_type, "SS");
  EXPECT_EQ(read->attribute_definitions[1].attribute_name, "");
  ASSERT_EQ(read->key_schema.size(), 2u);
  EXPECT_EQ(read->key_schema[0].key_type, "SORT");
  EXPECT_FALSE(read->empty_key_schema_given);
  ASSERT_TRUE(read->local_indexes.has_value());
  EXPECT_TRUE(read->local_indexes->empty());
  ASSERT_EQ(read->global_indexes->size(), 1u);
  const model::IndexDefinition& index = read->global_indexes->front();
  EXPECT_EQ(index.index_name, "g");
  EXPECT_EQ(index.key_schema.front().key_type, "HASH");
  EXPECT_EQ(index.projection.projection_type, "INCLUDE");
  EXPECT_EQ(index.projection.non_key_attributes, std::vector<std::string>());
  EXPECT_EQ(index.provisioned, (model::Throughput{1, model::kThroughputNotGiven}));
  EXPECT_EQ(index.on_demand_max, (model::Throughput{3, model::kThroughputNotGiven}));
  EXPECT_EQ(index.warm, (model::Throughput{4, 5}));
  EXPECT_EQ(read->stream->enabled, true);
  EXPECT_EQ(read->stream->view_type, "ALL");
  EXPECT_EQ(read->provisioned, (model::Throughput{6, 7}));
  EXPECT_EQ(read->table_class, "COLD");
  EXPECT_EQ(read->deletion_protection, true);
  EXPECT_EQ(read->sse->enabled, true);
  EXPECT_EQ(read->sse->type, "KMS");
  EXPECT_EQ(read->sse->kms_key, "k");
  EXPECT_EQ(read->tags, (std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"c", ""}}));
}

TEST_F(TableOperations, AnAbsentMemberIsNotAnEmptyOne) {
  EXPECT_EQ(
      Body("CreateTable", Cat("{", kPlain, "}")),
      ErrorBody("ValidationException", "The parameter 'TableName' is required but was not present in the request"));
  const auto body_of = [&](std::string_view more) {
    return Body(
        "CreateTable",
        Cat(R"({"TableName":"Cats","AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)", more, "}"));
  };
  const auto text_of = [&](std::string_view value, std::string_view path, std::string_view rule) {
    return ErrorBody("ValidationException", Cat("1 validation error detected: Value ", value, " at '", path,
                                                "' failed to satisfy constraint: Member must ", rule));
  };
  EXPECT_EQ(body_of(R"("KeySchema":[])"), text_of("'[]'", "keySchema", "have length greater than or equal to 1"));
  EXPECT_EQ(body_of(R"("TableClass":"STANDARD")"), text_of("null", "keySchema", "not be null"));
  constexpr std::string_view kKey = R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],)";
  EXPECT_EQ(body_of(Cat(kKey, R"("ProvisionedThroughput":{"ReadCapacityUnits":1})")),
            text_of("null", "provisionedThroughput.writeCapacityUnits", "not be null"));
  EXPECT_EQ(body_of(Cat(kKey, R"("ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":0})")),
            text_of("'0'", "provisionedThroughput.writeCapacityUnits", "have value greater than or equal to 1"));
  EXPECT_EQ(body_of(Cat(kKey, R"("BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[])")),
            ErrorBody("ValidationException",
                      "One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty"));
}

TEST_F(TableOperations, WrongTypesNameTheirShape) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {R"("KeySchema":{})", "Start of structure or map found where not expected"},
      {R"("KeySchema":"x")", "Unexpected field type"},
      {R"("KeySchema":["x"])", "Unexpected field type"},
      {R"("KeySchema":[[]])", "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement"},
      {R"("KeySchema":[{"KeyType":1}])", "NUMBER_VALUE cannot be converted to String"},
      {R"("ProvisionedThroughput":{"ReadCapacityUnits":"1 "})", "STRING_VALUE cannot be converted to Long"},
      {R"("ProvisionedThroughput":{"ReadCapacityUnits":1.5})", "DECIMAL_VALUE cannot be converted to Long"},
      {R"("DeletionProtectionEnabled":"maybe")", "Unexpected token received from parser"},
      {R"("GlobalSecondaryIndexes":[{"Projection":{"NonKeyAttributes":"x"}}])", "Unexpected field type"},
  };
  for (const auto& [member, text] : kCases) {
    EXPECT_EQ(Body("CreateTable", Cat("{", member, "}")), ErrorBody("SerializationException", text)) << member;
  }
}

TEST_F(TableOperations, DocumentedMembersThatAreNotAvailableAreRefused) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"CreateTable", "GlobalTableSettingsReplicationMode"},
      {"UpdateTable", "DisassociationProtectionEnabled"},
      {"RestoreTableFromBackup", "VectorIndexOverride"},
  };
  for (const auto& [operation, member] : kCases) {
    EXPECT_EQ(Ask(operation, Cat(R"({")", member, R"(":[]})")).body,
              Cat(R"({"__type":"com.amazon.coral.service#UnknownOperationException","message":")", member,
                  R"( is not available in this version"})"))
        << operation;
  }
}

// The description as a part of an answer.
std::string WrittenInside(const v1::TableDescription& description) {
  v1::DescribeTableResponse answer;
  *answer.mutable_table() = description;
  const std::string text = Written(answer);
  const size_t head = std::string_view(R"({"Table":)").size();
  return text.substr(head, text.size() - head - 1);
}

TEST_F(TableOperations, ADescriptionHasEveryMember) {
  engine::TableDescription description;
  model::TableDescriptor& table = description.descriptor;
  table.name = "T";
  table.uuid = "u";
  table.state = model::TableState::kActive;
  table.creation_time_ms = 1'700'000'000'500;
  table.attribute_definitions = {{"n", model::ScalarType::kNumber}, {"p", model::ScalarType::kString}};
  table.key = {{table.attribute_definitions[1]}, {table.attribute_definitions[0]}};
  description.totals = {3, 4};
  model::IndexDescriptor local;
  local.name = "l";
  local.key = table.key;
  local.projection.type = model::ProjectionType::kKeysOnly;
  table.local_indexes = {local};
  description.local_indexes = {{1, 2}};
  model::IndexDescriptor global = local;
  global.name = "g";
  global.projection = {model::ProjectionType::kInclude, {"z", "a"}};
  global.state = model::IndexState::kCreating;
  global.provisioned = model::Throughput{5, 6};
  global.on_demand_max = model::Throughput{7, -1};
  global.warm = model::Throughput{8, 9};
  table.global_indexes = {global};
  description.global_indexes = {{{0, 0}, engine::Backlog{.records = 7, .bytes = 800, .age_ms = 2999}}};
  table.settings.billing_mode = model::BillingMode::kPayPerRequest;
  table.settings.deletion_protection = true;
  table.settings.table_class = "STANDARD";
  table.settings.stream_enabled = true;
  table.settings.stream_view_type = "KEYS_ONLY";
  table.settings.sse_enabled = true;
  table.settings.sse_kms_key = "k";
  table.settings.throughput_changes = {1'700'000'000'001, 1'700'000'000'002, 3};
  table.settings.table_class_changed_ms = 1'700'000'000'003;
  description.time_ms = 1'700'000'000'004;
  const auto printed = [&description] {
    v1::TableDescription message;
    Fill(description, &message);
    return Sorted(WrittenInside(message));
  };
  const std::string head =
      R"({"TableName":"T","TableStatus":"ACTIVE","CreationDateTime":1700000000.500,)"
      R"("TableArn":"arn:aws:dynamodb:local:000000000000:table/T","TableId":"u","ItemCount":3,"TableSizeBytes":4,)"
      R"("ProvisionedThroughput":{"LastIncreaseDateTime":1700000000.001,"LastDecreaseDateTime":1700000000.002,)"
      R"("NumberOfDecreasesToday":3,"ReadCapacityUnits":0,"WriteCapacityUnits":0},)"
      R"("BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1700000000.500},)"
      R"("DeletionProtectionEnabled":true,)"
      R"("WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"},)"
      R"("TableClassSummary":{"TableClass":"STANDARD","LastUpdateDateTime":1700000000.003},)"
      R"("LatestStreamLabel":"2023-11-14T22:13:20.500",)"
      R"("LatestStreamArn":"arn:aws:dynamodb:local:000000000000:table/T/stream/2023-11-14T22:13:20.500",)"
      R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},)"
      R"("SSEDescription":{"Status":"ENABLED","SSEType":"KMS","KMSMasterKeyArn":"k"})";
  const std::string key =
      R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],)";
  EXPECT_EQ(
      printed(),
      Sorted(Cat(head,
                 R"(,"AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"},)"
                 R"({"AttributeName":"p","AttributeType":"S"}],)",
                 key, R"("LocalSecondaryIndexes":[{"IndexName":"l",)", key,
                 R"("Projection":{"ProjectionType":"KEYS_ONLY"},"IndexSizeBytes":2,"ItemCount":1,)"
                 R"("IndexArn":"arn:aws:dynamodb:local:000000000000:table/T/index/l"}],)"
                 R"("GlobalSecondaryIndexes":[{"IndexName":"g",)",
                 key,
                 R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a","z"]},)"
                 R"("IndexSizeBytes":0,"ItemCount":0,"IndexArn":"arn:aws:dynamodb:local:000000000000:table/T/index/g",)"
                 R"("IndexStatus":"CREATING","Backfilling":false,"Backlog":{"Records":7,"Bytes":800,"AgeSeconds":2},)"
                 R"("ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":5,)"
                 R"("WriteCapacityUnits":6},"OnDemandThroughput":{"MaxReadRequestUnits":7},)"
                 R"("WarmThroughput":{"ReadUnitsPerSecond":8,"WriteUnitsPerSecond":9,"Status":"CREATING"}}]})")));
  table.state = model::TableState::kDeleting;
  std::string deleting = head + "}";
  const std::string created = R"("CreationDateTime":1700000000.500,)";
  deleting.erase(deleting.find(created), created.size());
  for (int times = 0; times < 2; ++times) deleting.replace(deleting.find("ACTIVE"), 6, "DELETING");
  EXPECT_EQ(printed(), Sorted(deleting));
}

}  // namespace armature::daemon::table_operations_test
