#include "daemon/admin/request_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "storage/base/api_error.h"

namespace armature::daemon::request_list_test {

using testing::HasSubstr;

namespace v1 = ::armature::admin::v1;

v1::ListRequestsRequest Ask(v1::RequestChoice choice, int32_t limit = 0, int64_t at_least_us = 0) {
  v1::ListRequestsRequest request;
  request.set_choice(choice);
  request.set_limit(limit);
  request.set_at_least_us(at_least_us);
  return request;
}

TEST(ListRequests, AnswersWithTheChosenRequests) {
  RequestStats stats(/*slow_ns=*/1);
  testing::internal::CaptureStderr();
  stats.Begin(Front::kHttp, "Scan", "127.0.0.1:1").Finish(ValidationError("no"), "id");
  testing::internal::GetCapturedStderr();
  const RequestStats::Request running = stats.Begin(Front::kPipeline, "GetItem", "127.0.0.1:2");
  running.trace()->set_table("Orders");
  v1::ListRequestsResponse response;
  ASSERT_TRUE(ListRequests(&stats, Ask(v1::REQUEST_CHOICE_UNSPECIFIED), &response).ok());
  ASSERT_EQ(response.requests_size(), 1);
  EXPECT_EQ(response.requests(0).operation(), "GetItem");
  EXPECT_EQ(response.requests(0).front(), "pipeline");
  EXPECT_EQ(response.requests(0).table_name(), "Orders");
  EXPECT_EQ(response.requests(0).peer(), "127.0.0.1:2");
  EXPECT_EQ(response.requests(0).result(), "");
  EXPECT_TRUE(response.requests(0).has_waits());
  response.Clear();
  ASSERT_TRUE(ListRequests(&stats, Ask(v1::REQUEST_CHOICE_SLOW), &response).ok());
  ASSERT_EQ(response.requests_size(), 1);
  EXPECT_EQ(response.requests(0).operation(), "Scan");
  EXPECT_EQ(response.requests(0).result(), "ValidationException");
  EXPECT_EQ(response.requests(0).request_id(), "id");
  running.Finish(absl::OkStatus(), "");
}

TEST(ListRequests, RefusesNumbersThatAreOutOfRange) {
  RequestStats stats(0);
  v1::ListRequestsResponse response;
  for (const v1::ListRequestsRequest& wrong :
       {Ask(static_cast<v1::RequestChoice>(3)), Ask(static_cast<v1::RequestChoice>(-1)),
        Ask(v1::REQUEST_CHOICE_SLOW, -1), Ask(v1::REQUEST_CHOICE_SLOW, 1001), Ask(v1::REQUEST_CHOICE_SLOW, 1, -1),
        Ask(v1::REQUEST_CHOICE_SLOW, 1, INT64_MAX)}) {
    EXPECT_EQ(ListRequests(&stats, wrong, &response).code(), absl::StatusCode::kInvalidArgument)
        << wrong.ShortDebugString();
  }
}

TEST(ListRequests, ADaemonThatCountsNoneHasNone) {
  v1::ListRequestsResponse response;
  EXPECT_TRUE(ListRequests(nullptr, Ask(v1::REQUEST_CHOICE_RUNNING), &response).ok());
  EXPECT_EQ(response.requests_size(), 0);
}

TEST(RequestListsJson, IsADocumentOfBothLists) {
  RequestStats stats(0);
  const RequestStats::Request running = stats.Begin(Front::kHttp, "Query", "peer \"1\"");
  const std::string json = RequestListsJson(stats);
  EXPECT_THAT(json, testing::StartsWith(R"({"running":{"Requests":[{)"));
  EXPECT_THAT(json, HasSubstr(R"("Peer":"peer \"1\"")"));
  EXPECT_THAT(json, HasSubstr(R"("slow":{)"));
  running.Finish(absl::OkStatus(), "");
}

}  // namespace armature::daemon::request_list_test
