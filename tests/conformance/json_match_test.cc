#include "tests/conformance/json_match.h"

#include <string_view>

#include "gtest/gtest.h"

namespace armature::conformance::json_match_test {

std::string Difference(std::string_view expected, std::string_view actual, MatchOptions options = {}) {
  return FindDifference(Json::parse(expected), Json::parse(actual), options).value_or("");
}

TEST(JsonMatch, ExactAnswersHoldNothingElse) {
  EXPECT_EQ(Difference(R"({"a": 1})", R"({"a": 1.0})"), "");
  EXPECT_EQ(Difference(R"({})", R"({"a": 1})"), "a: should be absent, is 1");
  EXPECT_EQ(Difference(R"({"a": {"b": 1}})", R"({"a": {"b": 2}})"), "a.b: expected 1, got 2");
  EXPECT_EQ(Difference(R"({"Items": []})", R"({"Items": [], "Count": 0, "ScannedCount": 0})"), "");
  EXPECT_EQ(Difference(R"({"a": [1]})", R"({"a": [1, 2]})"), "a: expected 1 elements, got 2");
  EXPECT_EQ(Difference(R"({"a": {}})", R"({})"), "a: is absent");
}

TEST(JsonMatch, PartialAnswersMayHoldMore) {
  MatchOptions partial;
  partial.partial = true;
  EXPECT_EQ(Difference(R"({"a": {"b": 1}})", R"({"a": {"b": 1, "c": 2}, "d": 3})", partial), "");
  EXPECT_EQ(Difference(R"({"d": null})", R"({"a": 1})", partial), "");
  EXPECT_EQ(Difference(R"({"a": null})", R"({"a": 1})", partial), "a: should be absent, is 1");
}

TEST(JsonMatch, SetsHaveNoOrderAndListsHave) {
  EXPECT_EQ(Difference(R"({"a": {"SS": ["x", "y"]}})", R"({"a": {"SS": ["y", "x"]}})"), "");
  EXPECT_EQ(Difference(R"({"a": {"SS": ["x", "x"]}})", R"({"a": {"SS": ["y", "x"]}})"), "a.SS: lacks \"x\"");
  EXPECT_NE(Difference(R"({"a": {"L": [1, 2]}})", R"({"a": {"L": [2, 1]}})"), "");
}

TEST(JsonMatch, ItemsHaveNoOrderIfAskedFor) {
  EXPECT_NE(Difference(R"({"Items": [1, 2]})", R"({"Items": [2, 1]})"), "");
  MatchOptions unordered;
  unordered.unordered_items = true;
  EXPECT_EQ(Difference(R"({"Items": [1, 2]})", R"({"Items": [2, 1]})", unordered), "");
}

TEST(JsonMatch, AnyMatchesWhateverIsThere) {
  EXPECT_EQ(Difference(R"({"a": "<any>"})", R"({"a": {"b": 1}})"), "");
  EXPECT_EQ(Difference(R"({"a": "<any>"})", R"({})"), "a: is absent");
}

}  // namespace armature::conformance::json_match_test
