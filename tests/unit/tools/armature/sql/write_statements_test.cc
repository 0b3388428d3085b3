// Statements that write several items, as they are parsed.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tools/armature/sql/bulk_write.h"
#include "tools/armature/sql/insert_rows.h"

namespace armature::cli::write_statements_test {

using testing::HasSubstr;

absl::StatusOr<std::optional<BulkStatement>> Bulk(std::string_view statement) {
  return ParseBulk(*TokenizeSql(statement));
}

std::string Part(std::string_view statement, TextPlace place) {
  return std::string(statement.substr(place.begin, place.end - place.begin));
}

TEST(BulkStatement, PartsStayText) {
  const std::string text =
      "UPDATE \"my t\" SET a = ?, b = list_append(b, [?]) REMOVE c WHERE (d = ? OR e = 'WITH') AND f = 1 DRY RUN WITH "
      "RATELIMIT 50;";
  const auto parsed = Bulk(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_TRUE(parsed->has_value());
  const BulkStatement& bulk = **parsed;
  EXPECT_TRUE(bulk.is_update);
  EXPECT_EQ(bulk.table, "my t");
  EXPECT_EQ(Part(text, bulk.actions), "SET a = ?, b = list_append(b, [?]) REMOVE c");
  EXPECT_EQ(bulk.action_parameters, 2U);
  EXPECT_EQ(Part(text, *bulk.where), "(d = ? OR e = 'WITH') AND f = 1");
  EXPECT_EQ(bulk.where_parameters, 1U);
  EXPECT_TRUE(bulk.is_dry_run);
  EXPECT_EQ(bulk.rate, 50);
}

TEST(BulkStatement, OtherStatementsAreLeftToTheDaemon) {
  for (const std::string_view statement :
       {"SELECT * FROM t", "FROM t WHERE a = 1 SET b = 2", "UPDATE t", "DELETE t", "DELETE FROM t WHERE",
        "DELETE FROM t.i WHERE a = 1", "DELETE FROM t extra", "UPDATE 'x' SET a = 1"}) {
    const auto parsed = Bulk(statement);
    ASSERT_TRUE(parsed.ok()) << statement;
    EXPECT_FALSE(parsed->has_value()) << statement;
  }
  EXPECT_TRUE(Bulk("DELETE FROM t")->has_value());
  EXPECT_FALSE((*Bulk("DELETE FROM t WHERE a = 1"))->options.has_value());
  EXPECT_TRUE((*Bulk("DELETE FROM t WHERE a = 1 RETURNING ALL OLD *"))->returning.has_value());
}

TEST(BulkStatement, OptionsAreChecked) {
  EXPECT_FALSE(Bulk("DELETE FROM t WITH RATELIMIT 0").ok());
  EXPECT_FALSE(Bulk("DELETE FROM t WITH LIMIT 5").ok());
  EXPECT_FALSE(Bulk("DELETE FROM t DRY RUN extra").ok());
}

absl::StatusOr<InsertRows> Rows(std::string_view statement) {
  return ParseInsertRows(statement, *TokenizeSql(statement));
}

TEST(InsertRows, EachRowIsAStatement) {
  const auto parsed =
      Rows("INSERT INTO \"my t\" (id, \"it's\", n) VALUES ('a''b', {'m': [1, ?]}, -1.5), (?, <<1, 2>>, MISSING);");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_FALSE(parsed->is_replace);
  ASSERT_EQ(parsed->rows.size(), 2U);
  EXPECT_EQ(parsed->rows[0].statement, "INSERT INTO \"my t\" VALUE {'id': 'a''b', 'it''s': {'m': [1, ?]}, 'n': -1.5}");
  EXPECT_EQ(parsed->rows[0].parameters, 1U);
  EXPECT_EQ(parsed->rows[1].statement, "INSERT INTO \"my t\" VALUE {'id': ?, 'it''s': <<1, 2>>}");
  EXPECT_EQ(parsed->rows[1].first_parameter, 1U);
  const auto replace = Rows("REPLACE INTO t VALUE {'id': ?, 'l': [?]}");
  ASSERT_TRUE(replace.ok()) << replace.status();
  EXPECT_TRUE(replace->is_replace);
  EXPECT_EQ(replace->rows[0].statement, "INSERT INTO t VALUE {'id': ?, 'l': [?]}");
  EXPECT_EQ(replace->rows[0].parameters, 2U);
}

TEST(InsertRows, PlainInsertsAreLeftToTheDaemon) {
  EXPECT_FALSE(IsInsertOfRows(SqlTokenReader(*TokenizeSql("INSERT INTO t VALUE {'a': 1}"))));
  EXPECT_TRUE(IsInsertOfRows(SqlTokenReader(*TokenizeSql("INSERT INTO t (a) VALUES (1)"))));
  EXPECT_TRUE(IsInsertOfRows(SqlTokenReader(*TokenizeSql("REPLACE INTO t VALUE {'a': 1}"))));
}

TEST(InsertRows, FaultsAreRefused) {
  for (const std::string_view statement :
       {"INSERT INTO t (a, a) VALUES (1, 2)", "INSERT INTO t (a, b) VALUES (1)", "INSERT INTO t (a) VALUES (1, 2)",
        "INSERT INTO t (a) VALUES (", "INSERT INTO t (a) VALUES ()", "INSERT INTO t () VALUES (1)",
        "INSERT INTO t (a) VALUES (1) extra", "INSERT INTO t (a) VALUES (1),", "INSERT INTO t (a) VALUES ([1)",
        "REPLACE INTO t VALUE", "INSERT INTO t (a)", "INSERT INTO t ('a') VALUES (1)"}) {
    EXPECT_FALSE(Rows(statement).ok()) << statement;
  }
  EXPECT_THAT(Rows("INSERT INTO t (a) VALUES (\"x\")").status().message(), HasSubstr("a text is written 'x'"));
}

}  // namespace armature::cli::write_statements_test
