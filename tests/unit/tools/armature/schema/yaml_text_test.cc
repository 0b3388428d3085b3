#include "tools/armature/schema/yaml_text.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli::yaml_text_test {

using testing::HasSubstr;

// The JSON of the text, or the error.
std::string Parsed(std::string_view text) {
  const auto json = ParseYaml(text);
  return json.ok() ? CompactJson(*json) : std::string(json.status().message());
}

TEST(YamlText, PlainScalarsHaveTheTypesOfTheCoreSchema) {
  EXPECT_EQ(Parsed("[1, -2.5, 1e3, true, False, null, ~, ]"), "[1,-2.5,1000.0,true,false,null,null]");
  EXPECT_EQ(Parsed("[yes, 2010-09-09, 007, 1.2.3, '1', \"true\", -, 1., !!str 5]"),
            R"(["yes","2010-09-09","007","1.2.3","1","true","-","1.","5"])");
  EXPECT_EQ(Parsed("1234567890123456789"), "\"1234567890123456789\"") << "a number would lose digits";
  EXPECT_EQ(Parsed(""), "null");
}

TEST(YamlText, BlocksAndFlowsAreListsAndObjects) {
  EXPECT_EQ(Parsed("a:\n  - b: 1\n    c: [x, {d: e}]\n  - |\n    two\n    lines\n1: y\n"),
            R"({"a":[{"b":1,"c":["x",{"d":"e"}]},"two\nlines\n"],"1":"y"})");
  EXPECT_EQ(Parsed("{\"a\": [1]}"), R"({"a":[1]})") << "JSON is YAML";
}

TEST(YamlText, ShortFormsOfFunctionsBecomeTheirLongForms) {
  EXPECT_EQ(Parsed("[!Ref A, !Sub 'x-${A}', !Equals [1, 2], !Condition C]"),
            R"([{"Ref":"A"},{"Fn::Sub":"x-${A}"},{"Fn::Equals":[1,2]},{"Condition":"C"}])");
  EXPECT_EQ(Parsed("!Join\n- ','\n- !Ref L\n"), R"({"Fn::Join":[",",{"Ref":"L"}]})");
}

TEST(YamlText, AliasesAreCopies) {
  EXPECT_EQ(Parsed("a: &x {k: [1]}\nb: *x\nc: &y z\nd: *y\n"), R"({"a":{"k":[1]},"b":{"k":[1]},"c":"z","d":"z"})");
  EXPECT_THAT(Parsed("a: *x\nb: &x 1\n"), HasSubstr("line 1, column 4: an alias without an anchor before it"));
  EXPECT_THAT(Parsed("&x [*x]"), HasSubstr("an alias without an anchor"));
}

TEST(YamlText, FaultsNameTheirPlace) {
  EXPECT_THAT(Parsed("a: 1\nb: [\n"), HasSubstr("line 3, column 1: "));
  EXPECT_THAT(Parsed("a: 1\na: 2\n"), HasSubstr("line 2, column 1: the member a occurs twice"));
  EXPECT_THAT(Parsed("<<: {a: 1}\n"), HasSubstr("merge keys (<<) are not supported"));
  EXPECT_THAT(Parsed("? [a]\n: 1\n"), HasSubstr("the name of a member must be a text"));
  EXPECT_THAT(Parsed("a: &x 1\n*x : 2\n"), HasSubstr("the name of a member must be a text"));
  EXPECT_THAT(Parsed("--- 1\n--- 2\n"), HasSubstr("a second document"));
  EXPECT_THAT(Parsed("\t- a"), HasSubstr("line 1"));
  EXPECT_THAT(Parsed(std::string("a: \xff\xfe\x00", 6)), HasSubstr("line 1"));
}

TEST(YamlText, DeepNestingIsRefused) {
  EXPECT_THAT(Parsed(std::string(100000, '[')), HasSubstr("too many levels"));
  EXPECT_THAT(Parsed(std::string(70, '[') + std::string(70, ']')), HasSubstr("[[["));
  // Each line is one level deeper than the line before, by its alias.
  std::string text = "a0: &a0 [1]\n";
  for (int i = 1; i < 200; ++i) text += Cat("a", i, ": &a", i, " [*a", i - 1, "]\n");
  EXPECT_THAT(Parsed(text), HasSubstr("line 79, column 12: too many levels"));
}

TEST(YamlText, AliasBombsAreRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += Cat("a", i, ": &a", i, " [");
    for (int k = 0; k < 10; ++k) text += Cat(k == 0 ? "*a" : ", *a", i - 1);
    text += "]\n";
  }
  EXPECT_THAT(Parsed(text), HasSubstr("the value is too large"));
  text = Cat("a: &a '", std::string(1 << 20, 'x'), "'\nb: [*a");
  for (int i = 0; i < 100; ++i) text += ", *a";
  EXPECT_THAT(Parsed(text + "]\n"), HasSubstr("the value is too large"));
}

TEST(YamlText, MappingsHaveALimitedNumberOfMembers) {
  std::string text;
  for (size_t i = 0; i <= kYamlMembersMax; ++i) text += Cat("k", i, ": 1\n");
  EXPECT_THAT(Parsed(text), HasSubstr("too many members"));
}

}  // namespace armature::cli::yaml_text_test
