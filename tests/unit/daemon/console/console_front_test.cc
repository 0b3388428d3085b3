#include "daemon/console/console_front.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "daemon/console/console_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// The JSON protocol behind the console: answers everything with its target.
class Api final : public HttpHandler {
 public:
  void Handle(HttpRequest request, Done done) override {
    ++count;
    std::move(done)({.status = 200, .headers = {}, .body = Cat("api ", request.target)});
  }

  int count = 0;
};

class Principal final : public Access {
 public:
  explicit Principal(bool is_admin) : is_admin_(is_admin) {}
  const std::string& principal() const override { return name_; }
  absl::Status Check(const access::Request& request) const override {
    EXPECT_TRUE(request.operation.starts_with("admin:")) << request.operation;
    return Permits(request) ? absl::OkStatus() : AccessDeniedError(name_, request.operation, "*");
  }
  // Somebody without `admin` may read the table "shared".
  bool Permits(const access::Request& request) const override {
    return is_admin_ || (request.operation == "GetItem" && request.table == "shared");
  }

 private:
  const std::string name_ = "somebody";
  const bool is_admin_;
};

using Headers = std::vector<HttpRequest::Header>;

class ConsoleFrontTest : public testing::Test {
 protected:
  HttpResponse Answer(std::string_view method, std::string_view target, Headers headers = {}) {
    if (front_ == nullptr) front_ = std::make_unique<ConsoleFront>(&api_, options_);
    HttpRequest request;
    request.method = std::string(method);
    request.target = std::string(target);
    request.headers = std::move(headers);
    request.is_late = is_late_;
    std::optional<HttpResponse> answer;
    absl::Notification done;
    front_->Handle(std::move(request), [&](HttpResponse response) {
      answer = std::move(response);
      done.Notify();
    });
    done.WaitForNotification();
    return *std::move(answer);
  }

  static std::string ValueOf(const HttpResponse& response, std::string_view name) {
    for (const auto& [header, value] : response.headers) {
      if (header == name) return value;
    }
    return {};
  }

  Api api_;
  bool is_late_ = false;  // all requests from now on
  ConsoleOptions options_;
  std::unique_ptr<ConsoleFront> front_;
};

