#include "tools/armature/sql/sql_output.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armature::cli::sql_output_test {

using testing::HasSubstr;

SqlResult TwoItems() {
  SqlResult result;
  result.is_read = true;
  result.columns = {"n", "empty"};
  api::v1::Item first = TextRow({{"a", "x,\"y\"\nz"}});
  (*first.mutable_attributes())["n"].set_n("99999999999999999999999999999999999999");
  api::v1::Item second = TextRow({});
  (*second.mutable_attributes())["b"].set_b("\x01\xFF");
  (*second.mutable_attributes())["s"].mutable_ss()->add_values("v");
  result.items = {first, second};
  return result;
}

TEST(SqlOutput, JsonIsPlainAndExact) {
  EXPECT_EQ(FormatItems(TwoItems(), SqlFormat::kJsonLines),
            "{\"n\": 99999999999999999999999999999999999999, \"a\": \"x,\\\"y\\\"\\nz\"}\n"
            "{\"b\": {\"B\": \"Af8=\"}, \"s\": {\"SS\": [\"v\"]}}\n");
  const std::string array = FormatItems(TwoItems(), SqlFormat::kJson);
  EXPECT_THAT(array, testing::StartsWith("[\n  {\"n\""));
  EXPECT_THAT(array, testing::EndsWith("}\n]\n"));
  EXPECT_EQ(FormatItems(SqlResult{}, SqlFormat::kJson), "[]\n");
  EXPECT_EQ(FormatItems(SqlResult{}, SqlFormat::kJsonLines), "");
}

TEST(SqlOutput, CsvQuotesWhatItMust) {
  EXPECT_EQ(FormatItems(TwoItems(), SqlFormat::kCsv),
            "n,empty,a,b,s\n99999999999999999999999999999999999999,,\"x,\"\"y\"\"\nz\",,\n,,,Af8=,"
            "\"{\"\"SS\"\": [\"\"v\"\"]}\"\n");
}

TEST(SqlOutput, TablesHaveTheColumnsOfTheStatementFirst) {
  EXPECT_THAT(FormatItems(TwoItems(), SqlFormat::kTable), testing::ContainsRegex("n +empty +a +b +s *\n"));
  EXPECT_THAT(ExpandedItems(TwoItems()), HasSubstr("- item 2 -"));
}

// A terminal would execute them.
TEST(SqlOutput, TerminalsGetNoControlCharacters) {
  SqlResult result;
  result.is_read = true;
  result.items = {TextRow({{"a", "x\x1b[2Jy"}})};
  const std::string raw = "a\nx\x1b[2Jy\n";
  const std::string path = testing::TempDir() + "/sql_output_test.csv";
  for (const bool is_terminal : {false, true}) {
    std::ostringstream out;
    Session::Options options;
    options.writes_terminal = is_terminal;
    const Session session(options, out, out, /*is_progress_live=*/false);
    SqlOutput output(session, SqlFormat::kCsv);
    ASSERT_TRUE(output.Show(result, "").ok());
    EXPECT_EQ(out.str(), is_terminal ? "a\nx\\x1b[2Jy\n" : raw);
    ASSERT_TRUE(output.SetFile(path).ok());
    ASSERT_TRUE(output.Show(result, "").ok());
    std::ifstream file(path);
    EXPECT_EQ(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()), raw);
  }
}

// Only items are the output of formats for programs.
TEST(SqlOutput, TextsForPeopleGoElsewhere) {
  std::ostringstream out;
  std::ostringstream progress;
  const Session session({}, out, progress, /*is_progress_live=*/false);
  SqlOutput output(session, SqlFormat::kCsv);
  ASSERT_TRUE(output.Show(TextResult("done", {{"Done", 1}}), "").ok());
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(progress.str(), "done\n");
  ASSERT_TRUE(output.Show(PlanResult("Scan t\n"), "").ok());
  EXPECT_EQ(out.str(), "Scan t\n");
  out.str("");
  output.set_format(SqlFormat::kTable);
  ASSERT_TRUE(output.Show(TextResult("done", {{"Done", 1}}), "").ok());
  EXPECT_EQ(out.str(), "done\n");
  EXPECT_EQ(ParseSqlFormat("xml"), std::nullopt);
  EXPECT_FALSE(output.SetFile("/nowhere/at/all").ok());
}

}  // namespace armature::cli::sql_output_test
