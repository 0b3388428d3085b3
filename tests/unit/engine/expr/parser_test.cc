#include "engine/expr/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/expr/binder.h"
#include "engine/expr/paths.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::parser_test {

using testing::BindError;

struct TextCase {
  ExpressionKind kind;
  std::string_view text;
};

constexpr ExpressionKind kUpdate = ExpressionKind::kUpdate;
constexpr ExpressionKind kCondition = ExpressionKind::kCondition;
constexpr ExpressionKind kFilter = ExpressionKind::kFilter;
constexpr ExpressionKind kKey = ExpressionKind::kKeyCondition;
constexpr ExpressionKind kProjection = ExpressionKind::kProjection;

struct SyntaxCase {
  ExpressionKind kind;
  std::string_view text;
  std::string_view token;
  std::string_view near;
};

constexpr SyntaxCase kSyntaxErrors[] = {
    {kUpdate, "INVALID SYNTAX HERE", "INVALID", "INVALID SYNTAX"},
    {kCondition, "INVALID SYNTAX HERE", "SYNTAX", "INVALID SYNTAX HERE"},
    {kFilter, "!!!", "!", "!!"},
    {kFilter, "a", "<EOF>", "a"},
    {kFilter, ":s", "<EOF>", ":s"},
    {kFilter, "(a)", "<EOF>", ")"},
    {kFilter, "   ", "<EOF>", "   "},
    {kFilter, "a = ", "<EOF>", "="},
    {kFilter, "a = :s AND", "<EOF>", "AND"},
    {kFilter, "a = :s b", "b", ":s b"},
    {kFilter, "a AND b = :s", "AND", "a AND b"},
    {kFilter, "NOT a", "<EOF>", "a"},
    {kFilter, "a = = :s", "=", "= = :s"},
    {kFilter, "user-id = :s", "-", "user-id"},
    {kFilter, "a = 5", "5", "= 5"},
    {kFilter, "a = \"x\"", "\"", "= \"x"},
    {kFilter, "_a = :s", "_", "_a"},
    {kFilter, "1a = :s", "1", "1a"},
    {kFilter, "# = :s", "#", "# ="},
    {kFilter, "a = :", ":", "= :"},
    {kFilter, "a. = :s", "=", ". = :s"},
    {kFilter, "a.0 = :s", "0", ".0 ="},
    {kFilter, "a[b] = :s", "b", "[b]"},
    {kFilter, "a[-1] = :s", "-", "[-1"},
    {kFilter, "a[:n] = :s", ":n", "[:n]"},
    {kFilter, "[0] = :s", "[", "[0"},
    {kFilter, "a.b[0", "<EOF>", "0"},
    {kFilter, "a = (b = :s)", "=", "b = :s"},
    {kFilter, "(a = :s", "<EOF>", ":s"},
    {kFilter, "a = :s)", ")", ":s)"},
    {kFilter, "(a = :s) = :s", "=", ") = :s"},
    {kFilter, "()", ")", "()"},
    {kFilter, "a IN ()", ")", "()"},
    {kFilter, "a IN :s", ":s", "IN :s"},
    {kFilter, "a IN (:s,)", ")", ",)"},
    {kFilter, "a BETWEEN :n", "<EOF>", ":n"},
    {kFilter, "a BETWEEN :n OR :n2", "OR", ":n OR :n2"},
    {kFilter, "size()", ")", "()"},
    {kFilter, "size(a b)", "b", "a b)"},
    {kFilter, "contains(a, :s AND b = :s", "AND", ":s AND b"},
    {kFilter, "a < b < c", "<", "b < c"},
    {kFilter, "a = and", "and", "= and"},
    {kFilter, "a == :s", "=", "== :s"},
    {kFilter, "a != :s", "!", "a !="},
    {kFilter, "a \xC3\xA9 b", "\xC3\xA9", "a \xC3\xA9 b"},
    {kKey, "h = :s,", ",", ":s,"},
    {kProjection, "a,", "<EOF>", ","},
    {kProjection, "a b", "b", "a b"},
    {kProjection, ":missing", ":missing", ":missing"},
    {kProjection, "a, size(b)", "(", "size(b"},
    {kProjection, "(a)", "(", "(a"},
    {kUpdate, "a = :s", "a", "a ="},
    {kUpdate, "SET", "<EOF>", "SET"},
    {kUpdate, "SET a", "<EOF>", "a"},
    {kUpdate, "SET a = :n + :n + :n", "+", ":n + :n"},
    {kUpdate, "SET a = (:n + :n) + :n", "+", ") + :n"},
    {kUpdate, "SET a = list_append(a, :n + :n)", "+", ":n + :n"},
    {kUpdate, "SET a = :n, REMOVE b", "REMOVE", ", REMOVE b"},
    {kUpdate, "SET :n = a", ":n", "SET :n ="},
    {kUpdate, "SET a + :n", "+", "a + :n"},
    {kUpdate, "ADD a b", "b", "a b"},
    {kUpdate, "ADD a = :n", "=", "a = :n"},
    {kUpdate, "DELETE a", "<EOF>", "a"},
    {kUpdate, "REMOVE a :n", ":n", "a :n"},
};

