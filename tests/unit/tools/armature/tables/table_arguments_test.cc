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
    options.endpoint = "a:1";
    session_.emplace(options, out_, out_, false);
  }
  ~TableArgumentsTest() override {
    unsetenv("XDG_STATE_HOME");
    std::filesystem::remove_all(state_);
  }

  // Parses the arguments with fresh commands. Returns the table, or the error.
  std::string Parse(std::vector<std::string> arguments) {
    CLI::App app;
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
    app.add_subcommand("drop")->add_option("TABLE", table_)->required();
    CLI::App& group = *app.add_subcommand("table");
    CLI::App& describe = *group.add_subcommand("describe");
    describe.add_option("--table-name", table_);
    std::string request;
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

}  // namespace armature::cli::table_arguments_test
