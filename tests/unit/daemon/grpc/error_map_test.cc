#include "daemon/grpc/error_map.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/api/v1/errors.pb.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::daemon::error_map_test {

using ::testing::ElementsAre;
using ::testing::Pair;

// A detail of the type, as stock helpers unpack it.
template <class Detail>
std::optional<Detail> StandardDetail(const RpcStatus& status) {
  api::v1::RpcStatus rpc;
  EXPECT_TRUE(rpc.ParseFromString(status.details));
  for (const google::protobuf::Any& any : rpc.details()) {
    if (Detail detail; any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

// The advised pause in milliseconds; 0: none.
int64_t RetryMs(const absl::Status& error) {
  const auto info = StandardDetail<google::rpc::RetryInfo>(ToRpcStatus(error));
  if (!info.has_value()) return 0;
  return info->retry_delay().seconds() * 1000 + info->retry_delay().nanos() / 1'000'000;
}

api::v1::ErrorDetail DetailOf(const RpcStatus& status) {
  api::v1::RpcStatus rpc;
  EXPECT_TRUE(rpc.ParseFromString(status.details));
  EXPECT_EQ(rpc.code(), static_cast<int>(status.code));
  EXPECT_EQ(rpc.message(), status.message);
  EXPECT_GE(rpc.details_size(), 2);
  api::v1::ErrorDetail detail;
  if (rpc.details_size() > 0) {
    EXPECT_EQ(rpc.details(0).type_url(), "type.googleapis.com/armature.api.v1.ErrorDetail");
    EXPECT_TRUE(rpc.details(0).UnpackTo(&detail));
  }
  // As any program reads it.
  EXPECT_EQ(StandardDetail<google::rpc::ErrorInfo>(status).value_or(google::rpc::ErrorInfo()).reason(),
            detail.exception());
  EXPECT_THAT(status.trailers, ElementsAre(Pair("x-armature-exception", detail.exception())));
  // The status carries the beginning of a long text.
  EXPECT_EQ(detail.message().substr(0, 500), status.message.substr(0, 500));
  return detail;
}

TEST(ErrorMap, EachExceptionHasItsCodeNameAndText) {
  struct ErrorCase {
    absl::Status error;
    RpcCode code;
    std::string_view exception;
    std::string_view message;
  };
  const ErrorCase cases[] = {
      {ValidationError("m"), RpcCode::kInvalidArgument, "ValidationException", "m"},
      {InvalidParameterError("d"), RpcCode::kInvalidArgument, "ValidationException",
       "One or more parameter values were invalid: d"},
      {SerializationError("m"), RpcCode::kInvalidArgument, "SerializationException", "m"},
      {ConditionalCheckFailedError(""), RpcCode::kFailedPrecondition, "ConditionalCheckFailedException",
       "The conditional request failed"},
      {ResourceNotFoundError("m"), RpcCode::kNotFound, "ResourceNotFoundException", "m"},
      {ResourceInUseError("m"), RpcCode::kFailedPrecondition, "ResourceInUseException", "m"},
      {LimitExceededError("m"), RpcCode::kResourceExhausted, "LimitExceededException", "m"},
      {ThrottlingError("m", 40), RpcCode::kResourceExhausted, "ThrottlingException", "m"},
      {ItemCollectionSizeLimitExceededError(), RpcCode::kResourceExhausted, "ItemCollectionSizeLimitExceededException",
       "Collection size exceeded."},
      {UnknownOperationError("m"), RpcCode::kUnimplemented, "UnknownOperationException", "m"},
      {TableNotFoundError("m"), RpcCode::kNotFound, "TableNotFoundException", "m"},
      {BackupNotFoundError("m"), RpcCode::kNotFound, "BackupNotFoundException", "m"},
      {BackupInUseError("m"), RpcCode::kFailedPrecondition, "BackupInUseException", "m"},
      {TableAlreadyExistsError("m"), RpcCode::kAlreadyExists, "TableAlreadyExistsException", "m"},
      {ServiceUnavailableError("m"), RpcCode::kUnavailable, "ServiceUnavailable", "m"},
      {DeadlineExceededError("m"), RpcCode::kDeadlineExceeded, "DeadlineExceeded", "m"},
      {CancelledError("m"), RpcCode::kCancelled, "Cancelled", "m"},
      {MissingAuthenticationTokenError(), RpcCode::kUnauthenticated, "MissingAuthenticationTokenException",
       "Request is missing Authentication Token"},
      {IncompleteSignatureError("m"), RpcCode::kUnauthenticated, "IncompleteSignatureException", "m"},
      {InvalidSignatureError("m"), RpcCode::kUnauthenticated, "InvalidSignatureException", "m"},
      {UnrecognizedClientError(), RpcCode::kUnauthenticated, "UnrecognizedClientException",
       "The security token included in the request is invalid."},
      {AccessDeniedError("AK", "dynamodb:GetItem", "*"), RpcCode::kPermissionDenied, "AccessDeniedException",
       "User: AK is not authorized to perform: dynamodb:GetItem on resource: *"},
  };
  for (const ErrorCase& c : cases) {
    const RpcStatus status = ToRpcStatus(c.error);
    EXPECT_EQ(status.code, c.code) << c.exception;
    const api::v1::ErrorDetail detail = DetailOf(status);
    EXPECT_EQ(detail.exception(), c.exception);
    EXPECT_EQ(detail.message(), c.message);
    EXPECT_EQ(detail.retry_after_ms(), c.exception == "ThrottlingException" ? 40 : 0);
    EXPECT_FALSE(detail.has_item());
  }
}

TEST(ErrorMap, ThrottlingCarriesItsReasons) {
  for (const absl::Status& error : {ProvisionedThroughputExceededError("m", {"why", "arn"}, 30),
                                    WithThrottlingReason(ThrottlingError("m", 30), {"why", "arn"})}) {
    const RpcStatus status = ToRpcStatus(error);
    EXPECT_EQ(status.code, RpcCode::kResourceExhausted);
    const api::v1::ErrorDetail detail = DetailOf(status);
    ASSERT_EQ(detail.throttling_reasons_size(), 1);
    EXPECT_EQ(detail.throttling_reasons(0).reason(), "why");
    EXPECT_EQ(detail.throttling_reasons(0).resource(), "arn");
    EXPECT_EQ(detail.retry_after_ms(), 30);
  }
}

TEST(ErrorMap, AFailedConditionCarriesTheItem) {
  const std::string item = codec::Item({{"pk", codec::S("a")}});
  const api::v1::ErrorDetail detail = DetailOf(ToRpcStatus(ConditionalCheckFailedError(item)));
  ASSERT_TRUE(detail.has_item());
  EXPECT_EQ(detail.item().attributes().at("pk").s(), "a");
}

// Size of the trailers on the wire: base64 for the details, percent-encoding for the text, and 32 bytes for each of
// five entries, as HTTP/2 counts.
size_t TrailerBytes(const RpcStatus& status) {
  size_t text = 0;
  for (const char c : status.message) text += c >= ' ' && c <= '~' && c != '%' ? 1 : 3;
  constexpr size_t kEntries = 5 * 32;
  constexpr std::string_view kNames =
      "grpc-statusgrpc-messagegrpc-status-details-binx-armature-exceptionx-armature-request-id";
  constexpr size_t kIdAndException = 36 + 48;
  return (status.details.size() + 2) / 3 * 4 + text + kEntries + kNames.size() + kIdAndException;
}

TEST(ErrorMap, AnErrorFitsTheTrailersOfAnyClient) {
  const RpcStatus large =
      ToRpcStatus(ConditionalCheckFailedError(codec::Item({{"pk", codec::S(std::string(9000, 'x'))}})));
  EXPECT_FALSE(DetailOf(large).has_item());
  EXPECT_TRUE(DetailOf(large).item_omitted());
  const RpcStatus small =
      ToRpcStatus(ConditionalCheckFailedError(codec::Item({{"pk", codec::S(std::string(3000, 'x'))}})));
  EXPECT_TRUE(DetailOf(small).has_item());
  EXPECT_FALSE(DetailOf(small).item_omitted());

  std::string umlauts = "x";
  for (int i = 0; i < 5000; ++i) umlauts += "\u00e4";
  const RpcStatus long_text = ToRpcStatus(ValidationError(umlauts));
  EXPECT_EQ(long_text.message.size(), 512u);
  EXPECT_EQ(long_text.message.substr(507), "\u00e4...");
  EXPECT_EQ(DetailOf(long_text).message().size(), 2048u);
  for (const RpcStatus& status : {large, small, long_text}) EXPECT_LE(TrailerBytes(status), 8192u);
}

TEST(ErrorMap, TransactionErrorsHaveTheirCodesAndNames) {
  const RpcStatus in_progress = ToRpcStatus(TransactionInProgressError());
  EXPECT_EQ(DetailOf(in_progress).exception(), "TransactionInProgressException");
  const RpcStatus mismatch = ToRpcStatus(IdempotentParameterMismatchError());
  EXPECT_EQ(DetailOf(mismatch).exception(), "IdempotentParameterMismatchException");
  EXPECT_EQ(mismatch.code, RpcCode::kInvalidArgument);
  const RpcStatus conflict = ToRpcStatus(TransactionConflictError());
  EXPECT_EQ(DetailOf(conflict).exception(), "TransactionConflictException");
  EXPECT_EQ(conflict.code, RpcCode::kAborted);
}

// The maximum number of reasons with the longest code, each with a text and an item: all codes are sent, items get the
// remaining space first, and omissions are marked.
TEST(ErrorMap, ReasonsOfACancelledTransactionFitTheTrailers) {
  std::vector<CancellationReason> reasons;
  const std::string item = codec::Item({{"pk", codec::S("a")}});
  for (int i = 0; i < 100; ++i) {
    reasons.push_back({"ProvisionedThroughputExceeded", "The conditional request failed", item});
  }
  const RpcStatus full = ToRpcStatus(TransactionCanceledError(reasons));
  EXPECT_EQ(full.code, RpcCode::kAborted);
  EXPECT_LE(TrailerBytes(full), 8192u);
  api::v1::ErrorDetail detail = DetailOf(full);
  ASSERT_EQ(detail.cancellation_reasons_size(), 100);
  for (const api::v1::CancellationReason& each : detail.cancellation_reasons()) {
    EXPECT_EQ(each.code(), "ProvisionedThroughputExceeded");
    EXPECT_NE(each.has_item(), each.item_omitted());
  }

  // Sixty short items leave no room for sixty texts.
  for (CancellationReason& each : reasons) each = {"ConditionalCheckFailed", "The conditional request failed", item};
  reasons.resize(60);
  const RpcStatus some = ToRpcStatus(TransactionCanceledError(reasons));
  detail = DetailOf(some);
  EXPECT_LE(TrailerBytes(some), 8192u);
  for (const api::v1::CancellationReason& each : detail.cancellation_reasons()) {
    EXPECT_TRUE(each.has_item());
    EXPECT_EQ(each.item().attributes().at("pk").s(), "a");
  }
  EXPECT_EQ(detail.cancellation_reasons(59).message(), "");
}

TEST(ErrorMap, InternalErrorsHideTheirTextBehindARequestId) {
  struct InternalCase {
    absl::Status error;
    RpcCode code;
    std::string_view exception;
  };
  const InternalCase cases[] = {
      {absl::DataLossError("secret"), RpcCode::kInternal, "InternalServerError"},
      {absl::InternalError("secret"), RpcCode::kInternal, "InternalServerError"},
      {absl::UnavailableError("secret"), RpcCode::kUnavailable, "ServiceUnavailable"},
      {absl::ResourceExhaustedError("secret"), RpcCode::kUnavailable, "ServiceUnavailable"},
  };
  for (const InternalCase& c : cases) {
    const RpcStatus status = ToRpcStatus(c.error);
    EXPECT_EQ(status.code, c.code);
    const api::v1::ErrorDetail detail = DetailOf(status);
    EXPECT_EQ(detail.exception(), c.exception);
    EXPECT_EQ(detail.request_id().size(), 36u);
    EXPECT_NE(detail.message().find(detail.request_id()), std::string::npos);
    EXPECT_EQ(status.details.find("secret"), std::string::npos);
  }
}

TEST(ErrorMap, ErrorsAreOfOneDomain) {
  const auto info = StandardDetail<google::rpc::ErrorInfo>(ToRpcStatus(ResourceNotFoundError("m")));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->reason(), "ResourceNotFoundException");
  EXPECT_EQ(info->domain(), "armaturedb.github.io");
}

TEST(ErrorMap, ARepeatThatMakesSenseHasAPause) {
  EXPECT_EQ(RetryMs(ThrottlingError("m", 2'345)), 2'345);
  EXPECT_EQ(RetryMs(ThrottlingError("m", 0)), 100);
  EXPECT_EQ(RetryMs(ProvisionedThroughputExceededError("m", {"why", "arn"}, 30)), 30);
  EXPECT_EQ(RetryMs(ServiceUnavailableError("m")), 100);
  EXPECT_EQ(RetryMs(absl::UnavailableError("internal")), 100);
  EXPECT_EQ(RetryMs(TransactionConflictError()), 25);
  EXPECT_EQ(RetryMs(TransactionInProgressError()), 25);
  EXPECT_EQ(RetryMs(TransactionCanceledError({{"None", "", ""}, {"TransactionConflict", "m", ""}})), 25);
  for (const absl::Status& error :
       {ValidationError("m"), ResourceNotFoundError("m"), ConditionalCheckFailedError(""), LimitExceededError("m"),
        absl::InternalError("internal"), DeadlineExceededError("m"), UnknownOperationError("m"),
        TransactionCanceledError({{"ConditionalCheckFailed", "m", ""}, {"TransactionConflict", "m", ""}})}) {
    EXPECT_EQ(RetryMs(error), 0) << error;
  }
}

TEST(ErrorMap, AnInvalidRequestNamesItsFields) {
  struct BadCase {
    std::string_view text;
    std::vector<std::pair<std::string_view, std::string_view>> violations;
  };
  const BadCase cases[] = {
      {"The provided key element does not match the schema",
       {{"", "The provided key element does not match the schema"}}},
      {"1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
       {{"table_name", "Member must not be null"}}},
      {"2 validation errors detected: Value '' at 'SSESpecification.SSEType' failed to satisfy constraint: Member must "
       "satisfy enum value set: [AES256, KMS]; Value '0' at 'limit' failed to satisfy constraint: Member must have "
       "value "
       "greater than or equal to 1",
       {{"sse_specification.sse_type", "Member must satisfy enum value set: [AES256, KMS]"},
        {"limit", "Member must have value greater than or equal to 1"}}},
      {"1 validation error detected: Value null at 'transactItems.2.member.update.updateExpression' failed to satisfy "
       "constraint: Member must not be null",
       {{"transact_items[2].update.update_expression", "Member must not be null"}}},
      {"1 validation error detected: Value '[]' at 'requestItems.a.b.member.keys' failed to satisfy constraint: m",
       {{"request_items[\"a.b\"].keys", "m"}}},
      {"1 validation error detected: Value '[]' at 'tags.2.member' failed to satisfy constraint: m",
       {{"tags[2]", "m"}}},
      {"1 validation error detected: Invalid UpdateExpression: Syntax error; token: \"x\"",
       {{"update_expression", "Invalid UpdateExpression: Syntax error; token: \"x\""}}},
      {"Invalid KeyConditionExpression: m", {{"key_condition_expression", "Invalid KeyConditionExpression: m"}}},
      {"Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}",
       {{"expression_attribute_names",
         "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"}}},
      {"' failed to satisfy constraint: ", {{"", "' failed to satisfy constraint: "}}},
  };
  for (const BadCase& c : cases) {
    for (const absl::Status& error : {ValidationError(c.text), SerializationError(c.text)}) {
      const auto bad = StandardDetail<google::rpc::BadRequest>(ToRpcStatus(error));
      ASSERT_TRUE(bad.has_value());
      std::vector<std::pair<std::string_view, std::string_view>> violations;
      for (const auto& each : bad->field_violations()) violations.emplace_back(each.field(), each.description());
      EXPECT_EQ(violations, c.violations) << c.text;
    }
    EXPECT_FALSE(StandardDetail<google::rpc::BadRequest>(ToRpcStatus(ResourceNotFoundError(c.text))).has_value());
  }
}

TEST(ErrorMap, ManyLongViolationsAreCut) {
  std::string text = "10 validation errors detected: ";
  for (int i = 0; i < 10; ++i) {
    text +=
        Cat("Value 'x' at '", std::string(300, 'a'), "' failed to satisfy constraint: ", std::string(500, 'b'), "; ");
  }
  const RpcStatus status = ToRpcStatus(ValidationError(text));
  const auto bad = StandardDetail<google::rpc::BadRequest>(status);
  ASSERT_TRUE(bad.has_value());
  EXPECT_LE(TrailerBytes(status), 8192u);
  EXPECT_GE(bad->field_violations_size(), 1);
}

// A document of the original protocol that was loaded into a message loses its types.
TEST(ErrorMap, AValueWithoutATypeIsAnsweredWithAHint) {
  const std::string text = Cat("1 validation error detected: ", codec::kEmptyValueText);
  const RpcStatus status = ToRpcStatus(ValidationError(text));
  EXPECT_TRUE(status.message.starts_with(text)) << status.message;
  EXPECT_NE(status.message.find("in lower case"), std::string::npos) << status.message;
  EXPECT_EQ(ToRpcStatus(ValidationError("other")).message, "other");
}

TEST(ErrorMap, OkStaysOk) {
  EXPECT_TRUE(ToRpcStatus(absl::OkStatus()).ok());
  EXPECT_THAT(ToRpcStatus(absl::OkStatus()).trailers, ElementsAre());
}

TEST(ErrorMap, TheIdOfACallIsATrailer) {
  EXPECT_THAT(WithRequestId("id", RpcStatus()).trailers, ElementsAre(Pair("x-armature-request-id", "id")));
  EXPECT_THAT(WithRequestId("", RpcStatus()).trailers, ElementsAre());
}

}  // namespace armature::daemon::error_map_test
