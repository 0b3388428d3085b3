#ifndef ARMATURE_TESTS_UNIT_DAEMON_JSON_JSON_API_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_DAEMON_JSON_JSON_API_TEST_UTIL_H_

// The JSON protocol without HTTP, over an engine of its own.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/json/json_api.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::daemon {

class JsonTest : public testing::Test {
 protected:
  // Runs a request and returns its answer.
  JsonAnswer Ask(std::string_view operation, std::string body, std::shared_ptr<const Access> access = nullptr) {
    JsonCall call;
    call.operation = operation;
    call.body = std::move(body);
    call.access = std::move(access);
    call.request_id = "TESTREQUEST";
    engine::Answer<JsonAnswer> answer;
    api_.Call(std::move(call),
              [catch_answer = answer.Catch()](JsonAnswer given) mutable { std::move(catch_answer)(std::move(given)); });
    absl::StatusOr<JsonAnswer> taken = answer.Take();
    if (!taken.ok()) return {.status = 0, .body = taken.status().ToString()};
    return *std::move(taken);
  }

  // The body of an answer with status 200. Other statuses precede it: "400 {...}".
  std::string Body(std::string_view operation, std::string body) {
    const JsonAnswer answer = Ask(operation, std::move(body));
    return answer.status == 200 ? answer.body : Cat(answer.status, " ", answer.body);
  }

  // Creates a table and waits until it is active.
  void CreateTable(const std::string& body, const std::string& name) {
    const JsonAnswer created = Ask("CreateTable", body);
    ASSERT_EQ(created.status, 200u) << created.body;
    ASSERT_TRUE(
        engine::TestEngine::WaitUntil([&] {
          return Body("DescribeTable", Cat(R"({"TableName":")", name, R"("})")).find(R"("TableStatus":"ACTIVE")") !=
                 std::string::npos;
        }).ok());
  }

  engine::TestEngine engine_;
  JsonApi api_{&*engine_};
};

// The body of an error with status 400.
inline std::string ErrorBody(std::string_view type, std::string_view text) {
  const std::string_view space = type == "ValidationException"      ? "com.amazon.coral.validate"
                                 : type == "SerializationException" ? "com.amazon.coral.service"
                                                                    : "com.amazonaws.dynamodb.v20120810";
  const std::string_view member = type == "SerializationException" ? "Message" : "message";
  return Cat(R"(400 {"__type":")", space, "#", type, R"(",")", member, R"(":")", text, R"("})");
}

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_UNIT_DAEMON_JSON_JSON_API_TEST_UTIL_H_
