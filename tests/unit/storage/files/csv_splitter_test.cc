#include "storage/files/csv_splitter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::files {
namespace {

using testing::ElementsAre;

TEST(CsvSplitter, SplitsAtItsDelimiterOnly) {
  for (const char delimiter : {',', ';', ':', '|', '\t', ' '}) {
    CsvSplitter splitter(delimiter);
    const std::string d(1, delimiter);
    const std::string other = delimiter == ',' ? ";" : ",";
    ASSERT_EQ(splitter.Add("a" + other + "b" + d + d + "\"x" + d + "\"\"y\"" + d + "\r"), CsvRecord::kWhole);
    EXPECT_THAT(splitter.cells(), ElementsAre("a" + other + "b", "", "x" + d + "\"y", ""));
    EXPECT_EQ(splitter.Add("\"a\"" + other), CsvRecord::kWrong);
  }
}

TEST(CsvSplitter, ADroppedRecordLeavesNothing) {
  CsvSplitter splitter;
  ASSERT_EQ(splitter.Add("a,\"b"), CsvRecord::kGoesOn);
  splitter.Drop();
  ASSERT_EQ(splitter.Add("c,d"), CsvRecord::kWhole);
  EXPECT_THAT(splitter.cells(), ElementsAre("c", "d"));
}

}  // namespace
}  // namespace armature::files
