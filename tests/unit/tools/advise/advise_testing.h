#ifndef ARMATURE_TESTS_UNIT_TOOLS_ADVISE_ADVISE_TESTING_H_
#define ARMATURE_TESTS_UNIT_TOOLS_ADVISE_ADVISE_TESTING_H_

// Short calls of the advisor.

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/advise/advice.h"
#include "tools/advise/workload.h"

namespace armature::advise {

// Builds a workload in code. Attributes get consecutive ids; patterns refer to them by name.
class WorkloadBuilder {
 public:
  // Starts with a table of a million items of a kilobyte.
  WorkloadBuilder() {
    workload_.table.name = "Things";
    workload_.table.items = 1e6;
    workload_.table.item_bytes = 1024;
  }

  WorkloadBuilder& Attribute(std::string name, double distinct, double share = 1) {
    advise::Attribute attribute;
    attribute.name = std::move(name);
    attribute.value_bytes = 20;
    attribute.distinct = distinct;
    attribute.share = share;
    workload_.table.attributes.push_back(std::move(attribute));
    return *this;
  }

  WorkloadBuilder& Typed(std::string name, AttributeType type) {
    Attribute(std::move(name), 100);
    workload_.table.attributes.back().type = type;
    return *this;
  }

  WorkloadBuilder& HotShare(double share) {
    workload_.table.attributes.back().hot_share = share;
    return *this;
  }

  WorkloadBuilder& TableKey(std::string_view partition, std::string_view sort = "") {
    workload_.table.key = {{Id(partition)}, {}};
    if (!sort.empty()) workload_.table.key->sort = {Id(sort)};
    return *this;
  }

  WorkloadBuilder& Writes(double puts, std::initializer_list<Update> updates = {}) {
    workload_.table.puts_per_second = puts;
    workload_.table.updates = updates;
    return *this;
  }

  // A pattern that returns keys only, ten rows, once a second.
  WorkloadBuilder& Pattern(std::string name, std::initializer_list<std::string_view> equality,
                           std::string_view range = "", std::initializer_list<std::string_view> order = {}) {
    advise::Pattern pattern;
    pattern.name = std::move(name);
    pattern.equality = Ids(equality);
    if (!range.empty()) pattern.range = RangeCondition{Id(range), RangeKind::kRange};
    pattern.order = Ids(order);
    pattern.returns_all = false;
    pattern.rows = 10;
    workload_.patterns.push_back(std::move(pattern));
    return *this;
  }

  // Sets the returned attributes of the last pattern.
  WorkloadBuilder& Returns(std::initializer_list<std::string_view> names) {
    workload_.patterns.back().returns = Ids(names);
    return *this;
  }
  WorkloadBuilder& ReturnsAll() {
    workload_.patterns.back().returns_all = true;
    return *this;
  }
  WorkloadBuilder& Strong() {
    workload_.patterns.back().strong = true;
    return *this;
  }
  WorkloadBuilder& Has(std::initializer_list<std::string_view> names) {
    workload_.patterns.back().has = Ids(names);
    return *this;
  }
  WorkloadBuilder& PerSecond(double per_second) {
    workload_.patterns.back().per_second = per_second;
    return *this;
  }

  AttributeId Id(std::string_view name) const { return FindAttribute(workload_.table, name).value(); }
  AttributeList Ids(std::initializer_list<std::string_view> names) const {
    AttributeList ids;
    for (const std::string_view name : names) ids.push_back(Id(name));
    return ids;
  }

  Workload& workload() { return workload_; }

  advise::Advice Advise() const {
    absl::StatusOr<advise::Advice> advice = advise::Advise(workload_);
    EXPECT_TRUE(advice.ok()) << advice.status();
    return advice.ok() ? *std::move(advice) : advise::Advice();
  }

 private:
  Workload workload_;
};

// The advice for a file in docs/examples/advise.
inline Advice AdviseOnExample(const std::string& name) {
  std::ifstream file(std::string(ARMATURE_ADVISE_EXAMPLES) + "/" + name);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const absl::StatusOr<Workload> workload = WorkloadFromJson(Json::parse(text, nullptr, false));
  EXPECT_TRUE(workload.ok()) << workload.status();
  if (!workload.ok()) return {};
  absl::StatusOr<Advice> advice = Advise(*workload);
  EXPECT_TRUE(advice.ok()) << advice.status();
  return advice.ok() ? *std::move(advice) : Advice();
}

// A text like "GLOBAL CustomerId | OrderDate INCLUDE Status" for each index.
inline std::vector<std::string> Summaries(const Advice& advice) {
  std::vector<std::string> summaries;
  for (const IndexAdvice& index : advice.indexes) {
    std::string text = (index.local ? "LOCAL " : "GLOBAL ") + index.key.ToString() + " ";
    text += ProjectionName(index.projection);
    for (const std::string& name : index.non_key) text += " " + name;
    if (index.share < 1) text += " sparse";
    if (index.shards > 1) text += " x" + std::to_string(index.shards);
    summaries.push_back(std::move(text));
  }
  return summaries;
}

inline const PatternAdvice& FindPattern(const Advice& advice, std::string_view name) {
  static const PatternAdvice kNone;
  for (const PatternAdvice& pattern : advice.patterns) {
    if (pattern.name == name) return pattern;
  }
  ADD_FAILURE() << "no pattern " << name;
  return kNone;
}

inline std::string FindReason(const std::vector<Reason>& reasons, std::string_view topic) {
  for (const Reason& reason : reasons) {
    if (reason.topic == topic) return reason.text;
  }
  return "";
}

}  // namespace armature::advise

#endif  // ARMATURE_TESTS_UNIT_TOOLS_ADVISE_ADVISE_TESTING_H_