TEST(Parser, NamesTokenAndNeighboursInSyntaxErrors) {
  for (const SyntaxCase& c : kSyntaxErrors) {
    EXPECT_EQ(BindError(c.kind, c.text),
              Cat("Invalid ", KindName(c.kind), ": Syntax error; token: \"", c.token, "\", near: \"", c.near, "\""))
        << c.text;
  }
}

constexpr TextCase kLegal[] = {
    {kFilter, "a=:s"},
    {kFilter, " \t\r\n a \t=\r\n :s "},
    {kFilter, "(a) = (:s)"},
    {kFilter, "((a) = :s)"},
    {kFilter, "((a = :s) AND b = :s)"},
    {kFilter, "(a = :s) AND (b = :s)"},
    {kFilter, "(a = :s AND (b = :s OR (c = :s)))"},
    {kFilter, "(NOT (a = :s))"},
    {kFilter, "not a = :s And b = :s oR c in (:s) aND d bETWEEN :n and :n2"},
    {kFilter, "(attribute_exists(a))"},
    {kFilter, "attribute_exists((a))"},
    {kFilter, "(size(a)) > (:n)"},
    {kFilter, "attribute_exists (a . b [ 0 ] . c)"},
    {kFilter, "a[0][1].b[2] = :s"},
    {kFilter, "a IN ((b), (:s))"},
    {kFilter, "a BETWEEN (:n) AND (:n2)"},
    {kFilter, "#a.#b[3] = :s"},
    {kFilter, "a_1 = :s AND B2_ = :s"},
    {kProjection, "a, b.c, d[0], #dotted"},
    {kUpdate, "SET a = :s"},
    {kUpdate, "set a = (b + :n), c = (d), e = (f) - (g) rEMOVE h, i[2] add j :n, k :ns dElete l :ss"},
    {kUpdate, "SET a = if_not_exists(b, if_not_exists(c, :n)) + :n"},
    {kUpdate, "SET a = list_append(if_not_exists(a, :l), (:l))"},
    {kUpdate, "SET a = ((b) + :n)"},
};

TEST(Parser, AcceptsTheGrammar) {
  for (const TextCase& c : kLegal) EXPECT_EQ(BindError(c.kind, c.text), "OK") << c.text;
}

constexpr TextCase kRedundant[] = {
    {kFilter, "((a = :s))"},
    {kFilter, "((a)) = :s"},
    {kFilter, "a = ((:s))"},
    {kFilter, "NOT ((a = :s))"},
    {kFilter, "((a = :s AND b = :s))"},
    {kFilter, "(((a = :s)) AND b = :s)"},
    {kFilter, "((size(a))) > :n"},
    {kFilter, "size(((a))) > :n"},
    {kFilter, "((attribute_exists(a)))"},
    {kFilter, "a IN (((:s)))"},
    {kKey, "((h = :s))"},
    {kUpdate, "SET a = ((b))"},
    {kUpdate, "SET a = ((b + :n))"},
    {kUpdate, "SET a = ((b)) + :n"},
    {kUpdate, "SET a = b + ((:n))"},
};

TEST(Parser, RefusesRedundantParentheses) {
  for (const TextCase& c : kRedundant) {
    EXPECT_EQ(BindError(c.kind, c.text),
              Cat("Invalid ", KindName(c.kind), ": The expression has redundant parentheses;"))
        << c.text;
  }
}

