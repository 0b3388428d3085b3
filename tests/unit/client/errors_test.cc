#include "armature/client/errors.h"

#include <limits>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client::errors_test {

std::string Trailer(const google::protobuf::Message& detail) {
  api::v1::RpcStatus status;
  status.set_code(9);
  status.add_details()->PackFrom(detail);
  return status.SerializeAsString();
}

TEST(Errors, ReadsTheDetailFromTheTrailer) {
  api::v1::ErrorDetail detail;
  detail.set_exception("ConditionalCheckFailedException");
  detail.set_request_id("r1");
  (*detail.mutable_item()->mutable_attributes())["id"].set_s("1");
  const absl::Status status = MakeCallStatus(absl::StatusCode::kFailedPrecondition, "no", Trailer(detail));
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(), "no");
  EXPECT_EQ(ErrorName(status), "ConditionalCheckFailedException");
  ASSERT_TRUE(ErrorDetailOf(status).has_value());
  EXPECT_EQ(ErrorDetailOf(status)->item().attributes().at("id").s(), "1");
  EXPECT_EQ(ErrorDetailOf(status)->request_id(), "r1");
}

TEST(Errors, PassesOverTrailersItCannotRead) {
  api::v1::ErrorDetail detail;
  detail.set_exception("ValidationException");
  const std::string good = Trailer(detail);
  for (size_t size = 0; size < good.size(); ++size) {
    const absl::Status status = MakeCallStatus(absl::StatusCode::kInvalidArgument, "no", good.substr(0, size));
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(ErrorName(status), "") << size;
  }
  const absl::Status other = MakeCallStatus(absl::StatusCode::kInvalidArgument, "no", Trailer(api::v1::Item()));
  EXPECT_FALSE(ErrorDetailOf(other).has_value());
}

TEST(Errors, AreEmptyForOkAndForTheNetwork) {
  EXPECT_TRUE(MakeCallStatus(absl::StatusCode::kOk, "", "").ok());
  for (const absl::Status& status : {absl::OkStatus(), absl::UnavailableError("lost")}) {
    EXPECT_EQ(ErrorName(status), "");
    EXPECT_FALSE(ErrorDetailOf(status).has_value());
    EXPECT_EQ(RetryAfter(status), absl::ZeroDuration());
    EXPECT_FALSE(CertainlyNotApplied(status));
  }
}

TEST(Errors, KnowWhatCertainlyChangedNothing) {
  EXPECT_TRUE(CertainlyNotApplied(NeverSent(absl::UnavailableError("x"))));
  EXPECT_TRUE(CertainlyNotApplied(Throttled()));
  EXPECT_TRUE(CertainlyNotApplied(ApiError(absl::StatusCode::kFailedPrecondition, "ConditionalCheckFailedException")));
  EXPECT_FALSE(CertainlyNotApplied(ApiError(absl::StatusCode::kInternal, "InternalServerError")));
  EXPECT_FALSE(CertainlyNotApplied(ApiError(absl::StatusCode::kUnavailable, "ServiceUnavailable")));
  EXPECT_FALSE(CertainlyNotApplied(absl::DeadlineExceededError("late")));
  // The other writes of the batch are applied.
  EXPECT_FALSE(
      CertainlyNotApplied(ApiError(absl::StatusCode::kResourceExhausted, "ItemCollectionSizeLimitExceededException")));
}

TEST(Errors, GiveTheAdviceOfTheDaemon) {
  const auto with_retry_info = [](int64_t seconds, int32_t nanos, int64_t detail_ms) {
    api::v1::RpcStatus status;
    google::rpc::RetryInfo info;
    info.mutable_retry_delay()->set_seconds(seconds);
    info.mutable_retry_delay()->set_nanos(nanos);
    status.add_details()->PackFrom(info);
    api::v1::ErrorDetail detail;
    detail.set_exception("ThrottlingException");
    detail.set_retry_after_ms(detail_ms);
    status.add_details()->PackFrom(detail);
    return MakeCallStatus(absl::StatusCode::kResourceExhausted, "m", status.SerializeAsString());
  };
  EXPECT_EQ(RetryAfter(with_retry_info(2, 500'000'000, 0)), absl::Milliseconds(2500));
  EXPECT_EQ(RetryAfter(with_retry_info(0, 1'000'000, 70)), absl::Milliseconds(70));
  EXPECT_EQ(RetryAfter(with_retry_info(-3, 0, 0)), absl::ZeroDuration());
  EXPECT_EQ(RetryAfter(with_retry_info(std::numeric_limits<int64_t>::max(), 0, 0)), absl::Minutes(1));
  EXPECT_EQ(ErrorName(with_retry_info(1, 0, 0)), "ThrottlingException");
  EXPECT_EQ(RetryAfter(Throttled(250)), absl::Milliseconds(250));
  EXPECT_EQ(RetryAfter(Throttled(-5)), absl::ZeroDuration());
}

}  // namespace armature::client::errors_test
