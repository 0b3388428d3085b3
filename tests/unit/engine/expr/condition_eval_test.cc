#include "engine/expr/condition_eval.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::condition_eval_test {

using model::ScalarType;
using testing::B;
using testing::Bool;
using testing::BS;
using testing::ErrorText;
using testing::Item;
using testing::L;
using testing::M;
using testing::N;
using testing::NS;
using testing::Null;
using testing::Request;
using testing::S;
using testing::SS;

constexpr ExpressionKind kCondition = ExpressionKind::kCondition;

std::string Document() {
  return Item({
      {"abc", S("abc")},
      {"bee", S("b")},
      {"bytes", B(std::string("\x01\x02\x80", 3))},
      {"doc", M({{"seq", L({N("1"), M({{"k", S("abc")}}), L({S("deep")})})}, {"nothing", Null()}, {"size", N("3")}})},
      {"blank", S("")},
      {"five", N("5")},
      {"half", N("0.5")},
      {"huge", N("1" + std::string(125, '0'))},
      {"seq", L({N("1"), S("a"), SS({"x", "y"})})},
      {"dict", M({{"k", N("1")}})},
      {"below", N("-12.5")},
      {"nine", N("9")},
      {"nay", Bool(false)},
      {"nothing", Null()},
      {"numbers", NS({"1", "2", "5"})},
      {"same", S("abc")},
      {"shorts", BS({"p", "q"})},
      {"ten", N("10")},
      {"tens", S("10")},
      {"utf", S("\xC3\xA9\xF0\x9D\x84\x9E!")},  // U+00E9, U+1D11E, '!'
      {"words", SS({"x", "y"})},
      {"yea", Bool(true)},
  });
}

bool Holds(std::string_view text, const std::string& item) {
  Request request;
  const auto bound = request.With(kCondition, text).Bind();
  EXPECT_TRUE(bound.ok()) << text << ": " << bound.status();
  return bound.ok() && Evaluate(*bound->condition, model::ItemView(item));
}

