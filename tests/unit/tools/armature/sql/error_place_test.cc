#include "tools/armature/sql/error_place.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/partiql/parser.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::cli::error_place_test {

// The error of the parser of PartiQL, which is the daemon's.
absl::Status Refused(std::string_view statement) { return engine::partiql::ParseStatement(statement, {}).status(); }

TEST(ErrorPlace, CaretsStandBelowThePlace) {
  EXPECT_EQ(PlaceLines("SELECT x", {7, 8}), "LINE 1: SELECT x\n               ^\n");
  EXPECT_EQ(PlaceLines("SELECT *\n\tFROM größe x", {23, 24}), "LINE 2:  FROM größe x\n                    ^\n");
  EXPECT_EQ(PlaceLines("SELECT \n", {8, 8}), "LINE 1: SELECT \n              ^\n");
  EXPECT_EQ(PlaceLines("", {0, 0}), "LINE 1: \n        ^\n");
  EXPECT_EQ(PlaceLines("abc", {100, 200}), "LINE 1: abc\n           ^\n");
}

TEST(ErrorPlace, LongLinesAreCut) {
  const std::string lines = PlaceLines(std::string(500, 'a') + "X" + std::string(500, 'b'), {500, 501});
  EXPECT_LT(lines.size(), 250U);
  const size_t line_end = lines.find('\n');
  EXPECT_EQ(lines[lines.find('^') - line_end - 1], 'X');
}

TEST(ErrorPlace, PlacesOfTheDaemonAreFound) {
  const std::string statement = "SELECT *\nFROM t WHERE a = §";
  const absl::Status status = Refused(statement);
  EXPECT_EQ(PlaceLinesOf(status, statement), "LINE 2: FROM t WHERE a = §\n                         ^\n");
}

TEST(ErrorPlace, FaultsWithoutAPlaceAreSearched) {
  const std::string statement = "SELECT * FROM t WHERE a = 1 b = 2";
  EXPECT_EQ(PlaceOf(Refused(statement), statement), (TextPlace{28, 29}));
  const std::string open = "SELECT * FROM t WHERE a = ";
  EXPECT_EQ(PlaceOf(Refused(open), open), (TextPlace{24, 25}));
  // Not a fault of this statement.
  EXPECT_EQ(PlaceOf(ValidationError("something else"), statement), std::nullopt);
}

TEST(ErrorPlace, TheSearchIsBounded) {
  const auto statement = [](size_t terms) {
    std::string text = "SELECT * FROM t WHERE ";
    for (size_t i = 0; i < terms; ++i) text += "a = '" + std::string(1000, 'x') + "' OR ";
    return text + "a = 1 b = 2";
  };
  const std::string near = statement(10);
  EXPECT_EQ(PlaceOf(Refused(near), near), (TextPlace{near.size() - 5, near.size() - 4}));
  // 400 tokens, whose beginnings have 20 MB in sum.
  const std::string far = statement(100);
  EXPECT_FALSE(Refused(far).ok());
  EXPECT_EQ(PlaceOf(Refused(far), far), std::nullopt);
}

TEST(ErrorPlace, PlacesMoveWithTheirPart) {
  const std::string sent = "SELECT a FROM t WHERE b = 1 c";
  const std::string original = "SELECT a, COUNT(*) FROM t WHERE b = 1 c GROUP BY a";
  const TextPlace where{original.find("b = "), original.find(" GROUP")};
  const absl::Status moved = WithPlaceOf(Refused(sent), sent, sent.find("b = "), where);
  EXPECT_EQ(PlaceOf(moved, original), (TextPlace{38, 39}));
  const std::string wrong = "SELECT § FROM t WHERE b = 1";
  const absl::Status elsewhere = WithPlaceOf(Refused(wrong), wrong, wrong.find("b = "), where);
  EXPECT_EQ(PlaceOf(elsewhere, original), std::nullopt);
}

}  // namespace armature::cli::error_place_test