TEST(Parser, RefusesAnEmptyText) {
  for (const ExpressionKind kind : {kUpdate, kCondition, kFilter, kKey, kProjection}) {
    EXPECT_EQ(BindError(kind, ""), Cat("Invalid ", KindName(kind), ": The expression can not be empty;"));
  }
}

TEST(Parser, BindsNotBeforeAndBeforeOr) {
  FaultLog faults;
  const auto condition = ParseCondition(kFilter, "NOT a = :x AND b BETWEEN :x AND :y OR c = :x", &faults);
  ASSERT_TRUE(condition.ok());
  const auto* either = std::get_if<Junction>(&condition->root.node);
  ASSERT_NE(either, nullptr);
  EXPECT_EQ(either->kind, Junction::Kind::kOr);
  ASSERT_EQ(either->terms.size(), 2u);
  const auto* both = std::get_if<Junction>(&either->terms[0].node);
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->kind, Junction::Kind::kAnd);
  ASSERT_EQ(both->terms.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Negation>(both->terms[0].node));
  EXPECT_TRUE(std::holds_alternative<Between>(both->terms[1].node));
}

TEST(Parser, KnowsReservedWordsInAnyCase) {
  EXPECT_TRUE(IsReservedWord("ABORT"));
  EXPECT_TRUE(IsReservedWord("abort"));
  EXPECT_TRUE(IsReservedWord("Zone"));
  EXPECT_TRUE(IsReservedWord("status"));
  EXPECT_FALSE(IsReservedWord("matchId"));
  EXPECT_FALSE(IsReservedWord(""));
}

