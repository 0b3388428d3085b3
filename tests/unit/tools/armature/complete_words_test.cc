#include "tools/armature/complete_words.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/armature/tables/table_arguments.h"

namespace armature::cli::complete_words_test {

using testing::ElementsAre;
using testing::IsEmpty;

using Words = std::vector<std::string>;

class FakeNames final : public SqlNames {
 public:
  Words Tables() override { return {"Music", "Orders", "orders-old"}; }
  Words Indexes(const std::string& table) override { return {table + "ByDate", table + "ByState"}; }
  Words Attributes(const std::string& table) override { return {table + "Id"}; }
};

class CompleteWordsTest : public testing::Test {
 protected:
  CompleteWordsTest() {
    app_.add_option("--endpoint", text_)->type_name("ADDRESS");
    app_.add_option("--profile", text_);
    app_.add_option("--output", text_)->check(CLI::IsMember({"json", "table"}));
    CLI::App& group = *app_.add_subcommand("table");
    CLI::App& describe = *group.add_subcommand("describe");
    describe.add_option("--table-name", text_)->required();
    group.add_subcommand("delete")->add_option("--table-name", text_)->required();
    CLI::App& load = *app_.add_subcommand("load");
    load.add_option("--table-name", text_)->required();
    load.add_option("FILE", list_)->required()->type_name("FILE");
    load.add_flag("--resume", flag_);
    CLI::App& import = *app_.add_subcommand("import");
    import.add_option("--table-name", text_);
    import.add_option("DIR", text_)->required()->type_name("DIR");
    CLI::App& query = *app_.add_subcommand("query");
    query.add_option("--table-name", text_)->required();
    query.add_option("--index-name", text_);
    query.add_option("--projection-expression", text_);
    query.add_option("--tags", list_)->expected(1, 5);
    app_.add_subcommand("hidden")->group("");
    tables_.emplace(app_);
    names_.database = &database_;
    names_.profiles = {"default", "live"};
    names_.begins_with_table = TakesTableFirst;
  }

  Words Complete(const Words& words) { return CompleteWords(app_, words, names_).words; }
  bool HasFiles(const Words& words) { return CompleteWords(app_, words, names_).files; }

  CLI::App app_{"", "armature"};
  std::string text_;
  Words list_;
  bool flag_ = false;
  std::optional<TableArguments> tables_;
  FakeNames database_;
  NamesForCompletion names_;
};

TEST_F(CompleteWordsTest, Commands) {
  EXPECT_THAT(Complete({""}), ElementsAre("import", "load", "query", "table"));
  EXPECT_THAT(Complete({}), ElementsAre("import", "load", "query", "table"));
  EXPECT_THAT(Complete({"table", "de"}), ElementsAre("delete", "describe"));
  EXPECT_THAT(Complete({"--endpoint", "a:1", "table", "des"}), ElementsAre("describe"));
  EXPECT_THAT(Complete({"nothing", ""}), ElementsAre("import", "load", "query", "table"));
}

TEST_F(CompleteWordsTest, OptionsAndTheirValues) {
  EXPECT_THAT(Complete({"load", "--re"}), ElementsAre("--resume"));
  EXPECT_THAT(Complete({"table", "describe", "--out"}), ElementsAre("--output"));
  EXPECT_THAT(Complete({"--output", ""}), ElementsAre("json", "table"));
  EXPECT_THAT(Complete({"--output=t"}), ElementsAre("--output=table"));
  EXPECT_THAT(Complete({"--profile", ""}), ElementsAre("default", "live"));
  EXPECT_THAT(Complete({"--endpoint", ""}), IsEmpty());
  EXPECT_FALSE(HasFiles({"--endpoint", ""}));
}

TEST_F(CompleteWordsTest, TablesWhereTablesAreMeantAndNoFiles) {
  EXPECT_THAT(Complete({"table", "describe", ""}), ElementsAre("Music", "Orders", "orders-old"));
  EXPECT_THAT(Complete({"table", "describe", "or"}), ElementsAre("orders-old"));
  EXPECT_THAT(Complete({"query", "--table-name", "M"}), ElementsAre("Music"));
  EXPECT_THAT(Complete({"query", "--table-name=M"}), ElementsAre("--table-name=Music"));
  EXPECT_THAT(Complete({"load", ""}), ElementsAre("Music", "Orders", "orders-old"));
  for (const Words& words : {Words{"table", "describe", ""}, Words{"load", ""}, Words{"query", "--table-name", ""}}) {
    EXPECT_FALSE(HasFiles(words));
  }
  EXPECT_THAT(Complete({"table", "describe", "Orders", ""}), IsEmpty());
}

TEST_F(CompleteWordsTest, FilesWhereFilesAreMeant) {
  EXPECT_TRUE(HasFiles({"load", "Orders", ""}));
  EXPECT_TRUE(HasFiles({"load", "--table-name", "Orders", "--resume", ""}));
  EXPECT_TRUE(HasFiles({"import", ""}));
  EXPECT_FALSE(HasFiles({"query", ""}));
}

TEST_F(CompleteWordsTest, IndexesAndAttributesOfTheTable) {
  EXPECT_THAT(Complete({"query", "Orders", "--index-name", ""}), ElementsAre("OrdersByDate", "OrdersByState"));
  EXPECT_THAT(Complete({"query", "--table-name", "Orders", "--index-name", "OrdersByS"}), ElementsAre("OrdersByState"));
  EXPECT_THAT(Complete({"query", "Orders", "--projection-expression", ""}), ElementsAre("OrdersId"));
  EXPECT_THAT(Complete({"query", "--index-name", ""}), IsEmpty()) << "the table is not known";
  names_.used_table = "Used";
  EXPECT_THAT(Complete({"query", "--index-name", ""}), ElementsAre("UsedByDate", "UsedByState"));
}

TEST_F(CompleteWordsTest, OptionsWithSeveralValuesEndWithTheNextOption) {
  EXPECT_THAT(Complete({"query", "--tags", "a", "b", "--index-n"}), ElementsAre("--index-name"));
  EXPECT_THAT(Complete({"query", "--tags", "a", "--table-name", "M"}), ElementsAre("Music"));
}

TEST_F(CompleteWordsTest, BashSplitsWords) {
  const BashWords joined = JoinBashWords({"--endpoint", "127.0.0.1", ":", "7700", "query", "--table-name", "=", "Or"});
  EXPECT_THAT(joined.words, ElementsAre("--endpoint", "127.0.0.1:7700", "query", "--table-name=Or"));
  EXPECT_EQ(joined.kept, "--table-name=");
  const BashWords open = JoinBashWords({"query", "--table-name", "="});
  EXPECT_THAT(open.words, ElementsAre("query", "--table-name="));
  EXPECT_EQ(open.kept, "--table-name=");
  EXPECT_EQ(JoinBashWords({"query", "x"}).kept, "");
}

TEST_F(CompleteWordsTest, ConnectionOptionsGoToTheDaemon) {
  EXPECT_THAT(ConnectionOptions({"--endpoint", "a:1", "scan", "--tls", "--profile=live", "--limit", "3", ""}),
              ElementsAre("--endpoint", "a:1", "--tls", "--profile=live"));
  EXPECT_THAT(ConnectionOptions({"scan", "--endpoint", "a:"}), IsEmpty()) << "the value is being typed";
}

}  // namespace armature::cli::complete_words_test
