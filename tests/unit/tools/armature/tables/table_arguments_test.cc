#include "tools/armature/tables/table_arguments.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tools/armature/tables/used_table.h"

namespace armature::cli::table_arguments_test {

using testing::ElementsAre;
using testing::HasSubstr;

class TableArgumentsTest : public testing::Test {
 protected:
  TableArgumentsTest()
      : state_(Cat(testing::TempDir(), "table_arguments_", testing::UnitTest::GetInstance()->random_seed())) {
    setenv("XDG_STATE_HOME", state_.c_str(), 1);
    Session::Options options;
    options.endpoint = "127.0.0.1:1";  // nobody listens there
    options.timeout_seconds = 1;
    session_.emplace(options, out_, out_, false);
  }
  ~TableArgumentsTest() override {
    unsetenv("XDG_STATE_HOME");
    std::filesystem::remove_all(state_);
  }

  // Parses the arguments with fresh commands. Returns the table, or the error.
  std::string Parse(std::vector<std::string> arguments) {
    CLI::App app;
    std::string request;
    table_.clear();
    files_.clear();
    CLI::App& export_command = *app.add_subcommand("export");
    export_command.add_option("--table-name", table_)->required();
    export_command.add_option("--to", to_);
    CLI::App& load = *app.add_subcommand("load");
    load.add_option("--table-name", table_)->required();
    load.add_option("FILE", files_)->required();
    CLI::App& watch = *app.add_subcommand("watch");
    watch.add_option("table", table_)->required();
    app.add_subcommand("verify")->add_option("--table-name", table_);
    CLI::App& get = *app.add_subcommand("get");
    get.add_option("TABLE", table_)->required();
    get.add_option("KEY", files_)->expected(1, 2);
    CLI::App& del = *app.add_subcommand("del");
    del.add_option("TABLE", table_)->required();
    del.add_option("KEY", files_)->expected(1, 2);
    CLI::App& put = *app.add_subcommand("put");
    put.add_option("TABLE", table_)->required();
    put.add_option("ITEM", to_)->required();
    CLI::App& query = *app.add_subcommand("query");
    query.add_option("TABLE", table_);
    query.add_option("TERM", files_)->expected(0, 100);
    query.add_option("--table-name", to_);
    query.add_option("--cli-input-json", request);
    app.add_subcommand("drop")->add_option("TABLE", table_)->required();
    CLI::App& group = *app.add_subcommand("table");
    CLI::App& describe = *group.add_subcommand("describe");
    describe.add_option("--table-name", table_);
    describe.add_option("--cli-input-json", request);
    const TableArguments tables(app);
    std::reverse(arguments.begin(), arguments.end());
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    const absl::Status status = tables.Fill(*session_);
    return status.ok() ? table_ : std::string(status.message());
  }

