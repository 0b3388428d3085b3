#include "tools/armature/sql/quoted_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armature::cli::quoted_texts_test {

using testing::HasSubstr;

absl::Status Check(std::string_view statement) {
  const auto tokens = TokenizeSql(statement);
  return tokens.ok() ? CheckQuotedTexts(*tokens) : tokens.status();
}

TEST(QuotedTexts, TextsInDoubleQuotesAreRefused) {
  for (const std::string_view condition :
       {"id = \"x\"", "id<>\"x\"", "a = 1 AND id >= \"x\"", "NOT (id = \"x\")", "id IN (\"x\")", "id IN [1, \"x\"]",
        "id BETWEEN \"x\" AND 'y'", "id BETWEEN 'a' AND \"x\"", "\"id\" = \"x\" AND b = 1"}) {
    const std::string statement = "SELECT * FROM t WHERE " + std::string(condition);
    const absl::Status status = Check(statement);
    ASSERT_FALSE(status.ok()) << statement;
    EXPECT_THAT(status.message(), HasSubstr("'x' is a text, \"x\" is an attribute")) << statement;
    EXPECT_EQ(PlaceOf(status, statement)->begin, statement.find("\"x\"")) << statement;
  }
  EXPECT_FALSE(Check("DELETE FROM t WHERE id = \"x\"").ok());
  EXPECT_FALSE(Check("UPDATE t SET a = 1 WHERE id = \"x\"").ok());
}

TEST(QuotedTexts, AttributesPass) {
  for (const std::string_view statement :
       {"SELECT * FROM t WHERE amount > (\"limit\")", "SELECT * FROM t WHERE amount > other",
        "SELECT * FROM t WHERE \"limit\" = 1", "SELECT * FROM t WHERE a = \"b\".c",
        "SELECT * FROM t WHERE a = \"b\"[0]", "SELECT * FROM \"x\"", "SELECT \"a\" FROM t ORDER BY \"a\"",
        "UPDATE t SET a = \"b\" WHERE id = 'x'", "SELECT * FROM t WHERE a IN ((\"b\"), 'c')",
        "SELECT * FROM t WHERE contains(\"a\", 'x')", "INSERT INTO t VALUE {'id': 'a'}",
        "SELECT * FROM t WHERE a BETWEEN 1 AND 2 AND \"b\" = 3", "SELECT * FROM t WHERE a IN",
        "FROM t WHERE id = 'a' SET b = \"c\""}) {
    EXPECT_TRUE(Check(statement).ok()) << statement << ": " << Check(statement);
  }
}

}  // namespace armature::cli::quoted_texts_test
