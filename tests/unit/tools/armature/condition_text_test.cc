#include "tools/armature/condition_text.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "armature/api/v1/items.pb.h"
#include "storage/base/strings.h"
#include "tools/armature/plain_json.h"

namespace armature::cli::condition_text_test {

using testing::HasSubstr;

using Write = absl::StatusOr<std::string> (ExpressionWriter::*)(std::string_view);

// The expression with <name> for the placeholder of each name, and plain JSON for each value; or the error.
std::string Written(Write write, const std::string& text) {
  ExpressionWriter writer;
  const absl::StatusOr<std::string> expression = (writer.*write)(text);
  if (!expression.ok()) return std::string(Sv(expression.status().message()));
  api::v1::QueryRequest request;
  writer.SetPlaceholders(&request);
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [placeholder, name] : request.expression_attribute_names()) {
    texts.emplace_back(placeholder, Cat("<", name, ">"));
  }
  for (const auto& [placeholder, value] : request.expression_attribute_values()) {
    texts.emplace_back(placeholder, PlainValue(value));
  }
  return absl::StrReplaceAll(*expression, texts);
}

std::string Condition(const std::string& text) { return Written(&ExpressionWriter::Condition, text); }
std::string Assignments(const std::string& text) { return Written(&ExpressionWriter::Assignments, text); }
std::string Paths(const std::string& text) {
  ExpressionWriter writer;
  std::vector<std::string> attributes;
  const absl::StatusOr<std::string> paths = writer.Paths(text, &attributes);
  return paths.ok() ? Cat(*paths, " of ", absl::StrJoin(attributes, "|")) : std::string(Sv(paths.status().message()));
}
std::string PathsWithValues(const std::string& text) { return Written(&ExpressionWriter::PathsWithValues, text); }

// The text before the place of the error.
std::string BeforeFault(const std::string& text) {
  ExpressionWriter writer;
  const absl::StatusOr<std::string> condition = writer.Condition(text);
  if (condition.ok()) return "no error";
  const std::optional<size_t> place = PlaceOf(condition.status());
  return place.has_value() ? text.substr(0, *place) : "no place";
}

TEST(ConditionTextTest, ExpressionsOfARequestShareTheirPlaceholders) {
  ExpressionWriter writer;
  EXPECT_EQ(*writer.Condition("status = 'new' and total > 1"), "#n0 = :v0 AND #n1 > :v1");
  EXPECT_EQ(*writer.Condition("total < 5"), "#n1 < :v2");
  EXPECT_EQ(writer.Name("status"), "#n0");
  api::v1::UpdateItemRequest request;
  writer.SetPlaceholders(&request);
  EXPECT_EQ(request.expression_attribute_names().size(), 2);
  EXPECT_EQ(request.expression_attribute_names().at("#n1"), "total");
  EXPECT_EQ(request.expression_attribute_values().size(), 3);
  EXPECT_EQ(request.expression_attribute_values().at(":v0").s(), "new");
  EXPECT_EQ(request.expression_attribute_values().at(":v2").n(), "5");
}

TEST(ConditionTextTest, Comparisons) {
  EXPECT_EQ(Condition("a=1"), "<a> = 1");
  EXPECT_EQ(Condition("a == -1.5"), "<a> = -1.5");
  EXPECT_EQ(Condition("a!=true"), "<a> <> true");
  EXPECT_EQ(Condition("a <> NULL"), "<a> <> null");
  EXPECT_EQ(Condition("a<=b"), "<a> <= <b>");
  EXPECT_EQ(Condition("1 >= a"), "1 >= <a>");
  EXPECT_EQ(Condition("name ^= 'x'"), "begins_with(<name>, \"x\")");
  EXPECT_EQ(Condition("a between 1 and 2 and b = 3"), "<a> BETWEEN 1 AND 2 AND <b> = 3");
  EXPECT_EQ(Condition("a NOT BETWEEN 'x' AND 'y'"), "NOT (<a> BETWEEN \"x\" AND \"y\")");
  EXPECT_EQ(Condition("a in (1, 'x', b)"), "<a> IN (1, \"x\", <b>)");
  EXPECT_EQ(Condition("a not in (1)"), "NOT (<a> IN (1))");
}

