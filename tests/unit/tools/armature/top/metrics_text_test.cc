#include "tools/armature/top/metrics_text.h"

#include <gtest/gtest.h>

namespace armature::cli::metrics_text_test {

TEST(MetricsText, SeriesHaveLabelsAndValues) {
  const Metrics metrics = Metrics::Parse(
      "# HELP a text\n# TYPE a counter\n"
      "a{front=\"grpc\",table=\"T \\\"x\\\" \\\\ \\n\"} 3\n"
      "a{front=\"http\"} 1.5e3 1700000000000\n"
      "b 7\n");
  ASSERT_EQ(metrics.Of("a").size(), 2U);
  EXPECT_EQ(metrics.Of("a")[0].label("front"), "grpc");
  EXPECT_EQ(metrics.Of("a")[0].label("table"), "T \"x\" \\ \n");
  EXPECT_EQ(metrics.Of("a")[0].label("none"), "");
  EXPECT_EQ(metrics.Of("a")[1].value, 1500);
  EXPECT_EQ(metrics.Sum("a"), 1503);
  EXPECT_EQ(metrics.Sum("b"), 7);
  EXPECT_EQ(metrics.Sum("c"), 0);
}

TEST(MetricsText, OtherLinesAreSkipped) {
  for (const char* const text : {"", "\n\n", "<html>", "a", "a{", "a{b", "a{b=\"c", "a{b=\"c\"", "a{b=\"c\"}",
                                 "a{b=\"c\"} x", "{b=\"c\"} 1", " 1"}) {
    EXPECT_TRUE(Metrics::Parse(text).empty()) << text;
  }
}

}  // namespace armature::cli::metrics_text_test
