#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "engine/expr/binder.h"
#include "engine/expr/condition_eval.h"
#include "tests/support/rounds.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::garbage_test {

using testing::Item;
using testing::Request;

constexpr std::string_view kWords[] = {
    "a",
    "b",
    "h",
    "#a",
    "#b",
    ":s",
    ":n",
    ":n2",
    ":ss",
    ":l",
    "AND",
    "OR",
    "NOT",
    "IN",
    "SET",
    "REMOVE",
    "ADD",
    "DELETE",
    "BETWEEN",
    "(",
    ")",
    "(",
    ")",
    ",",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    ".",
    "[0]",
    "[",
    "]",
    "12",
    "size(",
    "contains(",
    "f(",
    "attribute_exists(",
    "begins_with(",
    "if_not_exists(",
    "list_append(",
    "zone",
    "#missing",
    ":missing",
    "!",
    "\xF0\x9D\x84\x9E",
    "\xFF",
    "_",
};

// Binds `text` as every kind of expression. The outcome must be a result or a ValidationException.
void TryEveryKind(const std::string& text, const std::string& item) {
  for (const ExpressionKind kind : {ExpressionKind::kUpdate, ExpressionKind::kCondition, ExpressionKind::kKeyCondition,
                                    ExpressionKind::kFilter, ExpressionKind::kProjection}) {
    Request request;
    const auto bound = request.With(kind, text).Bind();
    if (!bound.ok()) {
      ASSERT_TRUE(GetApiError(bound.status()).has_value()) << text << ": " << bound.status();
      continue;
    }
    if (bound->condition.has_value()) Evaluate(*bound->condition, model::ItemView(item));
    if (bound->projection.has_value()) Project(*bound->projection, model::ItemView(item));
  }
}

class Garbage : public ::testing::Test {
 protected:
  Garbage() : seed_(std::random_device()()), random_(seed_) {
    RecordProperty("seed", std::to_string(seed_));
    item_ = Item({{"a", testing::M({{"b", testing::L({testing::N("1")})}})},
                  {"b", testing::SS({"x", "y"})},
                  {"h", testing::S("abc")}});
  }
  ~Garbage() override {
    if (HasFailure()) std::printf("seed %u\n", seed_);
  }
  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

  const uint32_t seed_;
  std::mt19937 random_;
  std::string item_;
};

TEST_F(Garbage, RandomWordsNeverCrash) {
  for (int round = 0; round < test::Rounds(20'000); ++round) {
    std::string text;
    for (size_t words = Below(24); words > 0; --words) {
      text += kWords[Below(std::size(kWords))];
      if (Below(2) == 0) text += ' ';
    }
    TryEveryKind(text, item_);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Garbage, RandomBytesNeverCrash) {
  for (int round = 0; round < 2'000; ++round) {
    std::string text(Below(200), ' ');
    for (char& c : text) c = static_cast<char>(Below(256));
    TryEveryKind(text, item_);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Garbage, DamagedExpressionsNeverCrash) {
  constexpr std::string_view kTexts[] = {
      "(a.b[0] = :n OR NOT contains(b, :s)) AND #a BETWEEN :n AND :n2 AND a IN (:s, (b))",
      "SET a = if_not_exists(b, :n) + :n, b[1] = list_append(:l, a) REMOVE h ADD #a.#b :ss",
      "h = :s AND begins_with(a, :s)",
      "a.b[0], h, b[1].a",
  };
  for (int round = 0; round < test::Rounds(20'000); ++round) {
    std::string text(kTexts[Below(std::size(kTexts))]);
    for (size_t edits = 1 + Below(3); edits > 0 && !text.empty(); --edits) {
      const size_t position = Below(text.size());
      if (Below(2) == 0) {
        text.erase(position, 1 + Below(4));
      } else {
        text.insert(position, kWords[Below(std::size(kWords))]);
      }
    }
    TryEveryKind(text, item_);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Garbage, LongTextsOfOneWordAreAnsweredFast) {
  for (const std::string_view word : kWords) {
    std::string text;
    while (text.size() + word.size() <= 4096) text += word;
    TryEveryKind(text, item_);
    if (HasFatalFailure()) return;
  }
}

}  // namespace armature::expr::garbage_test