TEST(ConditionTextTest, WordsAreConnectedAsWritten) {
  EXPECT_EQ(Condition("a = 1 or b = 2 AND NOT (c = 3 Or not d = 4)"),
            "<a> = 1 OR <b> = 2 AND NOT (<c> = 3 OR NOT <d> = 4)");
  EXPECT_EQ(Condition("((a = 1))"), "((<a> = 1))");
}

TEST(ConditionTextTest, Functions) {
  EXPECT_EQ(Condition("contains(tags, 'x') and Begins_With (a.b, \"y\")"),
            "contains(<tags>, \"x\") AND begins_with(<a>.<b>, \"y\")");
  EXPECT_EQ(Condition("attribute_exists(a) or attribute_not_exists(b)"),
            "attribute_exists(<a>) OR attribute_not_exists(<b>)");
  EXPECT_EQ(Condition("attribute_type(a, SS) and attribute_type(b, 'N')"),
            "attribute_type(<a>, \"SS\") AND attribute_type(<b>, \"N\")");
  EXPECT_EQ(Condition("size(a) > 2 and 3 < size(b)"), "size(<a>) > 2 AND 3 < size(<b>)");
  // Without parentheses they are attributes.
  EXPECT_EQ(Condition("size > 2 and contains = 1"), "<size> > 2 AND <contains> = 1");
}

TEST(ConditionTextTest, PathsAndOddNames) {
  EXPECT_EQ(Condition("a.b[0].c[12] = 1"), "<a>.<b>[0].<c>[12] = 1");
  EXPECT_EQ(Condition("`order-id` = 1 and `a.b``c`.`and`[1] = 2"), "<order-id> = 1 AND <a.b`c>.<and>[1] = 2");
  EXPECT_EQ(Condition("größe = 1"), "<größe> = 1");
  EXPECT_EQ(Condition("`2nd` = 1"), "<2nd> = 1");
}

TEST(ConditionTextTest, Texts) {
  EXPECT_EQ(Condition("a = 'it''s \\ \"'"), R"(<a> = "it's \\ \"")");
  EXPECT_EQ(Condition(R"(a = "it's \"\\ \u00e9\n")"), R"(<a> = "it's \"\\ é\n")");
  EXPECT_EQ(Condition("a = ''"), R"(<a> = "")");
  EXPECT_EQ(Condition("a = ' and '"), R"(<a> = " and ")");
}

TEST(ConditionTextTest, ValuesMayBePlainJson) {
  EXPECT_EQ(Condition(R"(a = ["x", "]}", {"k": 1}] and b = {"SS": ["y"]})"),
            R"(<a> = ["x", "]}", {"k": 1}] AND <b> = {"SS": ["y"]})");
  EXPECT_EQ(Condition("n = 12345678901234567890123456789012345678"), "<n> = 12345678901234567890123456789012345678");
  EXPECT_EQ(Condition("n = +1.5e3"), R"(<n> = {"N": "+1.5e3"})");
}

