#include "storage/base/api_error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/base/status_macros.h"

namespace armature::api_error_test {

// A text may quote a request of 16 MB.
TEST(ApiError, LongTextsAreCutBetweenCharacters) {
  const auto text_of = [](std::string_view text) { return std::string(ValidationError(text).message()); };
  EXPECT_EQ(text_of(std::string(16384, 'x')), std::string(16384, 'x'));
  EXPECT_EQ(text_of(std::string(8 << 20, 'x')), std::string(16384, 'x') + "...");
  std::string umlauts = "x";
  while (umlauts.size() < 20000) umlauts += "\u00e4";
  EXPECT_EQ(text_of(umlauts), umlauts.substr(0, 16383) + "...");
}

TEST(ApiError, FactoriesSetTypeCodeAndText) {
  const struct {
    absl::Status status;
    ApiErrorType type;
    absl::StatusCode code;
    std::string message;
  } kCases[] = {
      {ValidationError("m"), ApiErrorType::kValidation, absl::StatusCode::kInvalidArgument, "m"},
      {InvalidParameterError("d"), ApiErrorType::kValidation, absl::StatusCode::kInvalidArgument,
       "One or more parameter values were invalid: d"},
      {SerializationError("m"), ApiErrorType::kSerialization, absl::StatusCode::kInvalidArgument, "m"},
      {ConditionalCheckFailedError(""), ApiErrorType::kConditionalCheckFailed, absl::StatusCode::kFailedPrecondition,
       "The conditional request failed"},
      {ResourceNotFoundError("m"), ApiErrorType::kResourceNotFound, absl::StatusCode::kNotFound, "m"},
      {ResourceInUseError("m"), ApiErrorType::kResourceInUse, absl::StatusCode::kFailedPrecondition, "m"},
      {LimitExceededError("m"), ApiErrorType::kLimitExceeded, absl::StatusCode::kResourceExhausted, "m"},
      {ThrottlingError("m", 5), ApiErrorType::kThrottling, absl::StatusCode::kResourceExhausted, "m"},
      {ItemCollectionSizeLimitExceededError(), ApiErrorType::kItemCollectionSizeLimitExceeded,
       absl::StatusCode::kResourceExhausted, "Collection size exceeded."},
      {UnknownOperationError("m"), ApiErrorType::kUnknownOperation, absl::StatusCode::kUnimplemented, "m"},
      {TableNotFoundError("m"), ApiErrorType::kTableNotFound, absl::StatusCode::kNotFound, "m"},
      {BackupNotFoundError("m"), ApiErrorType::kBackupNotFound, absl::StatusCode::kNotFound, "m"},
      {BackupInUseError("m"), ApiErrorType::kBackupInUse, absl::StatusCode::kFailedPrecondition, "m"},
      {TableAlreadyExistsError("m"), ApiErrorType::kTableAlreadyExists, absl::StatusCode::kAlreadyExists, "m"},
      {ExportNotFoundError("m"), ApiErrorType::kExportNotFound, absl::StatusCode::kNotFound, "m"},
      {ExportConflictError("m"), ApiErrorType::kExportConflict, absl::StatusCode::kFailedPrecondition, "m"},
      {InvalidExportTimeError("m"), ApiErrorType::kInvalidExportTime, absl::StatusCode::kInvalidArgument, "m"},
      {PointInTimeRecoveryUnavailableError("m"), ApiErrorType::kPointInTimeRecoveryUnavailable,
       absl::StatusCode::kFailedPrecondition, "m"},
      {InvalidRestoreTimeError("m"), ApiErrorType::kInvalidRestoreTime, absl::StatusCode::kInvalidArgument, "m"},
      {TableInUseError("m"), ApiErrorType::kTableInUse, absl::StatusCode::kFailedPrecondition, "m"},
      {ImportNotFoundError("m"), ApiErrorType::kImportNotFound, absl::StatusCode::kNotFound, "m"},
      {ImportConflictError("m"), ApiErrorType::kImportConflict, absl::StatusCode::kFailedPrecondition, "m"},
      {DamagedError("m"), ApiErrorType::kDataLoss, absl::StatusCode::kDataLoss, "m"},
      {ServiceUnavailableError("m"), ApiErrorType::kServiceUnavailable, absl::StatusCode::kUnavailable, "m"},
      {DeadlineExceededError("m"), ApiErrorType::kDeadlineExceeded, absl::StatusCode::kDeadlineExceeded, "m"},
      {CancelledError("m"), ApiErrorType::kCancelled, absl::StatusCode::kCancelled, "m"},
      {MissingAuthenticationTokenError(), ApiErrorType::kMissingAuthenticationToken, absl::StatusCode::kUnauthenticated,
       "Request is missing Authentication Token"},
      {IncompleteSignatureError("m"), ApiErrorType::kIncompleteSignature, absl::StatusCode::kUnauthenticated, "m"},
      {InvalidSignatureError("m"), ApiErrorType::kInvalidSignature, absl::StatusCode::kUnauthenticated, "m"},
      {UnrecognizedClientError(), ApiErrorType::kUnrecognizedClient, absl::StatusCode::kUnauthenticated,
       "The security token included in the request is invalid."},
      {AccessDeniedError("AK", "dynamodb:GetItem", "arn"), ApiErrorType::kAccessDenied,
       absl::StatusCode::kPermissionDenied, "User: AK is not authorized to perform: dynamodb:GetItem on resource: arn"},
  };
  for (const auto& c : kCases) {
    const std::optional<ApiError> error = GetApiError(c.status);
    ASSERT_TRUE(error.has_value()) << c.status;
    EXPECT_EQ(error->type, c.type) << c.status;
    EXPECT_EQ(c.status.code(), c.code) << c.status;
    EXPECT_EQ(error->message, c.message);
  }
}

TEST(ApiError, CarriesItemAndRetryDelay) {
  const std::string item("\x0A\0\xFF", 3);
  EXPECT_EQ(GetApiError(ConditionalCheckFailedError(item))->item, item);
  EXPECT_EQ(GetApiError(ConditionalCheckFailedError(""))->item, "");
  EXPECT_EQ(GetApiError(ThrottlingError("slow down", 1500))->retry_after_ms, 1500);
  EXPECT_EQ(GetApiError(ValidationError("m"))->retry_after_ms, 0);
}

TEST(ApiError, IsNotWhatHasNoPayload) {
  EXPECT_FALSE(GetApiError(absl::OkStatus()).has_value());
  EXPECT_FALSE(GetApiError(absl::InvalidArgumentError("m")).has_value());
  EXPECT_FALSE(GetApiError(DataLossError("m")).has_value());
}

TEST(ApiError, NamesAreThoseOnTheWire) {
  EXPECT_EQ(ApiErrorName(ApiErrorType::kValidation), "ValidationException");
  EXPECT_EQ(ApiErrorName(ApiErrorType::kConditionalCheckFailed), "ConditionalCheckFailedException");
  EXPECT_EQ(ApiErrorName(ApiErrorType::kRequestLimitExceeded), "RequestLimitExceeded");
  std::set<std::string_view> names;
  constexpr int kLast = static_cast<int>(kLastApiErrorType);
  for (int type = 1; type <= kLast; ++type) names.insert(ApiErrorName(static_cast<ApiErrorType>(type)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kLast)) << "two types share a name";
}

TEST(StatusMacros, ContextKeepsCodeAndPayload) {
  const absl::Status status = WithContext(ThrottlingError("busy", 7), "index 3");
  EXPECT_EQ(status.message(), "index 3: busy");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(GetApiError(status)->retry_after_ms, 7);
  EXPECT_TRUE(WithContext(absl::OkStatus(), "index 3").ok());
}

TEST(ApiErrorDeathTest, NoErrorIsWithoutAText) {
  // With assertions it ends the test; a release names the exception.
  absl::Status error;
  EXPECT_DEBUG_DEATH(error = ValidationError(""), "text");
  EXPECT_NE(GetApiError(MakeApiError(ApiErrorType::kValidation, "x"))->message, "");
}

}  // namespace armature::api_error_test
