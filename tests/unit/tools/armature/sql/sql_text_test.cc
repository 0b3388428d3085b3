#include "tools/armature/sql/sql_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armature::cli::sql_text_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitStatements, EndAtSemicolons) {
  EXPECT_THAT(SplitStatements(""), IsEmpty());
  EXPECT_THAT(SplitStatements(" ;\n; "), IsEmpty());
  EXPECT_THAT(SplitStatements("SELECT * FROM a"), ElementsAre("SELECT * FROM a"));
  EXPECT_THAT(SplitStatements("SELECT * FROM a;\n  DELETE FROM b WHERE p = 1 ;"),
              ElementsAre("SELECT * FROM a", "DELETE FROM b WHERE p = 1"));
}

TEST(SplitStatements, NotInTextsNamesAndComments) {
  EXPECT_THAT(SplitStatements("SELECT * FROM \"a;b\" WHERE p = 'x;''y;' ; SELECT 1"),
              ElementsAre("SELECT * FROM \"a;b\" WHERE p = 'x;''y;'", "SELECT 1"));
  EXPECT_THAT(SplitStatements("-- first; line\nSELECT * -- all; of it\nFROM a;\n-- end"),
              ElementsAre("SELECT * \nFROM a"));
  EXPECT_THAT(SplitStatements("SELECT '--' FROM a; b"), ElementsAre("SELECT '--' FROM a", "b"));
  EXPECT_THAT(SplitStatements("SELECT 'no end; of it"), ElementsAre("SELECT 'no end; of it"));
}

TEST(SplitSql, KeepsTheStatementThatNothingEnds) {
  const SplitText whole = SplitSql("SELECT 1;");
  EXPECT_THAT(whole.statements, ElementsAre("SELECT 1"));
  EXPECT_EQ(whole.rest, "");
  EXPECT_EQ(whole.quote, 0);
  const SplitText half = SplitSql("SELECT 1; SELECT *\nFROM 'a;\n");
  EXPECT_THAT(half.statements, ElementsAre("SELECT 1"));
  EXPECT_EQ(half.rest, "SELECT *\nFROM 'a;");
  EXPECT_EQ(half.quote, '\'');
  EXPECT_EQ(SplitSql("SELECT \"a").quote, '"');
}

}  // namespace armature::cli::sql_text_test
