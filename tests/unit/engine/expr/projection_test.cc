#include "engine/expr/projection.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::projection_test {

using model::ScalarType;
using testing::BindError;
using testing::ErrorText;
using testing::Item;
using testing::L;
using testing::M;
using testing::N;
using testing::Request;
using testing::S;
using testing::SS;
using testing::Wire;

constexpr ExpressionKind kProjection = ExpressionKind::kProjection;

Projection Bind(std::string_view text) {
  Request request;
  auto bound = request.With(kProjection, text).Bind();
  EXPECT_TRUE(bound.ok()) << text << ": " << bound.status();
  return bound.ok() ? *std::move(bound->projection) : Projection();
}

std::string Document() {
  return Item({
      {"a", M({{"b", L({N("7"), N("8")})}, {"c", N("1")}, {"d", M({{"e", S("x")}})}})},
      {"a.b", S("dotted")},
      {"h", S("key")},
      {"l", L({M({{"a", N("1")}, {"b", N("2")}, {"c", N("3")}}), S("one"), L({S("x"), S("y")}), M({{"a", N("4")}})})},
      {"n", N("5")},
      {"s", SS({"x", "y"})},
  });
}

struct Case {
  std::string_view text;
  std::map<std::string, Wire> result;
};

TEST(Project, KeepsTheHierarchy) {
  const Case cases[] = {
      {"n", {{"n", N("5")}}},
      {"n, h", {{"h", S("key")}, {"n", N("5")}}},
      {"h, gone, n", {{"h", S("key")}, {"n", N("5")}}},
      {"gone", {}},
      {"s", {{"s", SS({"x", "y"})}}},
      {"a.b[0]", {{"a", M({{"b", L({N("7")})}})}}},
      {"a.b", {{"a", M({{"b", L({N("7"), N("8")})}})}}},
      {"a.d.e, a.c", {{"a", M({{"c", N("1")}, {"d", M({{"e", S("x")}})}})}}},
      {"a.c, a.gone", {{"a", M({{"c", N("1")}})}}},
      // A placeholder is one path element, even if its name contains dots.
      {"#dotted", {{"a.b", S("dotted")}}},
      {"#a.#b[1]", {{"a", M({{"b", L({N("8")})}})}}},
      // Selected list elements move together, in index order.
      {"l[2], l[1]", {{"l", L({S("one"), L({S("x"), S("y")})})}}},
      {"l[3].a, l[0].c, l[2][1]", {{"l", L({M({{"c", N("3")}}), L({S("y")}), M({{"a", N("4")}})})}}},
      // Paths into one list element are combined.
      {"l[0].c, l[0].a", {{"l", L({M({{"a", N("1")}, {"c", N("3")}})})}}},
      // A container without any selected path is left out.
      {"a.gone", {}},
      {"a.d.gone", {}},
      {"l[9]", {}},
      {"l[0].gone, l[3].a", {{"l", L({M({{"a", N("4")}})})}}},
      // Paths through a value of the wrong type select nothing.
      {"n.x, h[0], s[0]", {}},
      {"a[0]", {}},
      {"l.a", {}},
      {"a.b.c, l[1].x, l[2].x", {}},
  };
  const std::string document = Document();
  for (const Case& c : cases) {
    EXPECT_EQ(Project(Bind(c.text), model::ItemView(document)), Item(c.result)) << c.text;
  }
}

TEST(Project, AnEmptyItemStaysEmpty) { EXPECT_EQ(Project(Bind("a, b.c, d[0]"), model::ItemView()), ""); }

TEST(Project, DamagedBytesGiveAPartOfTheItemAndNoCrash) {
  const Projection projection = Bind("a.b[1], l[0].a, l[2][0], n, s");
  const std::string document = Document();
  for (size_t i = 0; i < document.size(); ++i) {
    std::string damaged = document;
    for (const int bit : {1, 8, 128}) {
      damaged[i] = static_cast<char>(document[i] ^ bit);
      EXPECT_LE(Project(projection, model::ItemView(damaged)).size(), 2 * document.size());
    }
    Project(projection, model::ItemView(std::string_view(document).substr(0, i)));
  }
}

TEST(Projection, ListsTopLevelNamesOnce) {
  EXPECT_EQ(TopLevelNames(Bind("n, l[3].a, a.c, l[0].c, a.b[1], #dotted")),
            (std::vector<std::string>{"n", "l", "a", "a.b"}));
}

struct ErrorCase {
  std::string_view text;
  std::string_view error;
};

constexpr ErrorCase kErrors[] = {
    {"a, status", "Attribute name is a reserved keyword; reserved keyword: status"},
    {"a.b.Zone[0]", "Attribute name is a reserved keyword; reserved keyword: Zone"},
    {"a, #missing",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    {"a, b, a",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a], path two: [a]"},
    {"a.b[0], #a.#b",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a, b, [0]], path two: [a, b]"},
    {"a, a[0]",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a], path two: [a, [0]]"},
    {"a.b, a[1]",
     "Two document paths conflict with each other; must remove or rewrite one of these paths; path "
     "one: [a, b], path two: [a, [1]]"},
    // Order of checks: reserved words, undefined names, overlaps, conflicts.
    {"a.b, a[1], a.b, #missing, zone", "Attribute name is a reserved keyword; reserved keyword: zone"},
    {"a.b, a[1], a.b, #missing",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    {"a.b, a[1], a.b",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a, b], path two: [a, b]"},
};

TEST(Projection, ReportsStaticErrorsInOrder) {
  for (const ErrorCase& c : kErrors) {
    EXPECT_EQ(BindError(kProjection, c.text), Cat("Invalid ProjectionExpression: ", c.error)) << c.text;
  }
}

TEST(Projection, ADottedNameDoesNotOverlapAPath) { EXPECT_EQ(BindError(kProjection, "#dotted, a.b, a.c"), "OK"); }

TEST(Projection, RefusesPathsIntoKeys) {
  const model::KeySchema keys{{{"h", ScalarType::kString}}, {{"r", ScalarType::kNumber}}};
  EXPECT_EQ(ErrorText(CheckKeysAreWhole(Bind("a.b, h, r"), keys, false)), "OK");
  EXPECT_EQ(ErrorText(CheckKeysAreWhole(Bind("a.b, r[0], h.x"), keys, false)),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            "allowed: Key: r");
  EXPECT_EQ(ErrorText(CheckKeysAreWhole(Bind("h.x"), keys, true)),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            "allowed: IndexKey: h");
}

// The longest text of different paths. Each path is compared with each other.
TEST(Projection, ManyPathsAreChecked) {
  std::string text;
  for (int i = 0; text.size() < 4080; ++i) {
    text += Cat(i > 0 ? "," : "", std::string(1, static_cast<char>('a' + i % 26)), i / 26);
  }
  EXPECT_EQ(BindError(kProjection, text), "OK");
  EXPECT_NE(BindError(kProjection, text + ",a0.x"), "OK");
}

}  // namespace armature::expr::projection_test