  const std::string state_;
  std::ostringstream out_;
  std::optional<Session> session_;
  std::string table_;
  std::string to_;
  std::vector<std::string> files_;
};

TEST_F(TableArgumentsTest, OptionAndArgumentNameTheTable) {
  EXPECT_EQ(Parse({"export", "--table-name", "T", "--to", "d"}), "T");
  EXPECT_EQ(Parse({"export", "T", "--to", "d"}), "T");
  EXPECT_EQ(Parse({"export", "--to", "d", "T"}), "T");
  EXPECT_EQ(Parse({"table", "describe", "T"}), "T");
  EXPECT_EQ(Parse({"verify", "T"}), "T");
}

TEST_F(TableArgumentsTest, ATableIsGivenOnce) {
  EXPECT_THAT(Parse({"export", "T", "--table-name", "U"}), HasSubstr("the table is given twice"));
}

TEST_F(TableArgumentsTest, ARequiredTableIsMissed) {
  EXPECT_THAT(Parse({"export", "--to", "d"}), HasSubstr("--table-name is required"));
  EXPECT_THAT(Parse({"watch"}), HasSubstr("table is required"));
  EXPECT_EQ(Parse({"verify"}), "") << "all tables";
}

TEST_F(TableArgumentsTest, TheFirstOfSeveralWordsIsTheTable) {
  EXPECT_EQ(Parse({"load", "--table-name", "T", "a", "b"}), "T");
  EXPECT_THAT(files_, ElementsAre("a", "b"));
  EXPECT_EQ(Parse({"load", "a", "b", "--table-name", "T"}), "T");
  EXPECT_THAT(files_, ElementsAre("a", "b"));
  EXPECT_EQ(Parse({"load", "T", "a", "b"}), "T");
  EXPECT_THAT(files_, ElementsAre("a", "b"));
  EXPECT_THAT(Parse({"load", "a"}), HasSubstr("--table-name is required"));
}

TEST_F(TableArgumentsTest, TheTableInUseFillsTheGap) {
  ASSERT_TRUE(SetUsedTable(*session_, "Used").ok());
  EXPECT_EQ(Parse({"export", "--to", "d"}), "Used");
  EXPECT_EQ(Parse({"export", "T", "--to", "d"}), "T");
  EXPECT_EQ(Parse({"watch"}), "Used");
  EXPECT_EQ(Parse({"load", "a"}), "Used");
  EXPECT_THAT(files_, ElementsAre("a"));
  EXPECT_EQ(Parse({"table", "describe"}), "Used");
  EXPECT_EQ(Parse({"table", "describe", "--cli-input-json", "{}"}), "") << "the request has the table";
}

TEST_F(TableArgumentsTest, TheTableInUseIsNeverMeantByCommandsThatDelete) {
  ASSERT_TRUE(SetUsedTable(*session_, "Used").ok());
  EXPECT_THAT(Parse({"drop"}), HasSubstr("TABLE is required"));
  EXPECT_EQ(Parse({"verify"}), "") << "all tables";
}

TEST_F(TableArgumentsTest, TheTableInUseStandsBeforeKeysAndConditions) {
  EXPECT_EQ(Parse({"put", "T"}), "ITEM is required");
  EXPECT_EQ(Parse({"get", "."}), "no table is in use: armature use TABLE");
  EXPECT_EQ(Parse({"get", "T", "K9"}), "T");
  ASSERT_TRUE(SetUsedTable(*session_, "used").ok());
  EXPECT_EQ(Parse({"get", "K9"}), "used");
  EXPECT_THAT(files_, ElementsAre("K9"));
  EXPECT_EQ(Parse({"get", "Amazon S3", "S3 Thread 2"}), "used");
  EXPECT_THAT(files_, ElementsAre("Amazon S3", "S3 Thread 2"));
  EXPECT_EQ(Parse({"get", ".", "A", "B"}), "used");
  EXPECT_THAT(files_, ElementsAre("A", "B"));
  EXPECT_EQ(Parse({"get", "T", "K9"}), "T");
  EXPECT_EQ(Parse({"put", "{\"a\": 1}"}), "used");
  EXPECT_EQ(to_, "{\"a\": 1}");
  EXPECT_EQ(Parse({"query", "status=open"}), "used");
  EXPECT_THAT(files_, ElementsAre("status=open"));
  EXPECT_EQ(Parse({"query", "T/ByStatus", "status=open"}), "T/ByStatus");
  EXPECT_EQ(Parse({"query", "T"}), "T");
  EXPECT_EQ(Parse({"query", "./ByStatus", "open"}), "used/ByStatus");
}

TEST_F(TableArgumentsTest, ADotIsTheTableInUseInEachPlace) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"export", "."},
                                             {"export", "--table-name", "."},
                                             {"watch", "."},
                                             {"load", ".", "a"},
                                             {"get", ".", "a"},
                                             {"query", "."},
                                             {"table", "describe", "."}}) {
    ASSERT_TRUE(SetUsedTable(*session_, "").ok());
    EXPECT_EQ(Parse(arguments), "no table is in use: armature use TABLE") << testing::PrintToString(arguments);
    ASSERT_TRUE(SetUsedTable(*session_, "used").ok());
    EXPECT_EQ(Parse(arguments), "used") << testing::PrintToString(arguments);
  }
  EXPECT_EQ(Parse({"query", "--table-name", "."}), "");
  EXPECT_EQ(to_, "used") << "the long form";
  EXPECT_EQ(Parse({"load", ".", "a", "b"}), "used");
  EXPECT_THAT(files_, ElementsAre("a", "b"));
}

TEST_F(TableArgumentsTest, CommandsWithoutTheTableInUseTakeNoDot) {
  ASSERT_TRUE(SetUsedTable(*session_, "used").ok());
  EXPECT_EQ(Parse({"drop", "."}), "this command takes no table in use");
  EXPECT_EQ(Parse({"verify", "."}), "this command takes no table in use");
}

TEST_F(TableArgumentsTest, IndexesOfAnArnStandBehindAWord) {
  ASSERT_TRUE(SetUsedTable(*session_, "arn:aws:dynamodb:local:0:table/used").ok());
  EXPECT_EQ(Parse({"query", "."}), "arn:aws:dynamodb:local:0:table/used");
  EXPECT_EQ(Parse({"query", "./ByStatus", "open"}), "arn:aws:dynamodb:local:0:table/used/index/ByStatus");
}

TEST_F(TableArgumentsTest, WordsAreKeysOnlyIfTheDaemonAnswers) {
  ASSERT_TRUE(SetUsedTable(*session_, "used").ok());
  EXPECT_THAT(Parse({"del", "word"}), HasSubstr("refuses the connection")) << "it may be a table";
  EXPECT_EQ(Parse({"del", "no table"}), "used");
  EXPECT_EQ(Parse({"del", ".", "word"}), "used");
  EXPECT_EQ(Parse({"del", "T", "word"}), "T");
}

}  // namespace armature::cli::table_arguments_test