constexpr std::string_view kTrue[] = {
    // Equality compares type and value, deeply.
    "abc = :s",
    "abc = same",
    "five = :n",
    "bytes <> :b",
    "yea = :true",
    "nothing = :null",
    "words = :ss",
    "seq <> :l",
    "dict = :m",
    "doc.seq[1].k = abc",
    "five <> :s",
    "ten <> tens",
    "words <> abc",
    "nay <> yea",
    ":n = :n",
    "blank = :empty",
    // Missing attributes: only `<>` is true.
    "gone <> :s",
    ":s <> gone",
    "gone <> lost",
    "doc.gone <> :n",
    "doc.seq[7] <> :n",
    "abc.x <> :s",
    "abc[0] <> :s",
    "seq.k <> :n",
    "dict[0] <> :n",
    // Order, by the rules of each type.
    "five < :n2",
    "nine < ten",
    "nine < huge",
    "below < half",
    "below < :n0",
    "half > below",
    "ten >= :n2",
    "ten <= :n2",
    "huge > ten",
    "abc < :s2",
    "abc < bee",
    "blank < abc",
    "tens < abc",
    "bytes > :b",
    "bytes < :b2",
    "five BETWEEN :n AND :n2",
    "five BETWEEN :n3 AND :n",
    "nine BETWEEN half AND ten",
    "abc BETWEEN :prefix AND :s",
    ":n BETWEEN half AND nine",
    // IN.
    "abc IN (:n, :s)",
    "five IN (:s, nine, :n)",
    "words IN (:l, :ss)",
    ":n IN (gone, five)",
    // Functions that test presence and type.
    "attribute_exists(abc)",
    "attribute_exists(nothing)",
    "attribute_exists(doc.seq[2][0])",
    "attribute_not_exists(gone)",
    "attribute_not_exists(doc.seq[3])",
    "attribute_not_exists(abc.x)",
    "attribute_type(abc, :type_s)",
    "attribute_type(five, :type_n)",
    "attribute_type(doc, :type_m)",
    "attribute_type(doc.nothing, :type_null)",
    "attribute_type(:n, :type_n)",
    "attribute_type(size(abc), :type_n)",
    "NOT attribute_type(gone, :type_null)",
    // begins_with.
    "begins_with(abc, :prefix)",
    "begins_with(abc, :s)",
    "begins_with(abc, :empty)",
    "begins_with(bytes, :b)",
    "begins_with(:s, abc)",
    "begins_with(abc, same)",
    "NOT begins_with(five, :prefix)",
    "NOT begins_with(bytes, :prefix)",
    "NOT begins_with(gone, :s)",
    "NOT begins_with(:prefix, abc)",
    // contains.
    "contains(abc, bee)",
    "contains(abc, :empty)",
    "contains(bytes, :b)",
    "contains(words, :x)",
    "contains(numbers, :n)",
    "contains(shorts, :p)",
    "contains(seq, :ss)",
    "contains(seq, :a)",
    "contains(seq, words)",
    "contains(doc.seq, dict.k)",
    "contains(:s, bee)",
    "contains(:l, :a)",
    "contains(numbers, size(seq[2]))",
    "contains(doc.seq, size(dict))",
    "NOT contains(words, :ss)",
    "NOT contains(words, words.x)",
    "NOT contains(dict, :x)",
    "NOT contains(five, :n)",
    "NOT contains(words, :n)",
    "NOT contains(abc, :n)",
    "NOT contains(gone, :s)",
    "NOT contains(abc, gone)",
    "NOT contains(size(abc), :n3)",
    // size: UTF-16 units, bytes, elements.
    "size(abc) = :n3",
    "size(utf) = :four",
    "size(bytes) = :n3",
    "size(blank) = :n0",
    "size(words) = :two",
    "size(numbers) = :n3",
    "size(seq) = :n3",
    "size(dict) = :one",
    "size(doc) = doc.#size",
    "size(abc) BETWEEN :n0 AND :n",
    "size(abc) IN (:n, :n3)",
    "size(abc) = size(seq)",
    "size(abc) < size(utf)",
    "size(:s) = :n3",
    "size(abc) <> :s",
    "five > size(abc)",
    "size(abc) <> gone",
    // A comparison with size() of a value without a size is false, whatever the operator.
    "NOT size(five) = :one",
    "NOT size(five) <> :one",
    "NOT size(gone) <> :one",
    "NOT size(yea) > :n0",
    "NOT size(nothing) <= :n0",
    "NOT size(gone) IN (:n)",
    "NOT size(gone) BETWEEN :n0 AND :n2",
    // Logical operators.
    "abc = :s AND five = :n",
    "abc = :n OR five = :n",
    "NOT abc = :n",
    "NOT NOT abc = :s",
    "NOT gone = :s",
    "NOT (abc = :s AND five = :s)",
    "abc = :s OR abc = :n AND five = :s",
    "NOT abc = :n AND five = :n",
    "NOT (abc = :n OR five = :s)",
    "five BETWEEN :n AND :n2 AND abc = :s",
};

constexpr std::string_view kFalse[] = {
    "abc = :s2",
    "tens = ten",
    "gone = :s",
    "gone = lost",
    "gone < :s",
    "gone >= :s",
    "words = :l",
    "dict = :n",
    "seq = :l",
    "abc <> :s",
    "abc <> same",
    // Values of different types, or of a type without an order: every order comparison is false.
    "abc < :n",
    "abc >= :n",
    "tens < ten",
    "tens >= ten",
    "yea < nay",
    "yea >= nay",
    "words <= words.x",
    "words < seq",
    "nothing <= doc.nothing",
    "seq > dict",
    "five BETWEEN gone AND :n2",
    "five BETWEEN :n AND gone",
    "gone BETWEEN :n AND :n2",
    "five BETWEEN :s AND :s2",
    "yea BETWEEN nay AND yea.x",
    "five BETWEEN ten AND half",
    "abc IN (:n, five, gone)",
    "gone IN (lost, :s)",
    "attribute_exists(gone)",
    "attribute_exists(doc.seq[3])",
    "attribute_not_exists(abc)",
    "attribute_not_exists(nothing)",
    "attribute_type(tens, :type_n)",
    "attribute_type(gone, :type_s)",
    "abc = :s AND five = :s",
    "abc = :n OR five = :s",
    "NOT abc = :s",
    "NOT (abc = :s OR five = :s)",
    "(abc = :s OR abc = :n) AND five = :s",
};

