#ifndef ARMATURE_TESTS_UNIT_DAEMON_JSON_FRONT_JSON_FRONT_FIXTURE_H_
#define ARMATURE_TESTS_UNIT_DAEMON_JSON_FRONT_JSON_FRONT_FIXTURE_H_

// A JsonFront over operations that echo.

#include <zlib.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "daemon/json_front/content_coding.h"
#include "daemon/json_front/json_front.h"
#include "engine/operations.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon::json_front_test {

// Echoes each call and records it.
class FakeOperations final : public JsonOperations {
 public:
  struct Seen {
    std::string operation;
    std::string body;
    std::string principal;
    uint64_t at_least_sequence = 0;
    absl::Duration time_left;
  };

  bool Knows(std::string_view target, std::string_view* operation) const override {
    constexpr std::string_view kPrefix = "DynamoDB_20120810.";
    if (!target.starts_with(kPrefix) || engine::FindOperation(target.substr(kPrefix.size())) == nullptr) return false;
    *operation = target.substr(kPrefix.size());
    return true;
  }

  void Call(JsonCall call, JsonApi::Done done) override {
    {
      absl::MutexLock lock(&mutex_);
      seen_.push_back({.operation = std::string(call.operation),
                       .body = call.body,
                       .principal = call.access == nullptr ? "" : call.access->principal(),
                       .at_least_sequence = call.at_least_sequence,
                       .time_left = call.context.deadline.left()});
    }
    if (on_call) on_call();
    std::move(done)({.status = answer_status,
                     .body = answer_body.value_or(call.body),
                     .change_sequence = change_sequence,
                     .error = answer_error});
  }

  JsonAnswer Refuse(const JsonCall&, const absl::Status& status) const override {
    return {.status = 400, .body = Cat("error: ", Sv(status.message()))};
  }

  std::vector<Seen> seen() {
    absl::MutexLock lock(&mutex_);
    return seen_;
  }

  unsigned answer_status = 200;
  absl::Status answer_error;
  std::optional<std::string> answer_body;
  uint64_t change_sequence = 0;
  std::function<void()> on_call;

 private:
  absl::Mutex mutex_;
  std::vector<Seen> seen_;
};

class Somebody final : public Access {
 public:
  const std::string& principal() const override { return principal_; }
  absl::Status Check(const access::Request&) const override { return absl::OkStatus(); }

 private:
  const std::string principal_ = "somebody";
};

// Accepts requests with an Authorization header.
class FakeAuthenticator {
 public:
  HttpAuthenticator function() {
    return [this](const HttpRequest& request, absl::Duration* hold) { return Authenticate(request, hold); };
  }

  absl::StatusOr<std::shared_ptr<const Access>> Authenticate(const HttpRequest& request, absl::Duration* hold) {
    body_sizes.push_back(request.body.size());
    if (request.Find("authorization") != nullptr) return std::make_shared<Somebody>();
    *hold = hold_refusals;
    return ValidationError("who are you?");
  }

  absl::Duration hold_refusals;

  std::vector<size_t> body_sizes;
};

inline std::string Compressed(std::string_view text, ContentCoding coding) {
  std::string compressed;
  EXPECT_TRUE(Compress(
      text, coding, [](size_t) { return true; }, &compressed));
  return compressed;
}
inline std::string Gzip(std::string_view text) { return Compressed(text, ContentCoding::kGzip); }

inline std::string Crc(std::string_view body) {
  return std::to_string(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
}

// The names of the headers. Each must occur once.
inline std::set<std::string> NamesOf(const HttpResponse& response) {
  std::set<std::string> names;
  for (const auto& [name, value] : response.headers) EXPECT_TRUE(names.insert(name).second) << name << " twice";
  return names;
}

inline std::string ValueOf(const HttpResponse& response, std::string_view name) {
  for (const auto& [each, value] : response.headers) {
    if (each == name) return value;
  }
  return "(none)";
}

class JsonFrontTest : public testing::Test {
 protected:
  JsonFrontTest() {
    options_.sites = SiteRules({.hosts = {"db.test"}, .origins = {"https://app.test"}});
    options_.readiness = [this] { return readiness_; };
  }

  static HttpRequest PutItem(std::string body) {
    return {.method = "POST",
            .target = "/",
            .headers = {{"host", "db.test:8000"},
                        {"x-amz-target", "DynamoDB_20120810.PutItem"},
                        {"content-type", "application/x-amz-json-1.0"}},
            .body = std::move(body),
            .peer = "127.0.0.1:1"};
  }

  static void Set(HttpRequest* request, std::string_view name, std::string_view value) {
    std::erase_if(request->headers, [name](const auto& header) { return header.name == name; });
    request->headers.push_back({std::string(name), std::string(value)});
  }
  static void Unset(HttpRequest* request, std::string_view name) {
    std::erase_if(request->headers, [name](const auto& header) { return header.name == name; });
  }

  HttpResponse Answer(HttpRequest request) {
    JsonFront front(&operations_, options_);
    return Answer(&front, std::move(request));
  }
  static HttpResponse Answer(JsonFront* front, HttpRequest request) {
    HttpResponse response;
    absl::Notification answered;
    front->Handle(std::move(request), [&](HttpResponse made) {
      response = std::move(made);
      answered.Notify();
    });
    answered.WaitForNotification();
    return response;
  }

  FakeOperations operations_;
  Readiness readiness_;
  JsonFrontOptions options_;
};

}  // namespace armature::daemon::json_front_test

#endif  // ARMATURE_TESTS_UNIT_DAEMON_JSON_FRONT_JSON_FRONT_FIXTURE_H_