std::string Repeat(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(ParserLimits, SizeComesBeforeSyntax) {
  EXPECT_EQ(BindError(kFilter, "a = :s" + std::string(4090, ' ')), "OK");
  EXPECT_EQ(BindError(kFilter, std::string(4097, '(')),
            "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; "
            "expression size: 4097");
}

TEST(ParserLimits, CountsOperatorsButNotParenthesesAndFunctions) {
  const std::string exists = "attribute_exists(a)";
  // Each NOT is one operator.
  const std::string negations = Repeat("NOT ", 299);
  EXPECT_EQ(BindError(kFilter, negations + "(a = :s)"), "OK");
  const std::string_view text =
      "Invalid FilterExpression: The expression contains too many operators; operator count: ";
  EXPECT_EQ(BindError(kFilter, negations + "NOT a = :s"), Cat(text, 301));
  // 150 comparisons and 149 ORs are 299 operators. BETWEEN with its AND is one operator.
  const std::string comparisons = "a=:s" + Repeat(" OR a=:s", 149);
  EXPECT_EQ(BindError(kFilter, comparisons), "OK");
  EXPECT_EQ(BindError(kFilter, comparisons + " OR " + exists), "OK");
  EXPECT_EQ(BindError(kFilter, comparisons + " OR a BETWEEN :n AND :n2"), Cat(text, 301));
  EXPECT_EQ(BindError(kFilter, comparisons + " OR a IN (:s)"), Cat(text, 301));
}

TEST(ParserLimits, CountsPlusAndMinusInUpdatesButNotAssignments) {
  std::string update = "SET ";
  for (int i = 0; i < 300; ++i) update += Cat(i > 0 ? "," : "", "a[", i, "]=b+:n");
  EXPECT_EQ(BindError(kUpdate, update), "OK");
  EXPECT_EQ(BindError(kUpdate, update + ",c=b-:n"),
            "Invalid UpdateExpression: The expression contains too many operators; operator count: "
            "301");
}

TEST(ParserLimits, BoundsTheOperandsOfIn) {
  const std::string list = "a IN (:s" + Repeat(",:s", 99);
  EXPECT_EQ(BindError(kFilter, list + ")"), "OK");
  EXPECT_EQ(BindError(kFilter, list + ",:s)"),
            "Invalid FilterExpression: The IN operator is provided with too many operands; number "
            "of operands: 101");
}

TEST(ParserLimits, BoundsPathDepth) {
  EXPECT_EQ(BindError(kProjection, "a" + Repeat("[0]", 31)), "OK");
  EXPECT_EQ(BindError(kProjection, "a" + Repeat(".b", 32)),
            "Invalid ProjectionExpression: The document path has too many nesting levels; nesting "
            "levels: 33");
}

TEST(ParserLimits, BoundsListIndexes) {
  EXPECT_EQ(BindError(kProjection, "a[2147483647], a[7]"), "OK");
  EXPECT_EQ(BindError(kProjection, "a[0007]"),
            "Invalid ProjectionExpression: Syntax error; token: \"0\", near: \"000\"");
  const std::string_view text = "Invalid ProjectionExpression: List index is not within the allowable range; index: ";
  EXPECT_EQ(BindError(kProjection, "a[2147483648]"), Cat(text, "[2147483648]"));
  EXPECT_EQ(BindError(kProjection, "a[99999999999999999999999]"), Cat(text, "[99999999999999999999999]"));
}

TEST(ParserLimits, DeepNestingIsRefusedWithTheErrorOfItsRule) {
  const std::string_view redundant = "Invalid FilterExpression: The expression has redundant parentheses;";
  const std::string_view unclosed = "Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \"(\"";
  EXPECT_EQ(BindError(kFilter, std::string(4096, '(')), unclosed);
  EXPECT_EQ(BindError(kFilter, Repeat("(", 2000) + "a = :s" + Repeat(")", 2000)), redundant);
  EXPECT_EQ(BindError(kFilter, Repeat("(", 2000) + "a" + Repeat(")", 2000) + " = :s"), redundant);
  EXPECT_EQ(BindError(kFilter, "a = " + Repeat("(", 2000) + ":s" + Repeat(")", 2000)), redundant);
  EXPECT_EQ(BindError(kUpdate, "SET a = " + Repeat("(", 2000) + ":s" + Repeat(")", 2000)),
            "Invalid UpdateExpression: The expression has redundant parentheses;");
  EXPECT_EQ(BindError(kFilter, Repeat("NOT(", 700) + "a = :s" + Repeat(")", 700)),
            "Invalid FilterExpression: The expression contains too many operators; operator count: "
            "701");
  EXPECT_EQ(BindError(kFilter, Repeat("contains(", 400) + "a" + Repeat(")", 400)),
            "Invalid FilterExpression: The function is not allowed to be used this way in an "
            "expression; function: contains");
  EXPECT_EQ(BindError(kFilter, Repeat("f(", 2048)), unclosed);
}

TEST(ParserLimits, TextsOfTheFullSizeAreRefusedWithTheErrorOfTheirRule) {
  const auto error = [](ExpressionKind kind, const std::string& text) {
    EXPECT_EQ(text.size(), 4096u);
    return BindError(kind, text);
  };
  const std::string parentheses = Repeat("(", 2046) + "a=:s" + Repeat(")", 2046);
  const std::string negations = Repeat("NOT ", 1023) + "a=:s";
  const std::string disjunctions = "a=:s" + Repeat(" OR a=:s", 511) + "    ";
  for (const ExpressionKind kind :
       {ExpressionKind::kCondition, ExpressionKind::kFilter, ExpressionKind::kKeyCondition}) {
    const std::string invalid = Cat("Invalid ", KindName(kind), ": ");
    const std::string many = invalid + "The expression contains too many operators; operator count: ";
    EXPECT_EQ(error(kind, parentheses), invalid + "The expression has redundant parentheses;");
    EXPECT_EQ(error(kind, negations), many + "1024");
    EXPECT_EQ(error(kind, disjunctions), many + "1023");
  }
  EXPECT_EQ(error(kUpdate, "SET a=" + Repeat("(", 2044) + ":s" + Repeat(")", 2044)),
            "Invalid UpdateExpression: The expression has redundant parentheses;");
  EXPECT_EQ(error(kUpdate, "SET a=b+c" + Repeat(",a=b+c", 681) + " "),
            "Invalid UpdateExpression: The expression contains too many operators; operator count: 682");
}

TEST(ParserLimits, DeepestLegalNestingPasses) {
  EXPECT_EQ(BindError(kFilter, Repeat("(NOT ", 299) + "((a) = :s)" + Repeat(")", 299)), "OK");
}

}  // namespace armature::expr::parser_test