// Adds values beyond the common ones.
Request WithExtras(std::string_view text) {
  Request request;
  request.With(kCondition, text);
  const std::pair<std::string, testing::Wire> extras[] = {
      {":x", S("x")}, {":a", S("a")}, {":p", B("p")}, {":one", N("1")}, {":two", N("2")}, {":four", N("4")},
  };
  for (const Token& token : Tokenize(kCondition, text)) {
    for (const auto& [key, value] : extras) {
      if (token.text == key) request.WithValue(key, value);
    }
  }
  return request;
}

TEST(Evaluate, FollowsTheDocumentedSemantics) {
  const std::string item = Document();
  const auto check = [&item](std::string_view text, bool expected) {
    Request request = WithExtras(text);
    const auto bound = request.Bind();
    ASSERT_TRUE(bound.ok()) << text << ": " << bound.status();
    EXPECT_EQ(Evaluate(*bound->condition, model::ItemView(item)), expected) << text;
  };
  for (const std::string_view text : kTrue) check(text, true);
  for (const std::string_view text : kFalse) check(text, false);
}

TEST(Evaluate, AnItemThatDoesNotExistIsEmpty) {
  EXPECT_TRUE(Holds("attribute_not_exists(h)", ""));
  EXPECT_TRUE(Holds("h <> :s", ""));
  EXPECT_FALSE(Holds("attribute_exists(h)", ""));
  EXPECT_FALSE(Holds("h = :s", ""));
  EXPECT_FALSE(Holds("size(h) >= :n0", ""));
}

TEST(Evaluate, NamesOfPlaceholdersAreLiteral) {
  const std::string item = Item({{"#a", S("abc")}, {"a.b", S("abd")}, {"size", N("5")}});
  EXPECT_TRUE(Holds("#hash = :s AND #dotted = :s2 AND #size = :n", item));
  EXPECT_FALSE(Holds("attribute_exists(a.b)", item));
}

