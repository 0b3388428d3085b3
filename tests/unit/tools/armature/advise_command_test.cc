// `armature advise` on the command line.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "armature/api/v1/service.grpc.pb.h"
#include "storage/base/strings.h"
#include "tests/support/temp_dir.h"
#include "tools/armature/command.h"

namespace armature::cli::advise_command_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kWorkload[] = R"({
  "table": {"name": "T", "key": {"partition": "k"}, "items": 1000,
            "attributes": {"k": {}, "a": {"distinct": 500}, "b": {"distinct": 5}}},
  "patterns": [{"name": "first", "equality": ["a"], "order": ["b"], "returns": "keys"}]
})";

// A table T with key k and a global index.
class FakeTables final : public api::v1::TableService::Service {
 public:
  grpc::Status DescribeTable(grpc::ServerContext*, const api::v1::DescribeTableRequest* request,
                             api::v1::DescribeTableResponse* response) override {
    api::v1::TableDescription& table = *response->mutable_table();
    table.set_table_name(request->table_name());
    AddKey(&table, table.mutable_key_schema(), "k");
    table.set_item_count(items);
    table.set_table_size_bytes(items * 300);
    api::v1::GlobalSecondaryIndexDescription& index = *table.add_global_secondary_indexes();
    index.set_index_name("existing");
    AddKey(&table, index.mutable_key_schema(), "b");
    index.mutable_projection()->set_projection_type(api::v1::PROJECTION_TYPE_ALL);
    return grpc::Status::OK;
  }

  grpc::Status CreateTable(grpc::ServerContext*, const api::v1::CreateTableRequest* request,
                           api::v1::CreateTableResponse*) override {
    created = *request;
    return grpc::Status::OK;
  }

  int64_t items = 2000;
  api::v1::CreateTableRequest created;

 private:
  template <class Schema>
  static void AddKey(api::v1::TableDescription* table, Schema* schema, const std::string& name) {
    api::v1::KeySchemaElement& element = *schema->Add();
    element.set_attribute_name(name);
    element.set_key_type(api::v1::KEY_TYPE_HASH);
    api::v1::AttributeDefinition& definition = *table->add_attribute_definitions();
    definition.set_attribute_name(name);
    definition.set_attribute_type(api::v1::SCALAR_ATTRIBUTE_TYPE_S);
  }
};

class AdviseCommandTest : public testing::Test {
 protected:
  void SetUp() override { Write(kWorkload); }

  std::string path() const { return folder_.path("workload.json"); }

  void Write(std::string_view text) { std::ofstream(path()) << text; }

  // Starts a fake daemon. Without it, no daemon is called.
  void StartDaemon() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&tables_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    endpoint_ = Cat("127.0.0.1:", port);
  }

  int Run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--endpoint", endpoint_, "advise", path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    out_.str("");
    err_.str("");
    return RunCli(arguments, out_, err_);
  }

  const test::TempDir folder_;
  FakeTables tables_;
  std::unique_ptr<grpc::Server> server_;
  std::string endpoint_ = "nowhere:1";
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(AdviseCommandTest, PrintsTextWithoutADaemon) {
  ASSERT_EQ(Run(), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(StartsWith("Table T\n  key: k\n"), HasSubstr("a-b-index  GLOBAL  a | b  KEYS_ONLY"),
                                HasSubstr("\nIndex a-b-index\n  key: "), HasSubstr("\nPattern first\n  Answered by")));
  const std::string text = out_.str();
  EXPECT_EQ(Run({"--output", "table"}), 0);
  EXPECT_EQ(out_.str(), text);
}

TEST_F(AdviseCommandTest, PrintsJsonIfAsked) {
  ASSERT_EQ(Run({"--output", "json"}), 0) << err_.str();
  const Json advice = Json::parse(out_.str());
  EXPECT_EQ(advice["Indexes"][0]["Name"], "a-b-index");
  EXPECT_EQ(advice["Patterns"][0]["KeyCondition"], "a = ?");
  EXPECT_EQ(advice["CreateTable"]["GlobalSecondaryIndexes"].size(), 1u);
}

