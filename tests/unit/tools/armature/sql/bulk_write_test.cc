// UPDATE and DELETE of many items against a fake daemon in this process.
#include "tools/armature/sql/bulk_write.h"

#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "armature/api/v1/service.grpc.pb.h"
#include "storage/base/strings.h"

namespace armature::cli::bulk_write_test {

using testing::HasSubstr;

class FakeTables final : public api::v1::TableService::Service {
 public:
  grpc::Status DescribeTable(grpc::ServerContext*, const api::v1::DescribeTableRequest*,
                             api::v1::DescribeTableResponse* response) override {
    api::v1::KeySchemaElement& key = *response->mutable_table()->add_key_schema();
    key.set_attribute_name("id");
    key.set_key_type(api::v1::KEY_TYPE_HASH);
    return grpc::Status::OK;
  }
};

// Has two items, and answers so many statements of a batch.
class FakeStatements final : public api::v1::StatementService::Service {
 public:
  grpc::Status ExecuteStatement(grpc::ServerContext*, const api::v1::ExecuteStatementRequest*,
                                api::v1::ExecuteStatementResponse* response) override {
    for (const char* id : {"a", "b"}) (*response->add_items()->mutable_attributes())["id"].set_s(id);
    return grpc::Status::OK;
  }

  grpc::Status BatchExecuteStatement(grpc::ServerContext*, const api::v1::BatchExecuteStatementRequest*,
                                     api::v1::BatchExecuteStatementResponse* response) override {
    for (int i = 0; i < answers; ++i) response->add_responses();
    return grpc::Status::OK;
  }

  int answers = 2;
};

class BulkWriteTest : public testing::Test {
 protected:
  void SetUp() override {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&tables_);
    builder.RegisterService(&statements_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    endpoint_ = Cat("127.0.0.1:", port);
  }

  // The message of the statement, or its error.
  std::string Run(std::string_view text) {
    std::ostringstream out;
    Session::Options options;
    options.endpoint = endpoint_;
    options.yes = true;
    const Session session(options, out, out, /*is_progress_live=*/false);
    const auto client = session.Connect();
    const auto statement = ParseBulk(*TokenizeSql(text));
    const SqlContext context{.session = session, .client = *client, .is_interrupted = [] { return false; }};
    const absl::StatusOr<SqlResult> result = RunBulk(context, text, **statement);
    return result.ok() ? result->text : std::string(Sv(result.status().message()));
  }

  FakeTables tables_;
  FakeStatements statements_;
  std::unique_ptr<grpc::Server> server_;
  std::string endpoint_;
};

TEST_F(BulkWriteTest, EachStatementOfABatchHasAnAnswer) {
  EXPECT_THAT(Run("DELETE FROM t"), HasSubstr("2 items of t deleted"));
  for (const int answers : {0, 1, 3}) {
    statements_.answers = answers;
    EXPECT_EQ(Run("DELETE FROM t"), Cat("the daemon has answered ", answers, " of 2 statements"));
  }
}

TEST_F(BulkWriteTest, EachQuestionMarkHasAParameter) {
  EXPECT_EQ(Run("DELETE FROM t WHERE a = ?"), "the statement needs as many --parameters as it has question marks");
}

}  // namespace armature::cli::bulk_write_test
