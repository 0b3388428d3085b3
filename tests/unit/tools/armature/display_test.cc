#include "tools/armature/display.h"

#include <gtest/gtest.h>

#include <sstream>

namespace armature::cli::display_test {

TEST(TextTableTest, AlignsAndEscapes) {
  TextTable table({"Name", "Size"});
  table.AddRow({"é\n", "1"});
  table.AddRow({"longer", "200"});
  EXPECT_EQ(table.ToString(), "Name    Size\né\\n        1\nlonger   200\n");
}

TEST(ControlCharacters, AreEscaped) {
  EXPECT_EQ(OneLine("a\x1b[2J\x7f\xc2\x9b\tb\n\xc3\xa9"), "a\\x1b[2J\\x7f\\x9b\\tb\\n\xc3\xa9");
  EXPECT_EQ(WithoutControls("a\x1b[2J\x7f\xc2\x9b\tb\n\xc3\xa9\r"), "a\\x1b[2J\\x7f\\x9b\tb\n\xc3\xa9\\x0d");
}

TEST(TextTableTest, ShowsItems) {
  const auto items = ParseJson(R"([{"b":{"SS":["x","y"]},"a":{"S":"t"}},{"c":{"M":{"k":{"NULL":true}}}}])");
  EXPECT_EQ(ItemsTable(*items), "a  b       c\nt  {x, y}\n           {\"k\":{\"NULL\":true}}\n");
  EXPECT_EQ(ItemsTable(Json::array()), "");
}

TEST(ProgressBar, TellsShareRateAndTimeLeft) {
  EXPECT_EQ(ProgressLine({.what = "t/i", .done = 450'000, .total = 1'000'000, .per_second = 90'000, .seconds_left = 6}),
            "t/i  [#########...........]  45 %  450,000 of 1,000,000  90,000/s  6 s left");
  EXPECT_EQ(ProgressLine({.what = "t", .done = 7, .note = "waits"}), "t  7  waits");
  EXPECT_EQ(ProgressLine({.what = "t", .done = 9, .total = 3}), "t  [####################]  100 %  9 of 3");
  EXPECT_EQ(ProgressLine({.what = "t", .total = 5}), "t  [....................]  0 %  0 of 5");
}

TEST(ProgressBar, NumbersAreReadable) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(-1000), "-1,000");
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
  EXPECT_EQ(ShowSeconds(59), "59 s");
  EXPECT_EQ(ShowSeconds(200), "3 min 20 s");
  EXPECT_EQ(ShowSeconds(7500), "2 h 5 min");
}

TEST(ProgressBar, LeavesNothingBehind) {
  std::ostringstream out;
  {
    ProgressBar bar(&out, /*live=*/true);
    bar.Show({.what = "t", .done = 1});
    EXPECT_EQ(out.str(), "\rt  1");
  }
  EXPECT_EQ(out.str(), "\rt  1\r    \r");
  std::ostringstream quiet;
  ProgressBar(&quiet, /*live=*/false).Show({.what = "t", .done = 1});
  EXPECT_EQ(quiet.str(), "");
}

}  // namespace armature::cli::display_test
