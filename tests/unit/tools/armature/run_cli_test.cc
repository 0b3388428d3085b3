// The whole tool against a fake daemon in this process.
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "armature/api/v1/service.grpc.pb.h"
#include "armature/version.h"
#include "daemon/auth/credentials.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"

namespace armature::cli::run_cli_test {

using testing::HasSubstr;

// Has one answer for each kind of request, and keeps the last update and query.
class FakeItems final : public api::v1::ItemService::Service {
 public:
  grpc::Status GetItem(grpc::ServerContext*, const api::v1::GetItemRequest*, api::v1::GetItemResponse*) override {
    return grpc::Status::OK;  // No such item.
  }

  grpc::Status PutItem(grpc::ServerContext*, const api::v1::PutItemRequest*, api::v1::PutItemResponse*) override {
    api::v1::ErrorDetail detail;
    detail.set_exception("ValidationException");
    detail.set_message("no good");
    api::v1::RpcStatus status;
    status.set_code(grpc::StatusCode::INVALID_ARGUMENT);
    status.set_message("no good");
    status.add_details()->PackFrom(detail);
    return {grpc::StatusCode::INVALID_ARGUMENT, "no good", status.SerializeAsString()};
  }

  grpc::Status UpdateItem(grpc::ServerContext*, const api::v1::UpdateItemRequest* request,
                          api::v1::UpdateItemResponse* response) override {
    last_update = *request;
    (*response->mutable_attributes()->mutable_attributes())["n"].set_n("2");
    response->set_change_sequence(7);
    return grpc::Status::OK;
  }

  // Two pages of one item.
  grpc::Status Query(grpc::ServerContext*, const api::v1::QueryRequest* request,
                     api::v1::QueryResponse* response) override {
    last_query = *request;
    const bool first = !request->has_exclusive_start_key();
    api::v1::Item* item = response->add_items();
    (*item->mutable_attributes())["k"].set_s(first ? "one" : "two");
    if (first) *response->mutable_last_evaluated_key() = *item;
    response->set_count(1);
    response->set_scanned_count(3);
    return grpc::Status::OK;
  }

  api::v1::UpdateItemRequest last_update;
  api::v1::QueryRequest last_query;
};

class RunCliTest : public testing::Test {
 protected:
  void SetUp() override {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&items_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    endpoint_ = Cat("127.0.0.1:", port);
  }

  int Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--endpoint", endpoint_});
    out_.str("");
    err_.str("");
    return RunCli(arguments, out_, err_);
  }