TEST_F(ConsoleFrontTest, FilesAreSortedAndHaveTypes) {
  ASSERT_FALSE(ConsoleFiles().empty());
  EXPECT_TRUE(std::ranges::is_sorted(ConsoleFiles(), {}, &ConsoleFile::path));
  ASSERT_NE(FindConsoleFile("index.html"), nullptr);
  EXPECT_EQ(FindConsoleFile("index.html")->content_type, "text/html; charset=utf-8");
  ASSERT_NE(FindConsoleFile("src/main.mjs"), nullptr);
  EXPECT_EQ(FindConsoleFile("src/main.mjs")->content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(FindConsoleFile("src/"), nullptr);
  EXPECT_EQ(FindConsoleFile(""), nullptr);
}

TEST_F(ConsoleFrontTest, PagesAdmitOnlyFilesOfTheDaemon) {
  for (const char* target :
       {"/console/", "/console/?x", "/console/src/main.mjs", "/console/daemon.json", "/console/none"}) {
    const HttpResponse response = Answer("GET", target);
    EXPECT_EQ(ValueOf(response, "Content-Security-Policy"),
              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
              "frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
        << target;
    EXPECT_EQ(ValueOf(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(ValueOf(response, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(ValueOf(response, "Access-Control-Allow-Origin"), "");
  }
  EXPECT_THAT(Answer("GET", "/console/").body, StartsWith("<!doctype html>"));
  EXPECT_EQ(api_.count, 0);
}

TEST_F(ConsoleFrontTest, FilesAreSentOnceAndCompressed) {
  const HttpResponse plain = Answer("GET", "/console/src/main.mjs");
  EXPECT_EQ(plain.status, 200);
  EXPECT_EQ(plain.body, FindConsoleFile("src/main.mjs")->content);
  EXPECT_EQ(ValueOf(plain, "Content-Encoding"), "");
  EXPECT_EQ(ValueOf(plain, "Vary"), "Accept-Encoding");
  const HttpResponse compressed = Answer("GET", "/console/src/main.mjs", {{"accept-encoding", "br, gzip"}});
  EXPECT_EQ(ValueOf(compressed, "Content-Encoding"), "gzip");
  EXPECT_THAT(compressed.body, StartsWith("\x1f\x8b"));
  EXPECT_TRUE(plain.may_refuse && compressed.may_refuse);
  for (const char* refused : {"gzip;q=0", "identity, gzip;q=0", "x-gzipped", "deflate"}) {
    const HttpResponse other = Answer("GET", "/console/src/main.mjs", {{"accept-encoding", refused}});
    EXPECT_EQ(other.body, plain.body) << refused;
    EXPECT_EQ(ValueOf(other, "Content-Encoding"), "") << refused;
  }
  const std::string etag = ValueOf(plain, "ETag");
  EXPECT_NE(etag, ValueOf(compressed, "ETag"));
  const HttpResponse again = Answer("GET", "/console/src/main.mjs", {{"if-none-match", Cat("\"other\", ", etag)}});
  EXPECT_EQ(again.status, 304);
  EXPECT_THAT(again.body, IsEmpty());
  EXPECT_EQ(Answer("GET", "/console/src/main.mjs", {{"if-none-match", "\"other\""}}).status, 200);
}

TEST_F(ConsoleFrontTest, BrowsersAreSentToTheConsoleAndOthersAreNot) {
  const HttpResponse browser = Answer("GET", "/", {{"accept", "text/html,*/*;q=0.8"}});
  EXPECT_EQ(browser.status, 302);
  EXPECT_EQ(ValueOf(browser, "Location"), "/console/");
  EXPECT_EQ(ValueOf(Answer("GET", "/console"), "Location"), "/console/");
  EXPECT_EQ(Answer("GET", "/").body, "api /");
  EXPECT_EQ(Answer("GET", "/", {{"accept", "*/*"}}).body, "api /");
  EXPECT_EQ(Answer("HEAD", "/", {{"accept", "text/html"}}).body, "api /");
  EXPECT_EQ(Answer("POST", "/", {{"accept", "text/html"}}).body, "api /");
  EXPECT_EQ(Answer("GET", "/healthz", {{"accept", "text/html"}}).body, "api /healthz");
  EXPECT_EQ(Answer("GET", "/consoles/", {{"accept", "text/html"}}).body, "api /consoles/");
}

TEST_F(ConsoleFrontTest, OnlyFilesOfTheConsoleAreServed) {
  for (const char* target :
       {"/console/none", "/console/../secret", "/console//index.html", "/console/src", "/console/%2e"}) {
    EXPECT_EQ(Answer("GET", target).status, 404) << target;
  }
  EXPECT_EQ(Answer("POST", "/console/").status, 405);
  EXPECT_EQ(Answer("HEAD", "/console/").status, 200);
}

TEST_F(ConsoleFrontTest, PagesOfOtherSitesMayOnlyLink) {
  EXPECT_EQ(Answer("GET", "/console/", {{"host", "evil.test"}}).status, 403);
  const HttpRequest::Header other = {"sec-fetch-site", "cross-site"};
  EXPECT_EQ(Answer("GET", "/console/daemon.json", {other, {"sec-fetch-mode", "cors"}}).status, 403);
  EXPECT_EQ(Answer("GET", "/console/", {other, {"sec-fetch-mode", "navigate"}, {"sec-fetch-dest", "iframe"}}).status,
            403);
  EXPECT_EQ(Answer("GET", "/console/", {other, {"sec-fetch-mode", "navigate"}, {"sec-fetch-dest", "document"}}).status,
            200);
  EXPECT_EQ(Answer("GET", "/console/", {{"origin", "https://evil.test"}}).status, 403);
  EXPECT_EQ(Answer("GET", "/console/",
                   {{"host", "evil.test"}, {"sec-fetch-mode", "navigate"}, {"sec-fetch-dest", "document"}})
                .status,
            403);
}

Headers Call(std::string_view operation, std::string_view site) {
  return {{"x-amz-target", Cat("DynamoDB_20120810.", operation)}, {"sec-fetch-site", std::string(site)}};
}

TEST_F(ConsoleFrontTest, ReadOnlyRefusesChangesOfItsPages) {
  options_.is_read_only = true;
  for (const char* operation :
       {"PutItem", "DeleteTable", "TransactWriteItems", "ExecuteStatement", "BatchWriteItem", "TagResource"}) {
    const HttpResponse response = Answer("POST", "/", Call(operation, "same-origin"));
    EXPECT_EQ(response.status, 400) << operation;
    EXPECT_THAT(response.body, AllOf(HasSubstr("#AccessDeniedException"), HasSubstr("--console=read-only")));
  }
  EXPECT_EQ(api_.count, 0);
  for (const char* operation : {"GetItem", "Query", "Scan", "ListTables", "DescribeTable", "BatchGetItem", "Unknown"}) {
    EXPECT_EQ(Answer("POST", "/", Call(operation, "same-origin")).body, "api /") << operation;
  }
  // By Origin alone, as over plain HTTP.
  EXPECT_EQ(
      Answer("POST", "/",
             {{"x-amz-target", "DynamoDB_20120810.PutItem"}, {"host", "10.0.0.1:1"}, {"origin", "http://10.0.0.1:1"}})
          .status,
      400);
  // SDKs and people with an address bar.
  EXPECT_EQ(Answer("POST", "/", {{"x-amz-target", "DynamoDB_20120810.PutItem"}}).body, "api /");
  EXPECT_EQ(Answer("POST", "/", Call("PutItem", "none")).body, "api /");
  EXPECT_THAT(Answer("GET", "/console/daemon.json").body, HasSubstr(R"("is_read_only":true)"));
}

TEST_F(ConsoleFrontTest, WithoutReadOnlyItsPagesMayChangeItems) {
  EXPECT_EQ(Answer("POST", "/", Call("PutItem", "same-origin")).body, "api /");
  EXPECT_EQ(Answer("GET", "/console/daemon.json").body, "{\"needs_key\":false,\"is_read_only\":false}\n");
}

TEST_F(ConsoleFrontTest, MetricsAreForEverybodyWithoutCredentials) {
  EXPECT_EQ(Answer("GET", "/console/metrics").status, 503);
  front_->SetSources(
      {.metrics = [] { return std::string("armature_x 1\n"); }, .history = [] { return std::string("[]"); }});
  const HttpResponse response = Answer("GET", "/console/metrics");
  EXPECT_EQ(response.body, "armature_x 1\n");
  EXPECT_TRUE(response.may_refuse);
  EXPECT_EQ(ValueOf(response, "Cache-Control"), "no-store");
  EXPECT_EQ(Answer("GET", "/console/history").body, "[]");
  front_->Stop();
  EXPECT_EQ(Answer("GET", "/console/metrics").status, 503);
}

TEST_F(ConsoleFrontTest, LateRequestsGetNoMetrics) {
  int count = 0;
  options_.authenticate = [&](const HttpRequest&, absl::Duration*) -> absl::StatusOr<std::shared_ptr<const Access>> {
    ++count;
    return std::make_shared<Principal>(true);
  };
  EXPECT_EQ(Answer("GET", "/console/").status, 200);
  front_->SetSources({.metrics = [] { return std::string("armature_x 1\n"); }, .history = nullptr});
  is_late_ = true;
  const HttpResponse late = Answer("GET", "/console/metrics");
  EXPECT_EQ(late.status, 503);
  EXPECT_EQ(late.body, "too many requests wait\n");
  EXPECT_EQ(count, 0);  // signatures are not checked, either
  is_late_ = false;
  EXPECT_EQ(Answer("GET", "/console/metrics").body, "armature_x 1\n");
}

TEST_F(ConsoleFrontTest, MetricsNeedAKeyOfAnAdministratorWithCredentials) {
  options_.authenticate = [](const HttpRequest& request,
                             absl::Duration*) -> absl::StatusOr<std::shared_ptr<const Access>> {
    const std::string* const key = request.Find("authorization");
    if (key == nullptr) return ValidationError("who are you?");
    return std::make_shared<Principal>(*key == "admin");
  };
  EXPECT_EQ(Answer("GET", "/console/daemon.json").body, "{\"needs_key\":true,\"is_read_only\":false}\n");
  front_->SetSources(
      {.metrics = [] { return std::string("armature_x 1\n"); }, .history = [] { return std::string("[]"); }});
  EXPECT_EQ(Answer("GET", "/console/metrics").status, 400);
  EXPECT_EQ(Answer("GET", "/console/history").status, 400);
  const HttpResponse denied = Answer("GET", "/console/metrics", {{"authorization", "reader"}});
  EXPECT_EQ(denied.status, 400);
  EXPECT_THAT(denied.body, AllOf(HasSubstr("#AccessDeniedException"), Not(HasSubstr("armature_x"))));
  EXPECT_EQ(Answer("GET", "/console/metrics", {{"authorization", "admin"}}).body, "armature_x 1\n");
}

// Sources whose answers are their questions.
ConsoleSources EchoingSources() {
  const auto echo = [](TableQuestion question, ConsoleSources::Reply reply) {
    if (question.table == "none") return std::move(reply)(ResourceNotFoundError("no such table"));
    std::move(reply)(Cat(question.table, "/", question.index, "/", question.position));
  };
  ConsoleSources sources;
  sources.settings = [] { return "settings"; };
  sources.policy = [](std::string_view) { return nullptr; };
  sources.indexes = echo;
  sources.violations = echo;
  return sources;
}

class ConsolePagesTest : public ConsoleFrontTest {
 protected:
  // `is_admin`: of the caller; absent: there is no authentication.
  void Start(std::optional<bool> is_admin) {
    if (is_admin.has_value()) {
      options_.authenticate = [is_admin](const HttpRequest&, absl::Duration*) {
        return std::make_shared<const Principal>(*is_admin);
      };
    }
    front_ = std::make_unique<ConsoleFront>(&api_, options_);
    front_->SetSources(EchoingSources());
  }
};

TEST_F(ConsolePagesTest, SettingsAndStatesOfIndexesAreForAdministrators) {
  Start(/*is_admin=*/false);
  for (const char* target : {"/console/settings", "/console/indexes/shared", "/console/violations/shared/ByA"}) {
    const HttpResponse response = Answer("GET", target);
    EXPECT_EQ(response.status, 400) << target;
    EXPECT_THAT(response.body, HasSubstr("AccessDeniedException"));
  }
  Start(/*is_admin=*/true);
  EXPECT_EQ(Answer("GET", "/console/settings").body, "settings");
  EXPECT_EQ(Answer("GET", "/console/indexes/shared").body, "shared//");
}

TEST_F(ConsolePagesTest, QuestionsAreInThePath) {
  Start(std::nullopt);
  EXPECT_EQ(Answer("GET", "/console/violations/orders/ByA").body, "orders/ByA/");
  EXPECT_EQ(Answer("GET", "/console/violations/orders/ByA/_-8").body, "orders/ByA/\xff\xef");
  EXPECT_EQ(Answer("GET", "/console/violations/orders/ByA/!").status, 400);
  EXPECT_EQ(ValueOf(Answer("GET", "/console/indexes/orders"), "Content-Type"), "application/json");
  EXPECT_EQ(ValueOf(Answer("GET", "/console/indexes/orders"), "Cache-Control"), "no-store");
  const HttpResponse missing = Answer("GET", "/console/indexes/none");
  EXPECT_EQ(missing.status, 400);
  EXPECT_THAT(missing.body, HasSubstr("ResourceNotFoundException"));
  for (const char* target : {"/console/indexes", "/console/indexes/a/b", "/console/violations/a", "/console/metrics/x",
                             "/console/rights/a/b", "/console/violations/a/b/c/d"}) {
    EXPECT_EQ(Answer("GET", target).status, 404) << target;
  }
  EXPECT_EQ(Answer("POST", "/console/rights/orders").status, 405);
}

TEST_F(ConsolePagesTest, RightsAreThoseOfTheCaller) {
  Start(/*is_admin=*/false);
  EXPECT_EQ(Answer("GET", "/console/rights/shared").body, R"({"Operations":["GetItem"]})");
  EXPECT_EQ(Answer("GET", "/console/rights/other").body, R"({"Operations":[]})");
  EXPECT_EQ(Answer("GET", "/console/rights").body, R"({"Operations":[]})");
  Start(/*is_admin=*/true);
  const std::string all = Answer("GET", "/console/rights/").body;
  for (const char* name : {"\"UpdateTable\"", "\"ExecuteStatement\"", "\"admin:GetMetrics\""}) {
    EXPECT_THAT(all, HasSubstr(name));
  }
}

TEST_F(ConsolePagesTest, AReadOnlyConsoleHasNoRightToChange) {
  options_.is_read_only = true;
  Start(std::nullopt);
  const std::string rights = Answer("GET", "/console/rights/orders").body;
  EXPECT_THAT(rights, AllOf(HasSubstr("\"Query\""), HasSubstr("\"ListBackups\""), HasSubstr("\"admin:GetMetrics\"")));
  for (const char* name : {"UpdateTable", "CreateBackup", "TagResource", "ExecuteStatement", "PutItem"}) {
    EXPECT_THAT(rights, Not(HasSubstr(name))) << name;
  }
}

TEST_F(ConsolePagesTest, NothingIsAnsweredWithoutSources) {
  for (const char* target :
       {"/console/settings", "/console/rights/a", "/console/indexes/a", "/console/violations/a/b"}) {
    EXPECT_EQ(Answer("GET", target).status, 503) << target;
  }
  Start(std::nullopt);
  is_late_ = true;
  for (const char* target :
       {"/console/settings", "/console/rights/a", "/console/indexes/a", "/console/violations/a/b"}) {
    EXPECT_EQ(Answer("GET", target).status, 503) << target;
  }
}

}  // namespace
}  // namespace armature::daemon
