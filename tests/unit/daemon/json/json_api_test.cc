#include "daemon/json/json_api.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "armature/version.h"
#include "daemon/json/error_json.h"
#include "daemon/message_json/json_reader.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "tests/unit/daemon/json/json_api_test_util.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::daemon::json_api_test {

TEST(JsonApi, KnowsWhatItServes) {
  const JsonApi api(nullptr);
  std::string_view operation;
  EXPECT_TRUE(api.Knows("DynamoDB_20120810.DescribeTable", &operation));
  EXPECT_EQ(operation, "DescribeTable");
  for (const std::string_view target : {"", "DescribeTable", "DynamoDB_20120810", "DynamoDB_20120810.",
                                        "DynamoDB_20120810.describeTable", "DynamoDB_20120810.DescribeTable ",
                                        "DynamoDB_20120810..DescribeTable", "DynamoDBStreams_20120810.DescribeTable",
                                        "dynamodb_20120810.DescribeTable", "DynamoDB_20111205.DescribeTable"}) {
    EXPECT_FALSE(api.Knows(target, &operation)) << target;
  }
  // Each operation belongs to one of the two services, and those of gRPC alone to none.
  EXPECT_TRUE(api.Knows("DynamoDBStreams_20120810.GetRecords", &operation));
  EXPECT_EQ(operation, "GetRecords");
  for (const std::string_view name : {"Pipeline", "Watch", "admin:Echo", "Echo", "DoMagic"}) {
    EXPECT_FALSE(api.Knows(Cat("DynamoDB_20120810.", name), &operation)) << name;
    EXPECT_FALSE(api.Knows(Cat("DynamoDBStreams_20120810.", name), &operation)) << name;
  }
  EXPECT_FALSE(api.Knows("DynamoDB_20120810.GetRecords", &operation));
  EXPECT_FALSE(api.Knows("DynamoDBStreams_20120810.GetItem", &operation));
}

TEST(ErrorAnswer, EachExceptionHasItsNamespaceAndMember) {
  struct ErrorCase {
    absl::Status error;
    unsigned status;
    std::string_view body;
  };
  const ErrorCase cases[] = {
      {ValidationError("a \"b\"\n"), 400,
       R"({"__type":"com.amazon.coral.validate#ValidationException","message":"a \"b\"\n"})"},
      {SerializationError("m"), 400, R"({"__type":"com.amazon.coral.service#SerializationException","Message":"m"})"},
      {SerializationError(kNoDocumentText), 400, R"({"__type":"com.amazon.coral.service#SerializationException"})"},
      {ResourceNotFoundError("m"), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"m"})"},
      {ThrottlingError("m", 5), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"m"})"},
      {ProvisionedThroughputExceededError("m", {"why", "arn"}, 5), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"m",)"
       R"("ThrottlingReasons":[{"reason":"why","resource":"arn"}]})"},
      {WithThrottlingReason(ThrottlingError("m", 5), {"why", "arn"}), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"m",)"
       R"("throttlingReasons":[{"reason":"why","resource":"arn"}]})"},
      {BackupNotFoundError("m"), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#BackupNotFoundException","message":"m"})"},
      {BackupInUseError("m"), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#BackupInUseException","message":"m"})"},
      {TableAlreadyExistsError("m"), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#TableAlreadyExistsException","message":"m"})"},
      {UnknownOperationError("m"), 400,
       R"({"__type":"com.amazon.coral.service#UnknownOperationException","message":"m"})"},
      {AccessDeniedError("u", "a", "r"), 400,
       R"({"__type":"com.amazon.coral.service#AccessDeniedException",)"
       R"("Message":"User: u is not authorized to perform: a on resource: r"})"},
      {InvalidSignatureError("m"), 400,
       R"({"__type":"com.amazon.coral.service#InvalidSignatureException","message":"m"})"},
      {ServiceUnavailableError("m"), 503,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable","message":"m"})"},
      {ConditionalCheckFailedError(codec::Item({{"p", codec::S("a\"")}})), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
       R"("Message":"The conditional request failed","Item":{"p":{"S":"a\""}}})"},
      {ConditionalCheckFailedError(""), 400,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
       R"("message":"The conditional request failed"})"},
      {absl::InternalError("secret"), 500,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"})"},
      {absl::DataLossError("secret"), 500,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"})"},
      {absl::UnavailableError("secret"), 503,
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable",)"
       R"("message":"The server cannot carry out the request now"})"},
  };
  for (const ErrorCase& c : cases) {
    const JsonAnswer answer = ErrorAnswer(c.error, "ID");
    EXPECT_EQ(answer.status, c.status) << c.error;
    EXPECT_EQ(answer.body, c.body);
  }
}

// Permits one operation on one table.
class OneTableAccess final : public Access {
 public:
  const std::string& principal() const override { return principal_; }
  absl::Status Check(const access::Request& request) const override {
    if (request.operation == "DescribeTable" && request.table == "Cats") return absl::OkStatus();
    return ResourceInUseError(Cat(request.operation, " on '", request.table, "' is not allowed"));
  }

 private:
  const std::string principal_ = "someone";
};

using JsonApiTest = JsonTest;

TEST_F(JsonApiTest, AsksWhatTheCallerMay) {
  const auto access = std::make_shared<OneTableAccess>();
  const auto ask = [&](std::string_view operation, std::string body) {
    return Ask(operation, std::move(body), access).body;
  };
  EXPECT_NE(ask("DescribeTable", R"({"TableName":"Cats"})").find("not found"), std::string::npos)
      << "it was carried out";
  EXPECT_NE(ask("DescribeTable", R"({"TableName":"Dogs"})").find("DescribeTable on 'Dogs' is not"), std::string::npos);
  EXPECT_NE(ask("ListTables", "{}").find("ListTables on '' is not"), std::string::npos);
  EXPECT_NE(ask("CreateTable", R"({"TableName":"Cats"})").find("CreateTable on 'Cats' is not"), std::string::npos);
  EXPECT_NE(ask("DeleteTable", R"({"TableName":1})").find("SerializationException"), std::string::npos)
      << "the document is read first";
}

TEST_F(JsonApiTest, AnOperationThatItDoesNotHaveIsNotSupported) {
  EXPECT_EQ(Body("DoMagic", "{}"),
            Cat(R"(400 {"__type":"com.amazon.coral.service#UnknownOperationException",)",
                R"("message":"The target DoMagic is not supported by Armature )", kVersion, "\"}"));
  EXPECT_EQ(NoSuchOperationError("DynamoDB_20120810.DoMagic").message(),
            Cat("DoMagic is not supported by Armature ", kVersion));
  EXPECT_EQ(NoSuchOperationError("DynamoDBStreams_20120810.GetItem").message(),
            Cat("DynamoDBStreams_20120810.GetItem is not supported by Armature ", kVersion))
      << "an operation of the other service";
}

}  // namespace armature::daemon::json_api_test
