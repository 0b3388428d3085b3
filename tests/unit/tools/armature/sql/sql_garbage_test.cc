// Random texts and damaged statements: no parser crashes, loops or reads beyond the text.
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tools/armature/sql/bulk_write.h"
#include "tools/armature/sql/console_commands.h"
#include "tools/armature/sql/error_place.h"
#include "tools/armature/sql/insert_rows.h"
#include "tools/armature/sql/quoted_texts.h"
#include "tools/armature/sql/select_statement.h"
#include "tools/armature/sql/sql_token.h"
#include "tools/armature/sql/statement_reader.h"
#include "tools/armature/sql/table_statement.h"

namespace armature::cli::sql_garbage_test {

constexpr std::array<std::string_view, 12> kStatements = {
    "SELECT a, SUM(b.c[0]) AS s FROM t.i WHERE (x = 'y' OR z IN (1, 2)) GROUP BY a ORDER BY s DESC NULLS LAST LIMIT 9",
    "SELECT DISTINCT \"a\"\"b\" FROM \"t-1\" ORDER BY 1, \"a\"\"b\"",
    "SELECT COUNT(DISTINCT a), MIN(b), MAX(c), AVG(d) FROM t",
    "CREATE TABLE IF NOT EXISTS t (id S, at N, PRIMARY KEY (id, at)), GLOBAL INDEX i (at | id) PROJECT (x, y), LOCAL "
    "INDEX j (id, x S) PROJECT KEYS WITH (stream = NEW_AND_OLD_IMAGES, ttl = e, capacity = (1, 2), class = STANDARD)",
    "ALTER TABLE t ADD GLOBAL INDEX i (a S, b N | c B) PROJECT ALL CAPACITY (3, 4)",
    "DROP TABLE IF EXISTS t",
    "UPDATE t SET a = list_append(b, [1, {'x': <<2>>}]) REMOVE c WHERE d = ? RETURNING ALL NEW * DRY RUN",
    "DELETE FROM t WHERE size(a) > 3 AND NOT (b BETWEEN 1 AND 2) WITH RATELIMIT 10 DRY RUN",
    "INSERT INTO t (a, \"b\") VALUES (1, 'x''y'), (?, {'m': [1, 2, <<3>>]}), (MISSING, NULL)",
    "REPLACE INTO t VALUE {'id': 'a', 'l': [1, -2.5e3]}",
    "-- comment\nSHOW /* and ; another */ INDEXES OF t",
    "\\copy t from 'file.csv'"};

// Parses the text by everything that parses. Places of errors lie in the text.
void ParseAll(const std::string& text) {
  StatementReader reader;
  reader.AddLine(text);
  size_t pieces = 0;
  while (reader.Next().has_value()) ++pieces;
  reader.TakeBuffer();
  EXPECT_LE(pieces, text.size());
  ParseCopy(text).IgnoreError();
  const absl::StatusOr<std::vector<SqlToken>> tokens = TokenizeSql(text);
  std::vector<absl::Status> errors = {tokens.status()};
  if (tokens.ok()) {
    ASSERT_LE(tokens->size(), text.size() + 1);
    errors.push_back(CheckQuotedTexts(*tokens));
    HasClausesOfOurs(*tokens);
    errors.push_back(ParseSelect(*tokens).status());
    errors.push_back(ParseBulk(*tokens).status());
    errors.push_back(ParseInsertRows(text, *tokens).status());
    const absl::StatusOr<TableStatement> table = ParseTableStatement(*tokens);
    errors.push_back(table.status());
    if (table.ok() && !table->key.empty()) errors.push_back(CreateRequestOf(*table).status());
  }
  for (const absl::Status& error : errors) {
    const auto place = PlaceOf(error, text);
    if (!place.has_value()) continue;
    EXPECT_LE(place->begin, text.size());
    EXPECT_LE(place->end, text.size());
    EXPECT_LT(PlaceLines(text, *place).size(), 2 * text.size() + 600);
  }
}

TEST(SqlGarbage, RandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 60, '\0');
    for (char& c : text) c = static_cast<char>(random());
    ParseAll(text);
  }
}

TEST(SqlGarbage, DamagedStatements) {
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    std::string text(kStatements[random() % kStatements.size()]);
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      const size_t at = random() % (text.size() + 1);
      switch (random() % 4) {
        case 0:
          text.erase(at, random() % 12);
          break;
        case 1:
          text.insert(at, 1, "()[]{}<>,.;:'\"?|*-/\\ 1a=\n\xC3"[random() % 26]);
          break;
        case 2:
          text.resize(at);
          break;
        default: {
          const std::string_view other = kStatements[random() % kStatements.size()];
          text.insert(at, other.substr(random() % other.size(), random() % 20));
        }
      }
    }
    ParseAll(text);
  }
}

// Parsers do not recurse, so no nesting is too deep for them.
TEST(SqlGarbage, DeepNesting) {
  for (const std::string_view bracket : {"(", "[", "{", "<<", "NOT ", "a.", "((a=1) AND "}) {
    std::string deep;
    for (int i = 0; i < 5000; ++i) deep += bracket;
    for (const std::string_view head : {"SELECT a FROM t LIMIT 1 WHERE ", "SELECT a, COUNT(*) FROM t WHERE ",
                                        "INSERT INTO t (a) VALUES (", "UPDATE t SET a = ", "CREATE TABLE t (", ""}) {
      ParseAll(std::string(head) + deep);
    }
  }
}

}  // namespace armature::cli::sql_garbage_test
