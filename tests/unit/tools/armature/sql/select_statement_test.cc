#include "tools/armature/sql/select_statement.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli::select_statement_test {

using testing::HasSubstr;

absl::StatusOr<SelectStatement> Parse(std::string_view statement) {
  const auto tokens = TokenizeSql(statement);
  if (!tokens.ok()) return tokens.status();
  return ParseSelect(*tokens);
}

bool IsOurs(std::string_view statement) { return HasClausesOfOurs(*TokenizeSql(statement)); }

// The part of the statement that is the error's place.
std::string FaultOf(std::string_view statement) {
  const absl::Status status = Parse(statement).status();
  const auto place = PlaceOf(status, statement);
  if (status.ok() || !place.has_value()) return Cat("no fault: ", statement);
  return std::string(statement.substr(place->begin, place->end - place->begin));
}

TEST(SelectStatement, PartiqlIsLeftToTheDaemon) {
  EXPECT_FALSE(IsOurs("SELECT * FROM t"));
  EXPECT_FALSE(IsOurs("SELECT a.b[0], \"count\" FROM t.i WHERE size(a) > 1 AND \"limit\" = 2"));
  EXPECT_FALSE(IsOurs("SELECT FROM"));
  EXPECT_FALSE(IsOurs("UPDATE t SET a = 1"));
  EXPECT_TRUE(IsOurs("SELECT DISTINCT a FROM t"));
  EXPECT_TRUE(IsOurs("SELECT count(*) FROM t"));
  EXPECT_TRUE(IsOurs("SELECT a AS b FROM t"));
  EXPECT_TRUE(IsOurs("SELECT a FROM t LIMIT 1"));
  EXPECT_TRUE(IsOurs("SELECT a FROM t ORDER BY a"));
  EXPECT_TRUE(IsOurs("SELECT a FROM t GROUP BY a"));
}

TEST(SelectStatement, AllClauses) {
  const std::string text =
      "SELECT state, SUM(amount.net) AS total, COUNT(*), count(DISTINCT who[0]) FROM Orders.\"By-Day\" "
      "WHERE (a = 1 OR b IN ('LIMIT', 'x')) AND c = 2 GROUP BY state ORDER BY total DESC, 3, state NULLS FIRST LIMIT 7";
  const absl::StatusOr<SelectStatement> parsed = Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->table, "Orders");
  EXPECT_EQ(parsed->index, "By-Day");
  EXPECT_EQ(text.substr(parsed->from.begin, parsed->from.end - parsed->from.begin), "Orders.\"By-Day\"");
  ASSERT_EQ(parsed->columns.size(), 4U);
  EXPECT_EQ(parsed->columns[0].name, "state");
  EXPECT_EQ(parsed->columns[1].name, "total");
  EXPECT_EQ(parsed->columns[2].name, "COUNT(*)");
  EXPECT_EQ(parsed->columns[3].name, "COUNT(DISTINCT who[0])");
  ASSERT_TRUE(parsed->where.has_value());
  EXPECT_EQ(text.substr(parsed->where->begin, parsed->where->end - parsed->where->begin),
            "(a = 1 OR b IN ('LIMIT', 'x')) AND c = 2");
  ASSERT_EQ(parsed->order_by.size(), 3U);
  EXPECT_EQ(parsed->order_by[0].column, 1U);
  EXPECT_TRUE(parsed->order_by[0].is_descending);
  EXPECT_TRUE(parsed->order_by[0].are_nulls_first);
  EXPECT_EQ(parsed->order_by[1].column, 2U);
  EXPECT_EQ(parsed->order_by[2].column, 0U);
  EXPECT_TRUE(parsed->order_by[2].are_nulls_first);
  EXPECT_EQ(parsed->limit, 7);
  EXPECT_TRUE(parsed->is_grouped());
}

TEST(SelectStatement, FaultsHaveTheirPlace) {
  EXPECT_EQ(FaultOf("SELECT a, COUNT(*) FROM t"), "a");
  EXPECT_EQ(FaultOf("SELECT *, a FROM t LIMIT 1"), ",");
  EXPECT_EQ(FaultOf("SELECT * FROM t GROUP BY a"), "t");
  EXPECT_EQ(FaultOf("SELECT a, b.a FROM t LIMIT 1"), "b.a");
  EXPECT_EQ(FaultOf("SELECT a FROM t LIMIT x"), "x");
  EXPECT_EQ(FaultOf("SELECT a FROM t LIMIT -1"), "-");
  EXPECT_EQ(FaultOf("SELECT a FROM t LIMIT 1 ORDER BY a"), "ORDER");
  EXPECT_EQ(FaultOf("SELECT a FROM t ORDER BY 2"), "2");
  EXPECT_EQ(FaultOf("SELECT a FROM t ORDER BY SUM(b)"), "SUM(b)");
  EXPECT_EQ(FaultOf("SELECT COUNT(*) FROM t ORDER BY b"), "b");
  EXPECT_EQ(FaultOf("SELECT DISTINCT a FROM t ORDER BY b"), "b");
  EXPECT_EQ(FaultOf("SELECT a FROM t GROUP BY a HAVING a > 1"), "HAVING");
  EXPECT_EQ(FaultOf("SELECT upper(a) FROM t LIMIT 1"), "upper");
  EXPECT_EQ(FaultOf("SELECT a FROM order LIMIT 1"), "order");
  EXPECT_EQ(FaultOf("SELECT a FROM 'Orders' LIMIT 1"), "'Orders'");
  EXPECT_EQ(FaultOf("SELECT a FROM t WHERE LIMIT 1"), "LIMIT");
  EXPECT_EQ(FaultOf("SELECT COUNT( FROM t"), "FROM");
  EXPECT_EQ(FaultOf("SELECT SUM(*) FROM t"), "*");
  EXPECT_THAT(Parse("SELECT a FROM order LIMIT 1").status().message(), HasSubstr("written \"order\""));
}

}  // namespace armature::cli::select_statement_test
