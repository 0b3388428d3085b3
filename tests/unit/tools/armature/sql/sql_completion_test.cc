#include "tools/armature/sql/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armature::cli::sql_completion_test {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class FakeNames final : public SqlNames {
 public:
  std::vector<std::string> Tables() override { return {"Orders", "Order-Lines", "users"}; }
  std::vector<std::string> Indexes(const std::string& table) override {
    return table == "Orders" ? std::vector<std::string>{"ByState", "by.date"} : std::vector<std::string>{};
  }
  std::vector<std::string> Attributes(const std::string& table) override {
    return table == "Orders" ? std::vector<std::string>{"Id", "State", "select"} : std::vector<std::string>{"other"};
  }
};

std::vector<std::string> Words(std::string_view text) {
  FakeNames names;
  return Complete(text, &names).words;
}

TEST(Completion, BeginsWithStatementsAndCommands) {
  EXPECT_THAT(Words(""), IsSupersetOf({"DELETE", "INSERT", "SELECT", "UPDATE", "\\d", "\\x"}));
  EXPECT_THAT(Words("se"), ElementsAre("select"));
  EXPECT_THAT(Words("SE"), ElementsAre("SELECT"));
  EXPECT_THAT(Words("\\t"), ElementsAre("\\timing"));
}

TEST(Completion, TablesStandBehindFromIntoUpdateAndD) {
  EXPECT_THAT(Words("SELECT * FROM "), ElementsAre("\"Order-Lines\"", "Orders", "users"));
  EXPECT_THAT(Words("SELECT * FROM Orders"), ElementsAre("Orders"));
  EXPECT_THAT(Words("INSERT INTO u"), ElementsAre("users"));
  EXPECT_THAT(Words("update O"), ElementsAre("\"Order-Lines\"", "Orders"));
  EXPECT_THAT(Words("\\d u"), ElementsAre("users"));
  EXPECT_THAT(Words("SELECT * FROM \"Order-"), ElementsAre("\"Order-Lines\""));
}

TEST(Completion, IndexesStandBehindTheirTable) {
  EXPECT_THAT(Words("SELECT * FROM Orders."), ElementsAre("\"by.date\"", "ByState"));
  EXPECT_THAT(Words("SELECT * FROM \"Orders\".\"B"), ElementsAre("\"ByState\""));
  EXPECT_THAT(Words("SELECT * FROM users."), IsEmpty());
}

TEST(Completion, AttributesAreThoseOfTheTablesOfTheStatement) {
  EXPECT_THAT(Words("SELECT * FROM Orders WHERE "), IsSupersetOf({"Id", "State", "\"select\"", "AND"}));
  EXPECT_THAT(Words("SELECT * FROM Orders WHERE St"), ElementsAre("State"));
  EXPECT_THAT(Words("SELECT * FROM users WHERE "), Not(Contains("Id")));
  EXPECT_THAT(Words("UPDATE Orders\nSET "), Contains("State"));
}

TEST(Completion, StatementsOfOurs) {
  EXPECT_THAT(Words("sh"), ElementsAre("show create table", "show indexes of", "show tables"));
  EXPECT_THAT(Words("SHOW T"), ElementsAre("TABLES"));
  EXPECT_THAT(Words("EXPLAIN SEL"), ElementsAre("SELECT"));
  EXPECT_THAT(Words("SHOW INDEXES OF u"), ElementsAre("users"));
  EXPECT_THAT(Words("DROP TABLE u"), ElementsAre("users"));
  EXPECT_THAT(Words("DESC u"), ElementsAre("users"));
  EXPECT_THAT(Words("SELECT * FROM users ORDER BY other DESC "), Contains("LIMIT"));
  EXPECT_THAT(Words("ALTER TABLE Orders ADD GLO"), ElementsAre("GLOBAL"));
  EXPECT_THAT(Words("ALTER TABLE Orders DROP INDEX By"), ElementsAre("ByState"));
  EXPECT_THAT(Words("SELECT COU"), ElementsAre("COUNT"));
  EXPECT_THAT(Words("\\format js"), ElementsAre("json", "jsonl"));
  EXPECT_THAT(Words("\\copy u"), ElementsAre("users"));
  EXPECT_THAT(Words("\\copy users f"), ElementsAre("from"));
  EXPECT_THAT(Words("\\copy users from "), Not(Contains("Orders")));
}

TEST(Completion, TextsAreNotCompleted) {
  EXPECT_THAT(Words("SELECT * FROM Orders WHERE Id = 'S"), IsEmpty());
  EXPECT_THAT(Words("SELECT * FROM Orders WHERE Id = 'x' AN"), ElementsAre("AND"));
}

TEST(Completion, TellsWhereTheWordBegins) {
  FakeNames names;
  EXPECT_EQ(Complete("SELECT * FROM Or", &names).word_begin, 14u);
  EXPECT_EQ(Complete("SELECT * FROM \"Or", &names).word_begin, 14u);
  EXPECT_EQ(Complete("SELECT ", &names).word_begin, 7u);
}

TEST(Completion, CommonPrefixIsThatOfAllWords) {
  EXPECT_EQ(CommonPrefix({}), "");
  EXPECT_EQ(CommonPrefix({"Orders"}), "Orders");
  EXPECT_EQ(CommonPrefix({"Orders", "Order", "OrdX"}), "Ord");
  EXPECT_EQ(CommonPrefix({"a", "b"}), "");
}

}  // namespace armature::cli::sql_completion_test
