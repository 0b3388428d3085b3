#include "daemon/metrics/activity_log.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/telemetry/request_stats.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kSecondNs = 1'000'000'000;

class ActivityLogTest : public testing::Test {
 protected:
  void Run(std::string_view operation, const absl::Status& status, int count) {
    for (int i = 0; i < count; ++i) requests_.Begin(Front::kHttp, operation).Finish(status, "id");
  }
  void RecordAt(int64_t seconds) {
    log_.Record(absl::FromUnixSeconds(1'000'000 + seconds), (100 + seconds) * kSecondNs);
  }

  RequestStats requests_{0};
  ActivityLevels levels_;
  ActivityLog log_{&requests_, [this] { return levels_; }};
};

TEST_F(ActivityLogTest, SamplesAreRatesOfTheirInterval) {
  Run("GetItem", absl::OkStatus(), 7);
  RecordAt(0);
  EXPECT_EQ(log_.Json(), "[]");
  Run("GetItem", absl::OkStatus(), 40);
  Run("PutItem", ValidationError("no"), 10);
  levels_ = {.lag_s = 1.5,
             .backlog = 3,
             .disk_bytes = 100,
             .disk_free_bytes = 40,
             .file_bytes = 5,
             .memory_bytes = 6,
             .cache_bytes = 7,
             .processor_s = 2};
  RecordAt(10);
  const std::string json = log_.Json();
  EXPECT_THAT(json,
              HasSubstr(R"("time":1000010.0,"requests":{"GetItem":4,"PutItem":1},"latencies":{"GetItem":{"p50":)"));
  EXPECT_THAT(json,
              HasSubstr(R"("all":5,"errors":1,"lag":1.5,"backlog":3,"disk":100,"diskUsed":60,"files":5,"memory":6,)"
                        R"("cache":7,"processor":0.2})"));
  RecordAt(20);
  EXPECT_THAT(log_.Json(), HasSubstr(R"("time":1000020.0,"requests":{},"latencies":{},"all":0,"errors":0)"));
}

TEST_F(ActivityLogTest, KeepsAnHour) {
  constexpr int64_t kIntervalS = 10;
  for (int64_t i = 0; i <= 400; ++i) RecordAt(i * kIntervalS);
  const std::string json = log_.Json();
  EXPECT_THAT(json, Not(HasSubstr("\"time\":1000400.0,")));
  EXPECT_THAT(json, HasSubstr("[{\"time\":1000410.0,"));
  EXPECT_THAT(json, HasSubstr("\"time\":1004000.0,"));
}

TEST_F(ActivityLogTest, IsBoundedAlsoWithAllOperations) {
  for (int64_t i = 0; i <= 400; ++i) {
    for (size_t operation = 0; operation < kOperationCount; ++operation)
      Run(OperationName(operation), absl::OkStatus(), 1);
    RecordAt(i * 10);
  }
  EXPECT_LE(log_.Json().size(), ActivityLog::kBytesMax + ActivityLog::kSamplesMax + 2);
  EXPECT_THAT(log_.Json(), HasSubstr("\"time\":1004000.0,"));
}

TEST(QuantileOf, IsLinearWithinABucket) {
  TimeHistogram histogram;
  EXPECT_EQ(QuantileOf(histogram.counts(), 0.5), 0);
  for (int i = 0; i < 100; ++i) histogram.Add(75'000);  // in the bucket from 50 to 100 us
  EXPECT_DOUBLE_EQ(QuantileOf(histogram.counts(), 0.5), 75e-6);
  EXPECT_DOUBLE_EQ(QuantileOf(histogram.counts(), 1), 100e-6);
  for (int i = 0; i < 900; ++i) histogram.Add(60 * kSecondNs);  // beyond the last bound
  EXPECT_DOUBLE_EQ(QuantileOf(histogram.counts(), 0.5), 10);
}

}  // namespace
}  // namespace armature::daemon
