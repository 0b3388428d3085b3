#include "daemon/telemetry/request_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

namespace armature::daemon::request_stats_test {

size_t NumberOf(std::string_view operation) {
  size_t number = 0;
  while (number < kOperationCount && OperationName(number) != operation) ++number;
  return number;
}

TEST(RequestStats, CountsEveryOperationUnderItsOwnName) {
  RequestStats stats(0);
  for (const engine::Operation& operation : engine::kOperations) {
    stats.Begin(Front::kGrpc, operation.name).Finish(absl::OkStatus(), "");
    const std::string_view counted = operation.plane == engine::Plane::kStream ? "other" : operation.name;
    EXPECT_GE(stats.finished(Front::kGrpc, NumberOf(counted), ResultOf(absl::OkStatus())), 1u) << operation.name;
  }
}

TEST(RequestStats, CountsByFrontOperationAndResult) {
  RequestStats stats(0);
  stats.Begin(Front::kGrpc, "GetItem").Finish(absl::OkStatus(), "");
  stats.Begin(Front::kGrpc, "GetItem").Finish(ResourceNotFoundError("x"), "");
  stats.Begin(Front::kHttp, "GetItem").Finish(absl::OkStatus(), "");
  stats.Begin(Front::kHttp, "NoSuchOperation").Finish(absl::OkStatus(), "");
  const size_t get = NumberOf("GetItem");
  EXPECT_EQ(stats.finished(Front::kGrpc, get, ResultOf(absl::OkStatus())), 1u);
  EXPECT_EQ(stats.finished(Front::kGrpc, get, ResultOf(ResourceNotFoundError("m"))), 1u);
  EXPECT_EQ(stats.finished(Front::kHttp, get, ResultOf(absl::OkStatus())), 1u);
  EXPECT_EQ(stats.finished(Front::kHttp, NumberOf("other"), ResultOf(absl::OkStatus())), 1u);
  EXPECT_EQ(stats.finished(Front::kGrpc, NumberOf("PutItem"), ResultOf(absl::OkStatus())), 0u);
}

TEST(RequestStats, EveryExceptionHasACountOfItsOwn) {
  RequestStats stats(0);
  const size_t get = NumberOf("GetItem");
  for (size_t type = 1; type <= static_cast<size_t>(kLastApiErrorType); ++type) {
    const absl::Status error = MakeApiError(static_cast<ApiErrorType>(type), "m");
    const size_t result = ResultOf(error);
    ASSERT_LT(result, kResultCount - 1) << ResultName(result);
    EXPECT_EQ(ResultName(result), ApiErrorName(static_cast<ApiErrorType>(type)));
    stats.Begin(Front::kGrpc, "GetItem").Finish(error, "");
    EXPECT_EQ(stats.finished(Front::kGrpc, get, result), 1u);
  }
  EXPECT_EQ(stats.in_flight(Front::kGrpc), 0u);
}

TEST(RequestStats, TellsWhatIsInFlight) {
  RequestStats stats(0);
  const RequestStats::Request first = stats.Begin(Front::kHttp, "Scan");
  const RequestStats::Request second = stats.Begin(Front::kHttp, "Query");
  EXPECT_EQ(stats.in_flight(Front::kHttp), 2u);
  EXPECT_EQ(stats.in_flight(Front::kGrpc), 0u);
  first.Finish(absl::OkStatus(), "");
  EXPECT_EQ(stats.in_flight(Front::kHttp), 1u);
  second.Finish(CancelledError("gone"), "");
  EXPECT_EQ(stats.in_flight(Front::kHttp), 0u);
}

TEST(RequestStats, EachRequestIsInOneBucketOfItsOperation) {
  RequestStats stats(0);
  for (int i = 0; i < 3; ++i) stats.Begin(Front::kGrpc, "PutItem").Finish(absl::OkStatus(), "");
  const TimeHistogram::Counts times = stats.times(Front::kGrpc, NumberOf("PutItem"));
  EXPECT_EQ(std::accumulate(times.buckets.begin(), times.buckets.end(), uint64_t{0}), 3u);
  EXPECT_GT(times.sum_ns, 0u);
}

TEST(RequestStats, NamesResultsAsClientsSeeThem) {
  EXPECT_EQ(ResultName(ResultOf(absl::OkStatus())), "ok");
  EXPECT_EQ(ResultName(ResultOf(ValidationError("x"))), "ValidationException");
  EXPECT_EQ(ResultName(ResultOf(AccessDeniedError("p", "a", "r"))), "AccessDeniedException");
  EXPECT_EQ(ResultName(ResultOf(absl::InternalError("x"))), "InternalServerError");
  EXPECT_EQ(ResultName(ResultOf(absl::DataLossError("x"))), "InternalServerError");
  EXPECT_EQ(ResultName(ResultOf(absl::UnavailableError("x"))), "ServiceUnavailable");
}

TEST(RequestStats, NothingIsCountedWithoutStats) {
  const RequestStats::Request request = RequestStats::Begin(nullptr, Front::kGrpc, "GetItem");
  request.Finish(absl::OkStatus(), "");
  EXPECT_EQ(request.trace(), nullptr);
}

TEST(RequestStats, WaitsAreMeasuredAndClientsGetIdsOnlyIfSlowRequestsAreToldOf) {
  RequestStats quiet(0);
  const RequestStats::Request untimed = quiet.Begin(Front::kGrpc, "GetItem");
  EXPECT_EQ(engine::RequestTrace::Begin(untimed.trace()), 0);
  EXPECT_FALSE(untimed.has_id());
  RequestStats telling(1'000'000'000);
  const RequestStats::Request timed = telling.Begin(Front::kGrpc, "GetItem");
  EXPECT_NE(engine::RequestTrace::Begin(timed.trace()), 0);
  EXPECT_TRUE(timed.has_id());
}

TEST(RequestStats, SlowRequestsAreToldOfAFewTimesASecond) {
  RequestStats stats(1);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) stats.Begin(Front::kGrpc, "GetItem").Finish(absl::OkStatus(), "the-id");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("request: slow operation=GetItem front=grpc table= result=ok request_id=the-id ms="),
            std::string::npos)
      << log;
  const auto lines = std::count(log.begin(), log.end(), '\n');
  EXPECT_GE(lines, 10);
  // A new second may begin meanwhile.
  EXPECT_LE(lines, 100);
}

TEST(TimeHistogram, BoundsBelongToTheirBuckets) {
  TimeHistogram histogram;
  histogram.Add(0);
  histogram.Add(50'000);
  histogram.Add(50'001);
  histogram.Add(10'000'000'000);
  histogram.Add(10'000'000'001);
  const TimeHistogram::Counts counts = histogram.counts();
  EXPECT_EQ(counts.buckets[0], 2u);
  EXPECT_EQ(counts.buckets[1], 1u);
  EXPECT_EQ(counts.buckets[TimeHistogram::kBuckets - 2], 1u);
  EXPECT_EQ(counts.buckets[TimeHistogram::kBuckets - 1], 1u);
  EXPECT_EQ(counts.sum_ns, 20'000'100'002u);
}

}  // namespace armature::daemon::request_stats_test
