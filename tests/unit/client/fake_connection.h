#ifndef ARMATURE_TESTS_UNIT_CLIENT_FAKE_CONNECTION_H_
#define ARMATURE_TESTS_UNIT_CLIENT_FAKE_CONNECTION_H_

// A connection with scripted answers, and a clock that does not wait.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "armature/client/connection.h"
#include "armature/client/errors.h"
#include "google/protobuf/message.h"

namespace armature::client {

// Gives its answers in order and repeats the last one. Records the requests.
class FakeConnection final : public Connection {
 public:
  struct Seen {
    std::string method;
    std::string request;  // Serialised.
    CallContext context;
  };

  void Fail(absl::Status status) { answers_.push_back({std::move(status), ""}); }
  void Answer(const google::protobuf::Message& response) {
    answers_.push_back({absl::OkStatus(), response.SerializeAsString()});
  }

  absl::Status Call(const Method& method, const CallContext& context, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override {
    seen.push_back({std::string(method.name), request.SerializeAsString(), context});
    if (answers_.empty()) return absl::OkStatus();
    const std::pair<absl::Status, std::string> answer = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    if (!answer.first.ok()) return answer.first;
    return response->ParseFromString(answer.second) ? absl::OkStatus() : absl::InternalError("wrong type of answer");
  }

  // The request of call number `call`, counted from 0.
  template <class Request>
  Request RequestOf(size_t call) const {
    Request request;
    if (!request.ParseFromString(seen.at(call).request)) return Request();
    return request;
  }

  std::vector<Seen> seen;

 private:
  std::deque<std::pair<absl::Status, std::string>> answers_;
};

class FakeClock final : public Clock {
 public:
  absl::Time Now() override { return now; }
  void SleepFor(absl::Duration duration) override {
    now += duration;
    sleeps.push_back(duration);
  }

  absl::Time now = absl::FromUnixSeconds(1'000'000);
  std::vector<absl::Duration> sleeps;
};

// A client over the two fakes, with default policies.
struct FakeClient {
  std::shared_ptr<FakeConnection> connection = std::make_shared<FakeConnection>();
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();

  Client Make(ClientOptions options = {}) const {
    options.clock = clock;
    return Client(connection, std::move(options));
  }
};

inline absl::Status ApiError(absl::StatusCode code, std::string_view exception, int64_t retry_after_ms = 0) {
  api::v1::ErrorDetail detail;
  detail.set_exception(std::string(exception));
  detail.set_retry_after_ms(retry_after_ms);
  return WithDetail(absl::Status(code, "said the daemon"), detail);
}

inline absl::Status Throttled(int64_t retry_after_ms = 0) {
  return ApiError(absl::StatusCode::kResourceExhausted, "ThrottlingException", retry_after_ms);
}

}  // namespace armature::client

#endif  // ARMATURE_TESTS_UNIT_CLIENT_FAKE_CONNECTION_H_
