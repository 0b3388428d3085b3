#include "tools/armature/color.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace armature::cli::color_test {

TEST(ColoredJson, ColorsNamesTextsNumbersAndConstants) {
  EXPECT_EQ(ColoredJson(R"({"a": "x", "b": [-1.5E+3, true, null]})"),
            "{\x1b[34m\"a\"\x1b[0m: \x1b[32m\"x\"\x1b[0m, \x1b[34m\"b\"\x1b[0m: [\x1b[36m-1.5E+3\x1b[0m, "
            "\x1b[35mtrue\x1b[0m, \x1b[35mnull\x1b[0m]}");
}

TEST(ColoredJson, EndsStringsAtTheirQuote) {
  EXPECT_EQ(ColoredJson(R"("a\"b: c")"), "\x1b[32m\"a\\\"b: c\"\x1b[0m");
  EXPECT_EQ(ColoredJson(R"("open)"), "\x1b[32m\"open\x1b[0m");
  EXPECT_EQ(ColoredJson("\"\\"), "\x1b[32m\"\\\x1b[0m");
  EXPECT_EQ(ColoredJson(""), "");
}

TEST(ColoredTable, MarksTheFirstLine) {
  EXPECT_EQ(ColoredTable("A  B\n1  2\n"), "\x1b[1mA  B\x1b[0m\n1  2\n");
  EXPECT_EQ(ColoredTable("There is no table.\n"), "There is no table.\n");
  EXPECT_EQ(ColoredTable("no line"), "no line");
}

class WantsColorTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
  }
};

TEST_F(WantsColorTest, IsForTerminals) {
  EXPECT_TRUE(WantsColor("auto", true));
  EXPECT_FALSE(WantsColor("auto", false));
  EXPECT_TRUE(WantsColor("always", false));
  EXPECT_FALSE(WantsColor("never", true));
}

TEST_F(WantsColorTest, HonoursTheEnvironment) {
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(WantsColor("auto", true)) << "an empty NO_COLOR is none";
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(WantsColor("auto", true));
  EXPECT_TRUE(WantsColor("always", true));
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(WantsColor("auto", true));
}

}  // namespace armature::cli::color_test
