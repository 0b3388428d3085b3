#include "tools/armature/json_text.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli::json_text_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string FaultOf(const std::string& text) { return std::string(ParseJson(text).status().message()); }

TEST(JsonText, ACaretShowsTheFault) {
  EXPECT_THAT(FaultOf("{\"a\": x}"), StartsWith("not valid JSON: parse error at line 1, column 7"));
  EXPECT_THAT(FaultOf("{\"a\": x}"), EndsWith("\n    {\"a\": x}\n          ^"));
  EXPECT_THAT(FaultOf("{\"a\": 1"), EndsWith("\n    {\"a\": 1\n           ^")) << "behind the end";
  EXPECT_THAT(FaultOf(""), EndsWith("\n    \n    ^"));
}

TEST(JsonText, OnlyTheLineOfTheFaultIsShown) {
  EXPECT_EQ(PlaceIn("{\n  \"a\": x\n}", 10), "      \"a\": x\n           ^");
  EXPECT_EQ(PlaceIn("a\x1b[31m\tb", 8), "    a [31m b\n           ^");
  const std::string shown = PlaceIn(std::string(1000, 'x') + "!" + std::string(1000, 'y'), 1001);
  EXPECT_EQ(shown, Cat("    ", std::string(60, 'x'), "!", std::string(29, 'y'), "\n    ", std::string(60, ' '), "^"));
  EXPECT_EQ(PlaceIn("\"\u00e9\u00e9\" x", 8), "    \"\u00e9\u00e9\" x\n         ^") << "characters, not bytes";
  EXPECT_EQ(PlaceIn("abc", 100), "    abc\n       ^");
}

TEST(JsonText, ErrorsKeepThePlaceAndNoOtherLineBreak) {
  const absl::Status status = UsageError(Cat("--item: two\nlines: ", FaultOf("[x]")));
  EXPECT_THAT(ErrorLine(status, ""), StartsWith("armature: --item: two lines: not valid JSON"));
  EXPECT_THAT(ErrorLine(status, ""), EndsWith("\n    [x]\n     ^"));
  EXPECT_EQ(ErrorLine(UsageError("a\nb\n  ^x"), ""), "armature: a b   ^x");
  EXPECT_EQ(ErrorLine(UsageError("^"), ""), "armature: ^");
  EXPECT_EQ(ErrorLine(UsageError("\n^"), ""), "armature:  ^");
}

TEST(JsonText, NamesOfFilesNeedTheirSign) {
  const std::string path = Cat(testing::TempDir(), "json_text_test.json");
  std::ofstream(path) << "[1]";
  EXPECT_EQ(CompactJson(*ParseJsonArgument("@" + path)), "[1]");
  for (const std::string& text : {path, "file://" + path}) {
    EXPECT_THAT(std::string(ParseJsonArgument(text).status().message()), EndsWith(Cat("write @", path))) << text;
  }
  std::filesystem::remove(path);
  EXPECT_THAT(std::string(ParseJsonArgument(path).status().message()), HasSubstr("not valid JSON"));
}

}  // namespace armature::cli::json_text_test