  FakeItems items_;
  std::unique_ptr<grpc::Server> server_;
  std::string endpoint_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(RunCliTest, MissingItemIsAnEmptyObject) {
  EXPECT_EQ(Run({"item", "get", "--table-name", "T", "--key", R"({"k":{"S":"x"}})"}), 0);
  EXPECT_EQ(out_.str(), "{}\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(RunCliTest, RefusalIsOneLineWithTheException) {
  EXPECT_EQ(Run({"item", "put", "--table-name", "T", "--item", "{}"}), 1);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "ValidationException: no good\n");
}

TEST_F(RunCliTest, UpdateSendsItsExpressionsAndPrintsWhatComesBack) {
  EXPECT_EQ(
      Run({"item", "update", "--table-name", "T", "--key", R"({"k":{"S":"x"}})", "--update-expression",
           "SET #n = #n + :one", "--condition-expression", "#n < :one", "--return-values", "UPDATED_NEW",
           "--expression-attribute-names", R"({"#n":"n"})", "--expression-attribute-values", R"({":one":{"N":"1"}})"}),
      0)
      << err_.str();
  EXPECT_EQ(items_.last_update.key().attributes().at("k").s(), "x");
  EXPECT_EQ(items_.last_update.update_expression(), "SET #n = #n + :one");
  EXPECT_EQ(items_.last_update.condition_expression(), "#n < :one");
  EXPECT_EQ(items_.last_update.return_values(), api::v1::RETURN_VALUES_UPDATED_NEW);
  EXPECT_EQ(items_.last_update.expression_attribute_names().at("#n"), "n");
  EXPECT_EQ(items_.last_update.expression_attribute_values().at(":one").n(), "1");
  const absl::StatusOr<Json> answer = ParseJson(out_.str());
  ASSERT_TRUE(answer.ok()) << out_.str();
  EXPECT_EQ(CompactJson((*answer)["Attributes"]), R"({"n":{"N":"2"}})");
  EXPECT_EQ((*answer)["ChangeSequence"], 7);
}

TEST_F(RunCliTest, UpdateWithoutExpressionSendsNone) {
  EXPECT_EQ(Run({"--output", "table", "item", "update", "--table-name", "T", "--key", R"({"k":{"S":"x"}})"}), 0)
      << err_.str();
  EXPECT_FALSE(items_.last_update.has_update_expression());
  EXPECT_EQ(out_.str(), "n\n2\n");
  EXPECT_EQ(Run({"item", "update", "--table-name", "T"}), 2) << "a key is required";
}

TEST_F(RunCliTest, QueryPrintsOnePageInTheDocumentedShape) {
  EXPECT_EQ(Run({"query", "--table-name", "T", "--key-condition-expression", "k = :k", "--limit", "1",
                 "--expression-attribute-values", R"({":k":{"S":"one"}})", "--no-scan-index-forward"}),
            0)
      << err_.str();
  EXPECT_EQ(CompactJson(*ParseJson(out_.str())), R"({"Items":[{"k":{"S":"one"}}],"Count":1,"ScannedCount":3,)"
                                                 R"("LastEvaluatedKey":{"k":{"S":"one"}},"ConsumedCapacity":null})");
  EXPECT_EQ(items_.last_query.limit(), 1);
  EXPECT_TRUE(items_.last_query.has_scan_index_forward());
  EXPECT_FALSE(items_.last_query.scan_index_forward());
  EXPECT_EQ(items_.last_query.expression_attribute_values().at(":k").s(), "one");
}

TEST_F(RunCliTest, AllPagesBecomeOne) {
  EXPECT_EQ(Run({"query", "--table-name", "T", "--all-pages", "--output", "table"}), 0);
  EXPECT_EQ(out_.str(), "k\none\ntwo\n\nCount: 2  ScannedCount: 6\n");
}

TEST_F(RunCliTest, WrongUseSendsNothing) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"item"}), 2);
  EXPECT_EQ(Run({"query", "--no-such-option"}), 2);
  EXPECT_EQ(Run({"query"}), 2);
  EXPECT_EQ(err_.str(), "armature: --table-name is required\n");
  EXPECT_EQ(Run({"query", "--table-name", "T", "--limit", "many"}), 2);
  EXPECT_EQ(Run({"item", "put", "--table-name", "T", "--item", R"({"a":{"NS":[true]}})"}), 2);
  EXPECT_EQ(err_.str(), "armature: --item: a.NS[0]: must be a string, not boolean\n");
}

TEST_F(RunCliTest, ItemsAndValuesMayBePlainJson) {
  EXPECT_EQ(Run({"item", "update", "--table-name", "T", "--key", R"({"k":"x","n":12345678901234567890123})",
                 "--update-expression", "SET a = :one, b = :set", "--expression-attribute-values",
                 R"({":one":1.50,":set":{"SS":["x"]}})"}),
            0)
      << err_.str();
  EXPECT_EQ(items_.last_update.key().attributes().at("k").s(), "x");
  EXPECT_EQ(items_.last_update.key().attributes().at("n").n(), "12345678901234567890123");
  EXPECT_EQ(items_.last_update.expression_attribute_values().at(":one").n(), "1.50");
  EXPECT_EQ(items_.last_update.expression_attribute_values().at(":set").ss().values(0), "x");
}