TEST(ConditionTextTest, ErrorsSayWhatWasExpected) {
  EXPECT_EQ(Condition(""), "expected an attribute, not the end");
  EXPECT_EQ(Condition("a > and"), "expected an attribute, not \"and\"; an attribute of this name stands in backticks");
  EXPECT_EQ(Condition("a = '\xff'"), "the text is not UTF-8");
  EXPECT_EQ(Condition("a"), "expected a comparison (= != < <= > >= ^= between in), not the end");
  EXPECT_EQ(Condition("a = 1 b"), "expected the end, not \"b\"");
  EXPECT_EQ(Condition("(a = 1"), "expected ), and, or or, not the end");
  EXPECT_EQ(Condition("a = 'x"), "the ' is not closed");
  EXPECT_EQ(Condition("a = \"x\\\""), "the \" is not closed");
  EXPECT_EQ(Condition("a = {\"x\": [1}"), "the { is not closed");
  EXPECT_THAT(Condition("a = {x: 1}"), HasSubstr("not valid JSON"));
  EXPECT_EQ(Condition("`a = 1"), "the ` is not closed");
  EXPECT_EQ(Condition("a[x] = 1"), "expected the number of an element, not \"x\"");
  EXPECT_EQ(Condition("a between 1 or 2"), "expected and, not \"or\"");
  EXPECT_EQ(Condition("contain(a, 'x')"), "there is no function contain in conditions; did you mean 'contains'?");
  EXPECT_EQ(Condition("contains(a)"), "expected a comma, not \")\"");
  EXPECT_EQ(Condition("a = contains(b, 1)"), "contains is a condition by itself, not a value");
  EXPECT_THAT(Condition("a = 5x"), HasSubstr("not a number; texts stand in quotes"));
  EXPECT_THAT(Condition("a = 1.2.3"), HasSubstr("\"1.2.3\" is no number"));
  EXPECT_THAT(Condition("a = -"), HasSubstr("\"-\" is no number"));
  EXPECT_THAT(Condition(std::string(100'000, '(')), HasSubstr("nested too deeply"));
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "not ";
  EXPECT_THAT(Condition(nots), HasSubstr("nested too deeply"));
  const auto nested = [](int depth) {
    std::string functions = "a = ";
    for (int i = 0; i < depth; ++i) functions += "list_append(";
    for (int i = 0; i < depth; ++i) functions += "[1], [2])";
    return functions;
  };
  EXPECT_THAT(Assignments(nested(100'000)), HasSubstr("nested too deeply"));
  EXPECT_EQ(Assignments("a = list_append(list_append(b, [1]), [2])"), "<a> = list_append(list_append(<b>, [1]), [2])");
}

TEST(ConditionTextTest, ErrorsHaveAPlace) {
  EXPECT_EQ(BeforeFault("amount >  and x"), "amount >  ");
  EXPECT_EQ(BeforeFault("a = 1 and (b = 2"), "a = 1 and (b = 2");
  EXPECT_EQ(BeforeFault("a = 1 and b = 'x"), "a = 1 and b = ");
  EXPECT_EQ(BeforeFault("a = 1 and bear(b)"), "a = 1 and ");
  EXPECT_EQ(CaretLines("é > and", 5), "  é > and\n      ^\n");
  EXPECT_EQ(CaretLines("a\nb", 1), "");
}

TEST(ConditionTextTest, AssignmentsOfUpdates) {
  EXPECT_EQ(Assignments("amount = amount + 5, note = \"x\""), "<amount> = <amount> + 5, <note> = \"x\"");
  EXPECT_EQ(Assignments("a = b - 1,c=5-2"), "<a> = <b> - 1, <c> = 5 - 2");
  EXPECT_EQ(Assignments("a += 5, b.c[0] -= x"), "<a> = <a> + 5, <b>.<c>[0] = <b>.<c>[0] - <x>");
  EXPECT_EQ(Assignments("l = list_append(if_not_exists(l, []), [\"a\", {\"SS\": [\"x\"]}])"),
            "<l> = list_append(if_not_exists(<l>, []), [\"a\", {\"SS\": [\"x\"]}])");
  EXPECT_EQ(Assignments("a = if_not_exists(a, 0) + 1"), "<a> = if_not_exists(<a>, 0) + 1");
  EXPECT_EQ(Assignments("a"), "expected =, += or -=, not the end");
  EXPECT_EQ(Assignments("a = 1,"), "expected an attribute, not the end");
  EXPECT_EQ(Assignments("a = b + 1 + 2"), "expected the end, not \"+\"");
  EXPECT_EQ(Assignments("a = list_appendd(a, b)"),
            "there is no function list_appendd in assignments; did you mean 'list_append'?");
  EXPECT_EQ(Assignments("a = size(b)"), "there is no function size in assignments");
}

TEST(ConditionTextTest, ListsOfPaths) {
  EXPECT_EQ(Paths("a, b.c[1],`x y`"), "#n0, #n1.#n2[1], #n3 of a|b|x y");
  EXPECT_EQ(Paths("a b"), "expected the end, not \"b\"");
  EXPECT_EQ(PathsWithValues("n 5, tags {\"SS\": [\"x\"]}, s [1]"), "<n> 5, <tags> {\"SS\": [\"x\"]}, <s> [1]");
  EXPECT_EQ(PathsWithValues("n m"), "expected a value (texts stand in quotes), not \"m\"");
}

}  // namespace armature::cli::condition_text_test
