#include "engine/partiql/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/partiql/key_terms.h"
#include "storage/base/api_error.h"

namespace armature::engine::partiql {

std::string ParseErrorOf(std::string_view text) {
  const absl::StatusOr<Statement> parsed = ParseStatement(text, {});
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

Statement Parsed(std::string_view text) {
  absl::StatusOr<Statement> parsed = ParseStatement(text, {});
  EXPECT_TRUE(parsed.ok()) << parsed.status() << " " << text;
  return parsed.ok() ? *std::move(parsed) : Statement();
}

TEST(PartiqlParser, ReadsThePartsOfASelect) {
  const Statement statement = Parsed("SELECT a.b[2], \"c-d\" FROM \"t\".\"i\" WHERE x = 1 ORDER BY y DESC, z");
  EXPECT_EQ(statement.kind, Statement::Kind::kSelect);
  EXPECT_EQ(statement.table, "t");
  EXPECT_EQ(statement.index, "i");
  ASSERT_EQ(statement.columns.size(), 2u);
  EXPECT_EQ(statement.columns[0].elements.size(), 3u);
  EXPECT_EQ(statement.columns[1].attribute(), "c-d");
  ASSERT_EQ(statement.order.size(), 2u);
  EXPECT_TRUE(statement.order[0].descending);
  EXPECT_FALSE(statement.order[1].descending);
}

TEST(PartiqlParser, BindsOrLooserThanAndAndAndLooserThanNot) {
  const Statement statement = Parsed("SELECT * FROM t WHERE NOT a = 1 AND b = 2 OR c = 3");
  ASSERT_EQ(statement.where->kind, Condition::Kind::kOr);
  ASSERT_EQ(statement.where->children[0].kind, Condition::Kind::kAnd);
  EXPECT_EQ(statement.where->children[0].children[0].kind, Condition::Kind::kNot);
  EXPECT_EQ(statement.where->children[1].kind, Condition::Kind::kComparison);
}

TEST(PartiqlParser, RefusesDeepNestingOfEachKind) {
  const auto repeated = [](std::string_view text) {
    std::string all;
    for (int i = 0; i < 2000; ++i) all += text;
    return all;
  };
  for (const std::string& text :
       {"SELECT * FROM t WHERE " + repeated("(") + "a = 1", "SELECT * FROM t WHERE " + repeated("NOT ") + "a = 1",
        "INSERT INTO t VALUE {'a': " + repeated("["), "INSERT INTO t VALUE " + repeated("{'a': "),
        "UPDATE t SET a = " + repeated("list_append("), "SELECT * FROM t WHERE " + repeated("size("),
        "UPDATE t SET a = " + repeated("<<"), "SELECT * FROM t WHERE a = " + repeated("<<1, ["), repeated("("),
        repeated("CASE "), repeated("x("), repeated("[{1: ")}) {
    EXPECT_NE(ParseErrorOf(text), "") << text.substr(0, 40);
  }
}

TEST(PartiqlParser, SetsInsideOfSetsEndAtTheLimit) {
  for (const std::string_view nested : {"<<", "<<[", "<<{'a': "}) {
    std::string text = "SELECT * FROM t WHERE a = ";
    for (int i = 0; i < 1000; ++i) text += nested;
    EXPECT_NE(ParseErrorOf(text).find("Nesting Levels"), std::string::npos) << nested;
  }
}

TEST(PartiqlParser, EveryPrefixOfAStatementIsRefusedOrAStatement) {
  const std::string text =
      "UPDATE \"t\" SET a = <<1, 2>> REMOVE b[1].c WHERE k = 'it''s' AND x BETWEEN -1 AND .5e3 /* c */ RETURNING ALL "
      "NEW *";
  for (size_t size = 0; size <= text.size(); ++size) {
    const absl::StatusOr<Statement> parsed = ParseStatement(std::string_view(text).substr(0, size), {});
    EXPECT_TRUE(parsed.ok() || GetApiError(parsed.status()).has_value()) << size;
  }
  EXPECT_EQ(ParseErrorOf(text), "");
}

TEST(PartiqlParser, ComparedConditionsBecomeJunctions) {
  const Condition equal = *Parsed("SELECT * FROM t WHERE attribute_exists(a) = (b > 1)").where;
  ASSERT_EQ(equal.kind, Condition::Kind::kOr);
  EXPECT_EQ(equal.children[0].kind, Condition::Kind::kAnd);
  EXPECT_EQ(equal.children[1].children[0].kind, Condition::Kind::kNot);
  EXPECT_EQ(Parsed("SELECT * FROM t WHERE (a = 1) = true").where->kind, Condition::Kind::kComparison);
  EXPECT_EQ(Parsed("SELECT * FROM t WHERE NOT NOT (a = 1) <> false").where->kind, Condition::Kind::kNot);
}

TEST(PartiqlParser, ComparedConditionsAreBounded) {
  std::string text = "a = 1";
  for (int i = 0; i < 40; ++i) text = "(" + text + ") = (b = " + std::to_string(i) + ")";
  EXPECT_NE(ParseErrorOf("SELECT * FROM t WHERE " + text), "");
}

TEST(PartiqlParser, EveryErrorHasAReason) {
  for (const char* text :
       {"", ";", "#", "'", "\"", "/*", "`1`", "SELECT * FROM t WHERE a = 5e", "SELECT * FROM t WHERE a = 1e99999999999",
        "SELECT * FROM t WHERE a = 'x", "SELECT * FROM t -- x\n;;", "SELECT * FROM t WHERE a = \xff"}) {
    const std::string error = ParseErrorOf(text);
    EXPECT_FALSE(error.empty() || error.ends_with(": ")) << text << ": " << error;
  }
}

TEST(PartiqlParser, NamesThePlaceOfAFault) {
  EXPECT_EQ(ParseErrorOf("SELECT *\nFROM\n  user"),
            "Statement wasn't well formed, can't be processed: Unexpected path component at 3:3:4");
}

TEST(PartiqlKeyTerms, FindsTheLongestPrefixOfTheSortKey) {
  const model::KeySchema schema{{{"p", model::ScalarType::kString}},
                                {{"s", model::ScalarType::kString}, {"t", model::ScalarType::kNumber}}};
  const Statement statement = Parsed("SELECT * FROM x WHERE t > 1 AND p IN ('a', 'b') AND 'k' = s AND v = 1");
  const absl::StatusOr<KeyReads> found = FindKeyReads(schema, Conjuncts(*statement.where));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->reads.size(), 2u);
  EXPECT_EQ(found->reads[0].sort.size(), 2u);
  EXPECT_EQ(found->others.size(), 1u);
  const Statement gap = Parsed("SELECT * FROM x WHERE p = 'a' AND t > 1");
  EXPECT_TRUE(FindKeyReads(schema, Conjuncts(*gap.where))->reads[0].sort.empty());
}

TEST(PartiqlKeyTerms, TurnsAComparisonAround) {
  const Statement statement = Parsed("SELECT * FROM x WHERE 3 <= a");
  EXPECT_EQ(AttributeFirst(*statement.where).comparator, ">=");
  EXPECT_EQ(AttributeFirst(*statement.where).operands[0].path.attribute(), "a");
}

}  // namespace armature::engine::partiql
