// Cost of expressions: parsing, binding, filters and updates, on an item of 20 attributes and about 1 KB.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "engine/expr/ast.h"
#include "engine/expr/binder.h"
#include "engine/expr/condition_eval.h"
#include "engine/expr/fault_log.h"
#include "engine/expr/parser.h"
#include "engine/expr/update_eval.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::expr {
namespace {

// Five terms, on attributes from the first to the last. All are true for Item(), so that all are evaluated.
constexpr std::string_view kFilter =
    "a00 = :a AND a05 > :n AND begins_with(a10, :p) AND attribute_exists(a15) AND a19 <> :x";

// The item as a client sends it: 20 attributes in order of name, every fifth a number.
std::string SentItem() {
  codec::Attributes attributes;
  for (int i = 0; i < 20; ++i) {
    const std::string name = (i < 10 ? "a0" : "a") + std::to_string(i);
    attributes.emplace_back(name, i % 5 == 0 && i != 10 && i != 0 ? codec::N(std::to_string(i * 1000) + ".25")
                                                                  : codec::S(name + std::string(42, 'v')));
  }
  attributes.emplace_back("n", codec::N("41"));
  return codec::Item(attributes);
}

std::string CanonicalItem(const std::string& wire) {
  const absl::StatusOr<codec::CanonicalItem> item = codec::CanonicalizeItem(wire);
  if (!item.ok()) std::abort();
  return item->bytes;
}

// An expression bound to values, together with these values.
struct Bound {
  explicit Bound(const codec::Attributes& attributes) : values(codec::Item(attributes)) {
    placeholders.values = model::ItemView(values);
  }
  BoundExpressions Bind(const ExpressionTexts& texts, std::span<const ExpressionKind> kinds,
                        ParseCache* cache = nullptr) const {
    absl::StatusOr<BoundExpressions> bound = BindExpressions(texts, placeholders, kinds, cache);
    if (!bound.ok()) std::abort();
    return *std::move(bound);
  }
  std::string values;
  Placeholders placeholders;
};

Bound FilterValues() {
  return Bound({{":a", codec::S("a00" + std::string(42, 'v'))},
                {":n", codec::N("42")},
                {":p", codec::S("a10vv")},
                {":x", codec::S("x")}});
}
ExpressionTexts FilterTexts() {
  ExpressionTexts texts;
  texts.filter = kFilter;
  return texts;
}

void ParseFilter(benchmark::State& state) {
  for (auto _ : state) {
    FaultLog faults;
    benchmark::DoNotOptimize(ParseCondition(ExpressionKind::kFilter, kFilter, &faults));
  }
}
BENCHMARK(ParseFilter);

void BindFilter(benchmark::State& state) {
  const Bound values = FilterValues();
  for (auto _ : state) benchmark::DoNotOptimize(values.Bind(FilterTexts(), kScanKinds));
}
BENCHMARK(BindFilter);

void BindCachedFilter(benchmark::State& state) {
  ParseCache cache(1 << 20);
  const Bound values = FilterValues();
  for (auto _ : state) benchmark::DoNotOptimize(values.Bind(FilterTexts(), kScanKinds, &cache));
}
BENCHMARK(BindCachedFilter);

void EvaluateFilterOfFiveTerms(benchmark::State& state) {
  const Bound values = FilterValues();
  const BoundExpressions bound = values.Bind(FilterTexts(), kScanKinds);
  const std::string item = CanonicalItem(SentItem());
  if (!Evaluate(*bound.filter, model::ItemView(item))) state.SkipWithError("the filter is false");
  for (auto _ : state) benchmark::DoNotOptimize(Evaluate(*bound.filter, model::ItemView(item)));
}
BENCHMARK(EvaluateFilterOfFiveTerms);

ExpressionTexts UpdateTexts() {
  ExpressionTexts texts;
  texts.update = "SET n = n + :x";
  return texts;
}

void BindUpdateOfANumber(benchmark::State& state) {
  const Bound values({{":x", codec::N("1")}});
  for (auto _ : state) benchmark::DoNotOptimize(values.Bind(UpdateTexts(), kUpdateKinds));
}
BENCHMARK(BindUpdateOfANumber);

void ApplyUpdateOfANumber(benchmark::State& state) {
  const Bound values({{":x", codec::N("1")}});
  const BoundExpressions bound = values.Bind(UpdateTexts(), kUpdateKinds);
  const std::string item = CanonicalItem(SentItem());
  for (auto _ : state) {
    const auto after = ApplyUpdate(*bound.update, model::ItemView(item), model::ItemView());
    benchmark::DoNotOptimize(model::ApiSize(model::ItemView(**after)));
  }
}
BENCHMARK(ApplyUpdateOfANumber);

// The corresponding step of a put of the same item.
void CanonicalizeAPut(benchmark::State& state) {
  const std::string wire = SentItem();
  for (auto _ : state) benchmark::DoNotOptimize(codec::CanonicalizeItem(wire));
}
BENCHMARK(CanonicalizeAPut);

}  // namespace
}  // namespace armature::expr
