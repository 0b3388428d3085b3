#include "storage/base/did_you_mean.h"

#include "gtest/gtest.h"

namespace armature::did_you_mean_test {

const std::vector<std::string> kCommands = {"table", "item", "query", "scan", "status", "load"};

TEST(DidYouMean, NamesTheNearest) {
  EXPECT_EQ(DidYouMean("tabel", kCommands), "; did you mean 'table'?");
  EXPECT_EQ(DidYouMean("itm", kCommands), "; did you mean 'item'?");
  EXPECT_EQ(DidYouMean("querry", kCommands), "; did you mean 'query'?");
  EXPECT_EQ(DidYouMean("stats", kCommands), "; did you mean 'status'?");
  EXPECT_EQ(DidYouMean("laod", kCommands), "; did you mean 'load'?");
}

TEST(DidYouMean, IsSilentIfNothingIsNear) {
  EXPECT_EQ(DidYouMean("verify", kCommands), "");
  EXPECT_EQ(DidYouMean("", kCommands), "");
  EXPECT_EQ(DidYouMean("table", {}), "");
  EXPECT_EQ(DidYouMean(std::string(1'000'000, 'a'), kCommands), "");
}

TEST(DidYouMean, KeepsTheFirstOfEquallyNear) { EXPECT_EQ(DidYouMean("cat", {"car", "cut"}), "; did you mean 'car'?"); }

}  // namespace armature::did_you_mean_test
