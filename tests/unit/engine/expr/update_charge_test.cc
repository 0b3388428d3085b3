#include "engine/expr/update_charge.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/expr/binder.h"
#include "storage/base/strings.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr {
namespace {

using testing::Bool;
using testing::L;
using testing::M;
using testing::N;
using testing::Null;
using testing::Request;
using testing::S;
using testing::SS;
using testing::Wire;

size_t ChargeOfText(std::string_view text) {
  Request request;  // holds the values
  const absl::StatusOr<BoundExpressions> bound = request.With(ExpressionKind::kUpdate, text).Bind();
  EXPECT_TRUE(bound.ok()) << bound.status();
  return bound.ok() ? ChargeOf(*bound->update) : 0;
}

TEST(UpdateCharge, OfEachAction) {
  // ":s" has 3 bytes, ":n" 2, ":l" 3 + (1 + 2) + (1 + 1).
  EXPECT_EQ(ChargeOfText("SET ab = :s"), 3U + 19 + 2 + 3);
  EXPECT_EQ(ChargeOfText("SET ab.c[10] = :s"), 3U + 19 + 2 + (4 + 1) + (4 + 2) + 3);
  EXPECT_EQ(ChargeOfText("SET a = bc.d"), 3U + 19 + 1 + 1 + (14 + 2) + (14 + 1));
  EXPECT_EQ(ChargeOfText("SET a = b + :n"), 3U + 19 + 1 + 34 + (1 + 14 + 1) + 2);
  EXPECT_EQ(ChargeOfText("SET a = b - :n"), 3U + 19 + 1 + 37 + (1 + 14 + 1) + 2);
  EXPECT_EQ(ChargeOfText("SET a = if_not_exists(b, :n)"), 3U + 19 + 1 + 39 + (1 + 14 + 1) + 2);
  EXPECT_EQ(ChargeOfText("SET a = list_append(b, :l)"), 3U + 19 + 1 + 37 + (1 + 14 + 1) + 8);
  EXPECT_EQ(ChargeOfText("SET a = list_append(if_not_exists(b, :l), :l)"),
            3U + 19 + 1 + 37 + 39 + (1 + 14 + 1) + 8 + 8);
  EXPECT_EQ(ChargeOfText("ADD ab.c :n"), 3U + 19 + 2 + (4 + 1) + 2);
  EXPECT_EQ(ChargeOfText("REMOVE ab[0]"), 3U + 1 + 2 + (4 + 1));
  EXPECT_EQ(ChargeOfText("DELETE ab :ss"), 3U + 1 + 2);
  EXPECT_EQ(ChargeOfText("SET a = :s REMOVE b ADD c :n DELETE d :ss"), 3U + (19 + 1 + 3) + (1 + 1) + (19 + 1 + 2) + 2);
}

TEST(UpdateCharge, NamesOfPlaceholdersCount) {
  const absl::StatusOr<BoundExpressions> bound =
      Request().With(ExpressionKind::kUpdate, "SET #x.#x = #x").WithName("#x", std::string(1000, 'x')).Bind();
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(ChargeOf(*bound->update), 3U + 19 + 1000 + (4 + 1000) + (1 + 14 + 1000));
}

TEST(UpdateCharge, LegacyUpdatesAreFree) {
  Update update;
  update.style = UpdateStyle::kAttributeUpdates;
  update.removes.push_back({{{PathElement::Kind::kName, "a"}}});
  EXPECT_EQ(ChargeOf(update), 0U);
}

// A random update as a text, and its charge by the formula, summed while the text is written.
class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  std::string Write() {
    std::string text;
    for (const std::string_view section : {"SET", "REMOVE", "ADD", "DELETE"}) {
      const int actions = Below(4);
      for (int i = 0; i < actions; ++i) {
        text += Cat(i == 0 ? Cat(text.empty() ? "" : " ", section, " ") : ", ", Action(section));
      }
    }
    return text.empty() ? Cat("SET ", Action("SET")) : text;
  }