// CLI11 would take the brackets off.
TEST_F(RunCliTest, ValuesInBracketsNeedTheirNames) {
  for (const char* command : {"get", "del", "update", "query", "count"}) {
    EXPECT_EQ(Run({command, "T", "[vip]"}), 2);
    EXPECT_EQ(err_.str(), "armature: a value in brackets needs the name of its attribute: NAME=[vip]\n");
  }
}

TEST_F(RunCliTest, MistypedWordsGetTheNearestKnownOne) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view message;
  };
  const Case cases[] = {
      {{"tabel", "list"}, "unknown command 'tabel'; did you mean 'table'?"},
      {{"--output", "json", "tabel"}, "unknown command 'tabel'; did you mean 'table'?"},
      {{"table", "lst"}, "unknown command 'lst'; did you mean 'list'?"},
      {{"frobnicate"}, "unknown command 'frobnicate'"},
      {{"query", "--tabel-name", "T"}, "unknown option '--tabel-name'; did you mean '--table-name'?"},
      {{"query", "--table-name", "T", "--ouput=json"}, "unknown option '--ouput'; did you mean '--output'?"},
      {{"--frobnicate", "query"}, "unknown option '--frobnicate'"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Run(c.arguments), 2);
    EXPECT_EQ(err_.str(), Cat("armature: ", c.message, "\n"));
  }
}

TEST_F(RunCliTest, TellsItsVersion) {
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_.str(), Cat("armature ", kVersion, "\n"));
}

TEST_F(RunCliTest, HelpNamesTheCommandsOfItemFormats) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("get, update and the short forms of query and scan also take csv and yaml"));
}

TEST_F(RunCliTest, SilenceHasItsOwnCode) {
  server_->Shutdown();
  EXPECT_EQ(Run({"--timeout", "1", "item", "get", "--table-name", "T", "--key", "{}"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("no answer from " + endpoint_));
}

TEST_F(RunCliTest, NewCredentialsAreMadeWithoutADaemon) {
  std::vector<std::string> secrets;
  for (const bool hash : {false, true}) {
    std::ostringstream out;
    std::ostringstream err;
    std::vector<std::string> arguments = {"--endpoint", "nowhere:1", "credentials", "new", "--policy", "reader"};
    if (hash) arguments.push_back("--hash");
    EXPECT_EQ(RunCli(arguments, out, err), 0) << err.str();
    const Json made = Json::parse(out.str());
    const std::string id = made["AccessKeyId"];
    const std::string secret = made["SecretAccessKey"];
    EXPECT_EQ(id.size(), 20u);
    EXPECT_EQ(secret.size(), 40u);
    secrets.push_back(secret);
    // The daemon accepts the entry unchanged.
    const std::string file = Cat(R"({"policies": {"reader": {}}, "access_keys": [)", made["FileEntry"].dump(), "]}");
    const auto credentials = daemon::Credentials::Parse(file, std::make_shared<daemon::FailureLog>());
    ASSERT_TRUE(credentials.ok()) << credentials.status();
    const daemon::AccessKey* const key = (*credentials)->FindKey(id);
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(key->secret, hash ? "" : secret);
    if (hash) {
      EXPECT_TRUE(key->secret_hash->Matches(secret));
    }
  }
  EXPECT_NE(secrets[0], secrets[1]);
}

TEST_F(RunCliTest, HelpEndsWithExamples) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{"table", "create"},
                                                                                       {"table", "describe"},
                                                                                       {"table", "list"},
                                                                                       {"table", "delete"},
                                                                                       {"item", "put"},
                                                                                       {"item", "get"},
                                                                                       {"item", "update"},
                                                                                       {"item", "delete"},
                                                                                       {"query"},
                                                                                       {"scan"},
                                                                                       {"index", "status"},
                                                                                       {"server", "info"},
                                                                                       {}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    EXPECT_EQ(Run(arguments), 0);
    EXPECT_THAT(out_.str(), HasSubstr("Examples:")) << testing::PrintToString(command);
  }
}

}  // namespace armature::cli::run_cli_test
