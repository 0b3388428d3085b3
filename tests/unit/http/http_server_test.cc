#include "daemon/http/http_server.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/http/handlers.h"

namespace armature::daemon {
namespace {

using test::Post;
using test::RawHttpClient;
using test::RawResponse;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() : server_(Serve(&handler_)), client_(server_->address()) {}

  InlineHandler handler_;
  std::unique_ptr<HttpServer> server_;
  RawHttpClient client_;
};

TEST_F(HttpServerTest, AnswersWithLengthAndDateAndKeepsTheConnection) {
  for (int i = 0; i < 3; ++i) {
    client_.Send(Post("hello"));
    const RawResponse response = client_.Read();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.reason, "OK");
    EXPECT_EQ(response.body, "hello");
    EXPECT_THAT(response.headers.at("date"), testing::EndsWith(" GMT"));
    EXPECT_THAT(response.headers, Not(testing::Contains(Key("connection"))));
  }
}

TEST_F(HttpServerTest, HandlesAHundredPipelinedRequestsInOrder) {
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += Post(Cat("request ", i));
  client_.Send(requests);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client_.Read().body, Cat("request ", i));
}

}  // namespace
}  // namespace armature::daemon
