#include "tools/armature/sql/aggregates.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli::aggregates_test {

using testing::HasSubstr;

SelectStatement Parsed(std::string_view statement) {
  absl::StatusOr<SelectStatement> parsed = ParseSelect(*TokenizeSql(statement));
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *std::move(parsed);
}

api::v1::AttributeValue N(const std::string& number) {
  api::v1::AttributeValue value;
  value.set_n(number);
  return value;
}
api::v1::AttributeValue S(const std::string& text) {
  api::v1::AttributeValue value;
  value.set_s(text);
  return value;
}

api::v1::Item ItemOf(const std::map<std::string, api::v1::AttributeValue>& attributes) {
  api::v1::Item item;
  for (const auto& [name, value] : attributes) (*item.mutable_attributes())[name] = value;
  return item;
}

TEST(Aggregates, WithoutItems) {
  const SelectStatement statement = Parsed("SELECT COUNT(*), COUNT(a), SUM(a), MIN(a), AVG(a) FROM t");
  const std::vector<ItemGroups::Row> rows = ItemGroups(statement).Rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].item.attributes().at("COUNT(*)").n(), "0");
  EXPECT_EQ(rows[0].item.attributes().at("COUNT(a)").n(), "0");
  EXPECT_TRUE(rows[0].item.attributes().at("SUM(a)").null());
  EXPECT_TRUE(rows[0].item.attributes().at("MIN(a)").null());
  EXPECT_TRUE(rows[0].item.attributes().at("AVG(a)").null());
  const SelectStatement grouped = Parsed("SELECT a, COUNT(*) FROM t GROUP BY a");
  EXPECT_TRUE(ItemGroups(grouped).Rows().empty());
}

TEST(Aggregates, MissingValuesAndNullsAreLeftOut) {
  const SelectStatement statement = Parsed("SELECT COUNT(*), COUNT(a), AVG(a), MAX(a), COUNT(DISTINCT a) FROM t");
  ItemGroups groups(statement);
  api::v1::AttributeValue null;
  null.set_null(true);
  for (const auto& item : {ItemOf({{"a", N("1")}}), ItemOf({{"a", N("2")}}), ItemOf({{"a", N("2.0")}}),
                           ItemOf({{"a", null}}), ItemOf({{"b", N("9")}})}) {
    ASSERT_TRUE(groups.Add(item).ok());
  }
  const auto attributes = groups.Rows()[0].item.attributes();
  EXPECT_EQ(attributes.at("COUNT(*)").n(), "5");
  EXPECT_EQ(attributes.at("COUNT(a)").n(), "3");
  EXPECT_EQ(attributes.at("MAX(a)").n(), "2");
  EXPECT_EQ(attributes.at("COUNT(DISTINCT a)").n(), "2");
  EXPECT_EQ(attributes.at("AVG(a)").n(), "1." + std::string(36, '6') + "7");
}

TEST(Aggregates, SumsOfTextsAreRefused) {
  const SelectStatement statement = Parsed("SELECT SUM(a) FROM t");
  ItemGroups groups(statement);
  const absl::Status status = groups.Add(ItemOf({{"a", S("1")}}));
  EXPECT_THAT(status.message(), HasSubstr("type S"));
  EXPECT_TRUE(PlaceIsOurs(status));
}

// Equal numbers are one group, whatever they are written like; a text is another one.
TEST(Aggregates, GroupsHaveEqualValues) {
  const SelectStatement statement = Parsed("SELECT a, COUNT(*) AS n FROM t GROUP BY a");
  ItemGroups groups(statement);
  for (const auto& item : {ItemOf({{"a", N("1")}}), ItemOf({{"a", N("1.00")}}), ItemOf({{"a", S("1")}}), ItemOf({}),
                           ItemOf({{"b", N("1")}})}) {
    ASSERT_TRUE(groups.Add(item).ok());
  }
  std::vector<std::string> counts;
  for (const auto& row : groups.Rows()) counts.push_back(row.item.attributes().at("n").n());
  EXPECT_EQ(counts, (std::vector<std::string>{"2", "1", "2"}));
}

TEST(OrderedValues, NumbersThenTextsThenNullThenNothing) {
  api::v1::AttributeValue null;
  null.set_null(true);
  api::v1::AttributeValue list;
  list.mutable_l();
  const auto ten = N("10");
  const auto nine = N("9");
  const auto text = S("1");
  const std::vector<const api::v1::AttributeValue*> ordered = {&nine, &ten, &text, &list, &null, nullptr};
  for (size_t a = 0; a < ordered.size(); ++a) {
    for (size_t b = 0; b < ordered.size(); ++b) {
      EXPECT_EQ(OrderedValue::Of(ordered[a]) < OrderedValue::Of(ordered[b]), a < b) << a << " " << b;
    }
  }
}

// Cents in 64 bits are the model of decimals.
TEST(Aggregates, AgreeWithAModel) {
  const SelectStatement statement =
      Parsed("SELECT g, COUNT(*), SUM(v), MIN(v), MAX(v), COUNT(DISTINCT v) FROM t GROUP BY g");
  const auto cents_text = [](int64_t cents) {
    const int64_t magnitude = cents < 0 ? -cents : cents;
    return Cat(cents < 0 ? "-" : "", magnitude / 100, ".", magnitude / 10 % 10, magnitude % 10);
  };
  const auto cents_of = [](const std::string& text) {
    const absl::StatusOr<model::Number> number = model::Number::Parse(text + "e2");
    return std::stoll(number->ToString());
  };
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    ItemGroups groups(statement);
    std::map<std::string, std::vector<int64_t>> model;
    for (uint64_t i = random() % 200; i > 0; --i) {
      const std::string group = Cat("g", random() % 7);
      const int64_t cents = static_cast<int64_t>(random() % 2001) - 1000;
      model[group].push_back(cents);
      ASSERT_TRUE(groups.Add(ItemOf({{"g", S(group)}, {"v", N(cents_text(cents))}})).ok());
    }
    const std::vector<ItemGroups::Row> rows = groups.Rows();
    ASSERT_EQ(rows.size(), model.size());
    for (const ItemGroups::Row& row : rows) {
      const auto& attributes = row.item.attributes();
      const std::vector<int64_t>& values = model.at(attributes.at("g").s());
      int64_t sum = 0;
      for (const int64_t value : values) sum += value;
      EXPECT_EQ(attributes.at("COUNT(*)").n(), std::to_string(values.size()));
      EXPECT_EQ(cents_of(attributes.at("SUM(v)").n()), sum);
      EXPECT_EQ(cents_of(attributes.at("MIN(v)").n()), *std::min_element(values.begin(), values.end()));
      EXPECT_EQ(cents_of(attributes.at("MAX(v)").n()), *std::max_element(values.begin(), values.end()));
      EXPECT_EQ(attributes.at("COUNT(DISTINCT v)").n(),
                std::to_string(std::set<int64_t>(values.begin(), values.end()).size()));
    }
  }
}

}  // namespace armature::cli::aggregates_test
