#include "daemon/admin/request_list.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "daemon/message_json/json_writer.h"
#include "daemon/message_json/message_documents.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::admin::v1;

constexpr int32_t kLimitDefault = 100;
constexpr int32_t kLimitMax = 1000;
constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kNsPerMs = 1'000'000;
// A longer duration does not fit into 64 bits of nanoseconds.
constexpr int64_t kDurationMaxUs = INT64_MAX / kNsPerUs;

absl::Status Check(const v1::ListRequestsRequest& request) {
  if (request.choice() < v1::REQUEST_CHOICE_UNSPECIFIED || request.choice() > v1::REQUEST_CHOICE_SLOW) {
    return ValidationError(Cat("Unknown choice of requests: ", static_cast<int>(request.choice())));
  }
  if (request.at_least_us() < 0 || request.at_least_us() > kDurationMaxUs) {
    return ValidationError(Cat("at_least_us must be between 0 and ", kDurationMaxUs));
  }
  if (request.limit() < 0 || request.limit() > kLimitMax) {
    return ValidationError(Cat("limit must be between 0 and ", kLimitMax));
  }
  return absl::OkStatus();
}

void Fill(const RequestFacts& from, int64_t now_ms, int64_t now_ns, v1::RequestStatus* to) {
  to->set_operation(std::string(from.operation));
  to->set_front(std::string(FrontName(from.front)));
  to->set_table_name(from.table);
  to->set_peer(from.peer);
  to->set_began_time_ms(now_ms - (now_ns - from.begun_ns) / kNsPerMs);
  to->set_duration_us(from.took_ns / kNsPerUs);
  to->set_result(std::string(from.result));
  to->set_request_id(from.request_id);
  if (!from.is_timed) return;
  const auto wait_us = [&](engine::WaitFor what) { return from.waits_ns[static_cast<size_t>(what)] / kNsPerUs; };
  to->mutable_waits()->set_queue_us(wait_us(engine::WaitFor::kQueue));
  to->mutable_waits()->set_lock_us(wait_us(engine::WaitFor::kLock));
  to->mutable_waits()->set_read_us(wait_us(engine::WaitFor::kRead));
  to->mutable_waits()->set_commit_us(wait_us(engine::WaitFor::kCommit));
  to->mutable_waits()->set_index_us(wait_us(engine::WaitFor::kIndex));
}

}  // namespace

absl::Status ListRequests(const RequestStats* stats, const v1::ListRequestsRequest& request,
                          v1::ListRequestsResponse* response) {
  if (absl::Status status = Check(request); !status.ok() || stats == nullptr) return status;
  const int64_t at_least_ns = request.at_least_us() * kNsPerUs;
  const auto max = static_cast<size_t>(request.limit() == 0 ? kLimitDefault : request.limit());
  const bool is_slow = request.choice() == v1::REQUEST_CHOICE_SLOW;
  const std::vector<RequestFacts> found =
      is_slow ? stats->slow().List(at_least_ns, max) : stats->running().List(at_least_ns, max);
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  const int64_t now_ns = MonotonicNs();
  for (const RequestFacts& each : found) Fill(each, now_ms, now_ns, response->add_requests());
  response->set_unlisted(stats->running().unlisted());
  response->set_slow_us(stats->kept_ns() / kNsPerUs);
  return absl::OkStatus();
}

std::string RequestListsJson(const RequestStats& stats) {
  constexpr int32_t kShown = 50;
  JsonWriter writer;
  writer.BeginObject();
  for (const auto& [name, choice] :
       {std::pair{"running", v1::REQUEST_CHOICE_RUNNING}, std::pair{"slow", v1::REQUEST_CHOICE_SLOW}}) {
    v1::ListRequestsRequest request;
    request.set_choice(choice);
    request.set_limit(kShown);
    v1::ListRequestsResponse response;
    ListRequests(&stats, request, &response).IgnoreError();  // the request is right
    writer.Key(name);
    WriteForTools(response, &writer);
  }
  writer.EndObject();
  return writer.Take();
}

}  // namespace armature::daemon