TEST(Evaluate, ContainsIsFastOnLongRepetitions) {
  const std::string text(400'000, 'a');
  const std::string part = std::string(200'000, 'a') + "b";
  const std::string item = Item({{"a", S(text)}});
  Request request;
  const auto bound = request.With(kCondition, "contains(a, :part)").WithValue(":part", S(part)).Bind();
  ASSERT_TRUE(bound.ok());
  EXPECT_FALSE(Evaluate(*bound->condition, model::ItemView(item)));
}

TEST(Evaluate, DamagedBytesGiveAnAnswerAndNoCrash) {
  Request request;
  const auto bound = request
                         .With(kCondition,
                               "doc.seq[1].k = :s AND (size(seq) > :n0 OR five BETWEEN :n0 AND :n2) AND "
                               "(contains(words, :s) OR contains(seq, :n) OR utf <> :s) AND size(utf) > size(doc)")
                         .Bind();
  ASSERT_TRUE(bound.ok()) << bound.status();
  const std::string document = Document();
  for (size_t i = 0; i < document.size(); ++i) {
    std::string damaged = document;
    damaged[i] = static_cast<char>(document[i] ^ 0x91);
    Evaluate(*bound->condition, model::ItemView(damaged));
    Evaluate(*bound->condition, model::ItemView(std::string_view(document).substr(0, i)));
  }
}

std::optional<std::string> First(std::string_view text, const std::vector<std::string>& names) {
  Request request;
  const auto bound = request.With(kCondition, text).Bind();
  EXPECT_TRUE(bound.ok()) << text << ": " << bound.status();
  return bound.ok() ? FirstAttributeAmong(*bound->condition, names) : std::nullopt;
}

TEST(FirstAttributeAmong, LooksEverywhereInTheOrderOfTheText) {
  const std::vector<std::string> names = {"h", "r"};
  EXPECT_EQ(First("a = :s AND b = :s", names), std::nullopt);
  EXPECT_EQ(First("a = :s AND r = h", names), "r");
  EXPECT_EQ(First(":s < #h", names), "h");
  EXPECT_EQ(First("NOT (a BETWEEN b AND h)", names), "h");
  EXPECT_EQ(First("a IN (:s, r)", names), "r");
  EXPECT_EQ(First("a = :s OR (b = :s AND contains(c, h))", names), "h");
  EXPECT_EQ(First("size(h.x[0]) > :n", names), "h");
  EXPECT_EQ(First("a.h = :s", names), std::nullopt);
}

TEST(TopLevelNames, AreThoseOfAllPathsInTheOrderOfTheText) {
  const auto names_of = [](const std::string& text) {
    Request request;
    const auto bound = request.With(kCondition, text).Bind();
    EXPECT_TRUE(bound.ok()) << text << ": " << bound.status();
    return bound.ok() ? TopLevelNames(*bound->condition) : std::vector<std::string>();
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of("b.x[0] = :s AND a = c.b"), (Names{"b", "a", "c"}));
  EXPECT_EQ(names_of("NOT (a BETWEEN b AND :s) OR contains(c, :s) OR size(d) > :n OR e IN (:s, f)"),
            (Names{"a", "b", "c", "d", "e", "f"}));
}

TEST(CheckFilterAvoidsKeys, NamesTheKeyAttribute) {
  const model::KeySchema keys{{{"h", ScalarType::kString}}, {{"r", ScalarType::kNumber}}};
  const auto error = [&keys](std::string_view text) {
    Request request;
    const auto bound = request.With(ExpressionKind::kFilter, text).Bind();
    return bound.ok() ? ErrorText(CheckFilterAvoidsKeys("Filter Expression", *bound->filter, keys))
                      : ErrorText(bound.status());
  };
  EXPECT_EQ(error("a = :s"), "OK");
  EXPECT_EQ(error("a = :s AND r > :n"),
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: "
            "r");
  EXPECT_EQ(error("#h = :s"),
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: "
            "h");
}

TEST(CheckKeysAreWhole, NamesTheKeyAttributeThatIsReadInto) {
  const model::KeySchema keys{{{"h", ScalarType::kString}}, {{"r", ScalarType::kNumber}}};
  const auto error = [&keys](std::string_view text, bool index_keys) {
    Request request;
    const auto bound = request.With(ExpressionKind::kFilter, text).Bind();
    return bound.ok() ? ErrorText(CheckKeysAreWhole(*bound->filter, keys, index_keys)) : ErrorText(bound.status());
  };
  const std::string scalars =
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
  EXPECT_EQ(error("a.b = :s AND r > :n AND #h <> :s", false), "OK");
  EXPECT_EQ(error("a.b = :s OR size(r[0]) > :n", false), scalars + "Key: r");
  EXPECT_EQ(error("NOT attribute_exists(#h.x)", true), scalars + "IndexKey: h");
}

TEST(CostOf, CountsTheConstantsThatAreReadWhole) {
  const std::string text(100'000, 'x');
  const auto cost = [&text](std::string_view condition) {
    Request request;
    const auto bound = request.With(kCondition, condition).WithValue(":big", S(text)).Bind();
    return bound.ok() ? CostOf(*bound->condition).constant_bytes : 0;
  };
  for (const char* const cheap : {"a = :big", "a < :big AND begins_with(a, :big)", "contains(a, :big)",
                                  "a IN (:n, :big)", "a BETWEEN :big AND b", ":big = :n"}) {
    EXPECT_LT(cost(cheap), 1000u) << cheap;
  }
  for (const char* const dear : {"contains(:big, a)", "size(:big) > a", "NOT contains(:big, a)",
                                 "a = b OR (a = c AND begins_with(:big, a))", ":big = :big"}) {
    EXPECT_GT(cost(dear), text.size()) << dear;
    EXPECT_LT(cost(dear), 2 * text.size()) << dear;
  }
  EXPECT_GT(cost("contains(:big, a) OR contains(:big, b)"), 2 * text.size());
}

TEST(CostOf, CountsTheReadingsOfTheItem) {
  const auto readings = [](std::string_view condition) -> size_t {
    Request request;
    const auto bound = request.With(kCondition, condition).WithValue(":n", N("1")).Bind();
    return bound.ok() ? CostOf(*bound->condition).readings : 0;
  };
  EXPECT_EQ(readings("a = :n"), 1u);
  EXPECT_EQ(readings("a.b[1] < c OR d = :n"), 3u);
  EXPECT_EQ(readings("a BETWEEN :n AND b"), 3u);
  EXPECT_EQ(readings("a IN (b, :n, c)"), 5u);
  EXPECT_EQ(readings("NOT (size(a) > :n OR (attribute_exists(b) AND contains(c, d)))"), 4u);
}

}  // namespace armature::expr::condition_eval_test