TEST_F(AdviseCommandTest, ItsRequestCreatesTheTable) {
  StartDaemon();
  ASSERT_EQ(Run({"--output", "json"}), 0) << err_.str();
  const Json advice = Json::parse(out_.str());
  const std::vector<std::string> create = {"--endpoint", endpoint_,          "table",
                                           "create",     "--cli-input-json", advice["CreateTable"].dump()};
  ASSERT_EQ(RunCli(create, out_, err_), 0) << err_.str();
  ASSERT_EQ(tables_.created.global_secondary_indexes_size(), 1);
  const api::v1::GlobalSecondaryIndex& index = tables_.created.global_secondary_indexes(0);
  EXPECT_EQ(index.key_schema_size(), 2);
  EXPECT_EQ(index.key_schema(1).key_type(), api::v1::KEY_TYPE_RANGE);
  EXPECT_EQ(index.projection().projection_type(), api::v1::PROJECTION_TYPE_KEYS_ONLY);
  EXPECT_EQ(tables_.created.attribute_definitions_size(), 3);
}

TEST_F(AdviseCommandTest, TakesStatisticsFromALiveTable) {
  StartDaemon();
  Write(R"({"table": {"attributes": {"a": {}, "b": {}}},
            "patterns": [{"equality": ["a"]}, {"equality": ["b"]}]})");
  ASSERT_EQ(Run({"--table", "T", "--output", "json"}), 0) << err_.str();
  const Json advice = Json::parse(out_.str());
  EXPECT_EQ(advice["Table"]["Key"]["Partition"][0], "k");
  EXPECT_EQ(advice["Table"]["Items"], 2000);
  EXPECT_EQ(advice["Table"]["ItemBytes"], 300);
  EXPECT_EQ(advice["Patterns"][1]["IndexName"], "existing");
  EXPECT_EQ(advice["UpdateTable"].size(), 1u);
  EXPECT_EQ(advice["Warnings"].size(), 0u);

  tables_.items = 0;
  ASSERT_EQ(Run({"--table", "T"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("is empty, or does not know its number of items yet"));
}

TEST_F(AdviseCommandTest, MistakesAreOneLineWithTheFileAndThePlace) {
  Write("{");
  EXPECT_EQ(Run(), 2);
  EXPECT_THAT(err_.str(), StartsWith(Cat("armature: ", path(), ": not valid JSON")));
  Write(R"({"table": {"attributes": {"a": {}}}, "patterns": [{"equality": "b"}]})");
  EXPECT_EQ(Run(), 2);
  EXPECT_EQ(err_.str(), Cat("armature: ", path(), ": patterns[0].equality: \"b\" is not in table.attributes\n"));
  Write(R"({"table": {"attributes": {"a": {}}}, "patterns": [{"equality": "a"}]})");
  EXPECT_EQ(Run(), 2);
  EXPECT_EQ(err_.str(), Cat("armature: ", path(), ": table.name is required\n"));
  std::filesystem::remove(path());
  EXPECT_EQ(Run(), 2);
  EXPECT_THAT(err_.str(), HasSubstr("cannot read file"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(AdviseCommandTest, ContradictingTheLiveTableIsAMistake) {
  StartDaemon();
  Write(R"({"table": {"key": {"partition": "a"}, "attributes": {"a": {}}}, "patterns": [{"equality": "a"}]})");
  EXPECT_EQ(Run({"--table", "T"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("table.key: the live table T has the key k"));
}

TEST_F(AdviseCommandTest, SilenceOfTheDaemonIsNoMistakeOfTheFile) {
  StartDaemon();
  server_->Shutdown();
  EXPECT_EQ(Run({"--table", "T", "--timeout", "1"}), 3);
}

TEST_F(AdviseCommandTest, HelpEndsWithExamples) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("Examples:"));
}

}  // namespace armature::cli::advise_command_test