  size_t charge() const { return charge_; }
  const std::map<std::string, std::string>& names() const { return names_; }
  const std::map<std::string, Wire>& values() const { return values_; }

 private:
  int Below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  std::string Action(std::string_view section) {
    std::string text = Target();
    if (section == "SET") {
      charge_ += 19;
      return Cat(text, " = ", Sum());
    }
    charge_ += section == "ADD" ? 19 : 1;
    if (section == "REMOVE") return text;
    if (section == "DELETE") return Cat(text, " ", Value(SS({"x", "yz"}), 0));
    return Cat(text, " ", Below(2) == 0 ? Value(SS({"x", "yz"}), 3) : Value(N("-12.5"), 1 + 1 + 1 + 1));
  }

  // Each target begins with a name of its own, so that no two overlap.
  std::string Target() {
    const std::string first = Cat("t", targets_++);
    charge_ += first.size();
    return Cat(first, Elements(4));
  }

  std::string Elements(size_t step) {
    std::string text;
    for (int i = Below(4); i > 0; --i) text += Element(step);
    return text;
  }

  std::string Element(size_t step) {
    charge_ += step;
    switch (Below(3)) {
      case 0: {
        const std::string index = std::to_string(Below(2) == 0 ? Below(10) : Below(2'000'000));
        charge_ += index.size();
        return Cat("[", index, "]");
      }
      case 1:
        charge_ += 3;
        return ".nam";
      default: {
        const std::string placeholder = Cat("#p", names_.size());
        names_[placeholder] = std::string(1 + static_cast<size_t>(Below(300)), 'n');
        charge_ += names_[placeholder].size();
        return Cat(".", placeholder);
      }
    }
  }

  std::string Path() {
    charge_ += 1 + 14 + 4;
    return Cat("srcs", Elements(14));
  }

  std::string Value(Wire wire, size_t size) {
    charge_ += size;
    const std::string placeholder = Cat(":v", values_.size());
    values_[placeholder] = std::move(wire);
    return placeholder;
  }

  std::string Number() {
    if (Below(2) == 0) return Path();
    return Value(N("123"), 3);
  }

  std::string List(int depth) {
    switch (depth > 3 ? 0 : Below(3)) {
      case 0:
        return Value(L({Bool(true), M({{"key", Null()}})}), 3 + (1 + 1) + (1 + 3 + 1 + 3 + 1));
      case 1:
        return Path();
      default:
        charge_ += 39;
        return Cat("if_not_exists(", Path(), ", ", List(depth + 1), ")");
    }
  }

  std::string Sum() {
    switch (Below(6)) {
      case 0:
        charge_ += 34;
        return Cat(Number(), " + ", Number());
      case 1:
        charge_ += 37;
        return Cat("(", Number(), " - (", Number(), "))");
      case 2:
        charge_ += 37;
        return Cat("list_append(", List(0), ", ", List(0), ")");
      case 3:
        return List(0);
      case 4:
        return Path();
      default: {
        const auto size = static_cast<size_t>(Below(50'000));
        return Value(S(std::string(size, 'x')), size);
      }
    }
  }

  std::mt19937 random_;
  size_t charge_ = 3;
  int targets_ = 0;
  std::map<std::string, std::string> names_;
  std::map<std::string, Wire> values_;
};

TEST(UpdateCharge, IsTheSumOfWhatAnUpdateIsMadeOf) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Writer writer(seed);
    const std::string text = writer.Write();
    if (text.size() > model::kExpressionMaxBytes) continue;
    Request request;
    for (const auto& [placeholder, name] : writer.names()) request.WithName(placeholder, name);
    for (const auto& [placeholder, wire] : writer.values()) request.WithValue(placeholder, wire);
    const absl::StatusOr<BoundExpressions> bound = request.With(ExpressionKind::kUpdate, text).Bind();
    ASSERT_TRUE(bound.ok()) << text << "\n" << bound.status() << "\nseed " << seed;
    ASSERT_EQ(ChargeOf(*bound->update), writer.charge()) << text << "\nseed " << seed;
  }
}

}  // namespace
}  // namespace armature::expr
