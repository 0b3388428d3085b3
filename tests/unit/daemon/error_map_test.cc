#include "daemon/grpc/error_map.h"

#include <gtest/gtest.h>

#include "armature/api/v1/errors.pb.h"
#include "storage/base/api_error.h"
#include "tests/unit/codec/codec_test_util.h"

namespace armature::daemon::error_map_test {

api::v1::ErrorDetail DetailOf(const grpc::Status& status) {
  api::v1::RpcStatus rpc;
  EXPECT_TRUE(rpc.ParseFromString(status.error_details()));
  EXPECT_EQ(rpc.code(), static_cast<int>(status.error_code()));
  EXPECT_EQ(rpc.message(), status.error_message());
  EXPECT_EQ(rpc.details_size(), 1);
  api::v1::ErrorDetail detail;
  if (rpc.details_size() == 1) {
    EXPECT_EQ(rpc.details(0).type_url(), "type.googleapis.com/armature.api.v1.ErrorDetail");
    EXPECT_TRUE(rpc.details(0).UnpackTo(&detail));
  }
  // The status carries the beginning of a long text.
  EXPECT_EQ(detail.message().substr(0, 500), status.error_message().substr(0, 500));
  return detail;
}

TEST(ErrorMap, EachExceptionHasItsCodeNameAndText) {
  struct ErrorCase {
    absl::Status error;
    grpc::StatusCode code;
    std::string_view exception;
    std::string_view message;
  };
  const ErrorCase cases[] = {
      {ValidationError("m"), grpc::INVALID_ARGUMENT, "ValidationException", "m"},
      {InvalidParameterError("d"), grpc::INVALID_ARGUMENT, "ValidationException",
       "One or more parameter values were invalid: d"},
      {SerializationError("m"), grpc::INVALID_ARGUMENT, "SerializationException", "m"},
      {ConditionalCheckFailedError(""), grpc::FAILED_PRECONDITION, "ConditionalCheckFailedException",
       "The conditional request failed"},
      {ResourceNotFoundError("m"), grpc::NOT_FOUND, "ResourceNotFoundException", "m"},
      {ResourceInUseError("m"), grpc::FAILED_PRECONDITION, "ResourceInUseException", "m"},
      {LimitExceededError("m"), grpc::RESOURCE_EXHAUSTED, "LimitExceededException", "m"},
      {ThrottlingError("m", 40), grpc::RESOURCE_EXHAUSTED, "ThrottlingException", "m"},
      {ItemCollectionSizeLimitExceededError(), grpc::RESOURCE_EXHAUSTED, "ItemCollectionSizeLimitExceededException",
       "Collection size exceeded."},
      {UnknownOperationError("m"), grpc::UNIMPLEMENTED, "UnknownOperationException", "m"},
      {TableNotFoundError("m"), grpc::NOT_FOUND, "TableNotFoundException", "m"},
      {BackupNotFoundError("m"), grpc::NOT_FOUND, "BackupNotFoundException", "m"},
      {BackupInUseError("m"), grpc::FAILED_PRECONDITION, "BackupInUseException", "m"},
      {TableAlreadyExistsError("m"), grpc::ALREADY_EXISTS, "TableAlreadyExistsException", "m"},
      {ServiceUnavailableError("m"), grpc::UNAVAILABLE, "ServiceUnavailable", "m"},
      {DeadlineExceededError("m"), grpc::DEADLINE_EXCEEDED, "DeadlineExceeded", "m"},
      {CancelledError("m"), grpc::CANCELLED, "Cancelled", "m"},
      {MissingAuthenticationTokenError(), grpc::UNAUTHENTICATED, "MissingAuthenticationTokenException",
       "Request is missing Authentication Token"},
      {IncompleteSignatureError("m"), grpc::UNAUTHENTICATED, "IncompleteSignatureException", "m"},
      {InvalidSignatureError("m"), grpc::UNAUTHENTICATED, "InvalidSignatureException", "m"},
      {UnrecognizedClientError(), grpc::UNAUTHENTICATED, "UnrecognizedClientException",
       "The security token included in the request is invalid."},
      {AccessDeniedError("AK", "dynamodb:GetItem", "*"), grpc::PERMISSION_DENIED, "AccessDeniedException",
       "User: AK is not authorized to perform: dynamodb:GetItem on resource: *"},
  };
  for (const ErrorCase& c : cases) {
    const grpc::Status status = ToGrpcStatus(c.error);
    EXPECT_EQ(status.error_code(), c.code) << c.exception;
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
    const grpc::Status status = ToGrpcStatus(error);
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
    const api::v1::ErrorDetail detail = DetailOf(status);
    ASSERT_EQ(detail.throttling_reasons_size(), 1);
    EXPECT_EQ(detail.throttling_reasons(0).reason(), "why");
    EXPECT_EQ(detail.throttling_reasons(0).resource(), "arn");
    EXPECT_EQ(detail.retry_after_ms(), 30);
  }
}

TEST(ErrorMap, AFailedConditionCarriesTheItem) {
  const std::string item = codec::Item({{"pk", codec::S("a")}});
  const api::v1::ErrorDetail detail = DetailOf(ToGrpcStatus(ConditionalCheckFailedError(item)));
  ASSERT_TRUE(detail.has_item());
  EXPECT_EQ(detail.item().attributes().at("pk").s(), "a");
}

TEST(ErrorMap, AnErrorFitsTheTrailersOfAnyClient) {
  const grpc::Status large =
      ToGrpcStatus(ConditionalCheckFailedError(codec::Item({{"pk", codec::S(std::string(9000, 'x'))}})));
  EXPECT_FALSE(DetailOf(large).has_item());
  EXPECT_TRUE(DetailOf(large).item_omitted());
  const grpc::Status small =
      ToGrpcStatus(ConditionalCheckFailedError(codec::Item({{"pk", codec::S(std::string(3000, 'x'))}})));
  EXPECT_TRUE(DetailOf(small).has_item());
  EXPECT_FALSE(DetailOf(small).item_omitted());

  std::string umlauts = "x";
  for (int i = 0; i < 5000; ++i) umlauts += "\u00e4";
  const grpc::Status long_text = ToGrpcStatus(ValidationError(umlauts));
  EXPECT_EQ(long_text.error_message().size(), 512u);
  EXPECT_EQ(long_text.error_message().substr(507), "\u00e4...");
  EXPECT_EQ(DetailOf(long_text).message().size(), 2048u);
  for (const grpc::Status& status : {large, small, long_text}) {
    EXPECT_LE(status.error_details().size(), 4096u + 64);
  }
}

TEST(ErrorMap, TransactionErrorsHaveTheirCodesAndNames) {
  const grpc::Status in_progress = ToGrpcStatus(TransactionInProgressError());
  EXPECT_EQ(DetailOf(in_progress).exception(), "TransactionInProgressException");
  const grpc::Status mismatch = ToGrpcStatus(IdempotentParameterMismatchError());
  EXPECT_EQ(DetailOf(mismatch).exception(), "IdempotentParameterMismatchException");
  EXPECT_EQ(mismatch.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const grpc::Status conflict = ToGrpcStatus(TransactionConflictError());
  EXPECT_EQ(DetailOf(conflict).exception(), "TransactionConflictException");
  EXPECT_EQ(conflict.error_code(), grpc::StatusCode::ABORTED);
}

// The maximum number of reasons with the longest code, each with a text and an item: all codes are sent, items get the
// remaining space first, and omissions are marked.
TEST(ErrorMap, ReasonsOfACancelledTransactionFitTheTrailers) {
  std::vector<CancellationReason> reasons;
  const std::string item = codec::Item({{"pk", codec::S("a")}});
  for (int i = 0; i < 100; ++i) {
    reasons.push_back({"ProvisionedThroughputExceeded", "The conditional request failed", item});
  }
  const grpc::Status full = ToGrpcStatus(TransactionCanceledError(reasons));
  EXPECT_EQ(full.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_LE(full.error_details().size() + full.error_message().size(), 8192u);
  api::v1::ErrorDetail detail = DetailOf(full);
  ASSERT_EQ(detail.cancellation_reasons_size(), 100);
  for (const api::v1::CancellationReason& each : detail.cancellation_reasons()) {
    EXPECT_EQ(each.code(), "ProvisionedThroughputExceeded");
    EXPECT_NE(each.has_item(), each.item_omitted());
  }

  // Sixty short items leave no room for sixty texts.
  for (CancellationReason& each : reasons) each = {"ConditionalCheckFailed", "The conditional request failed", item};
  reasons.resize(60);
  const grpc::Status some = ToGrpcStatus(TransactionCanceledError(reasons));
  detail = DetailOf(some);
  EXPECT_LE(some.error_details().size(), 4096u + 64);
  for (const api::v1::CancellationReason& each : detail.cancellation_reasons()) {
    EXPECT_TRUE(each.has_item());
    EXPECT_EQ(each.item().attributes().at("pk").s(), "a");
  }
  EXPECT_EQ(detail.cancellation_reasons(59).message(), "");
}

TEST(ErrorMap, InternalErrorsHideTheirTextBehindARequestId) {
  struct InternalCase {
    absl::Status error;
    grpc::StatusCode code;
    std::string_view exception;
  };
  const InternalCase cases[] = {
      {absl::DataLossError("secret"), grpc::INTERNAL, "InternalServerError"},
      {absl::InternalError("secret"), grpc::INTERNAL, "InternalServerError"},
      {absl::UnavailableError("secret"), grpc::UNAVAILABLE, "ServiceUnavailable"},
      {absl::ResourceExhaustedError("secret"), grpc::UNAVAILABLE, "ServiceUnavailable"},
  };
  for (const InternalCase& c : cases) {
    const grpc::Status status = ToGrpcStatus(c.error);
    EXPECT_EQ(status.error_code(), c.code);
    const api::v1::ErrorDetail detail = DetailOf(status);
    EXPECT_EQ(detail.exception(), c.exception);
    EXPECT_EQ(detail.request_id().size(), 36u);
    EXPECT_NE(detail.message().find(detail.request_id()), std::string::npos);
    EXPECT_EQ(status.error_details().find("secret"), std::string::npos);
  }
}

TEST(ErrorMap, OkStaysOk) { EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok()); }

}  // namespace armature::daemon::error_map_test
