#include "armature/client/item_builder.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::client::item_builder_test {

using ::testing::ElementsAre;

TEST(ItemBuilder, MakesAllTenTypes) {
  const std::string bytes("\0\xff", 2);
  const Item item = ItemBuilder()
                        .Set("s", S("x"))
                        .Set("n", N("1.50"))
                        .Set("b", B(bytes))
                        .Set("bool", Bool(false))
                        .Set("null", Null())
                        .Set("ss", SS({"a", "b"}))
                        .Set("ns", NS({"1", "2"}))
                        .Set("bs", BS({bytes}))
                        .Set("l", L({S("in"), L({})}))
                        .Set("m", M({{"k", M({{"deep", N(1)}})}}))
                        .Build();
  const auto& at = item.attributes();
  EXPECT_EQ(item.attributes_size(), 10);
  EXPECT_EQ(at.at("s").s(), "x");
  EXPECT_EQ(at.at("n").n(), "1.50");
  EXPECT_EQ(at.at("b").b(), bytes);
  EXPECT_EQ(at.at("bool").value_case(), AttributeValue::kBool);
  EXPECT_FALSE(at.at("bool").bool_());
  EXPECT_TRUE(at.at("null").null());
  EXPECT_THAT(at.at("ss").ss().values(), ElementsAre("a", "b"));
  EXPECT_THAT(at.at("ns").ns().values(), ElementsAre("1", "2"));
  EXPECT_THAT(at.at("bs").bs().values(), ElementsAre(bytes));
  EXPECT_EQ(at.at("l").l().values(0).s(), "in");
  EXPECT_EQ(at.at("l").l().values(1).value_case(), AttributeValue::kL);
  EXPECT_EQ(at.at("m").m().entries().at("k").m().entries().at("deep").n(), "1");
}

TEST(ItemBuilder, MakesEmptyContainersOfTheirType) {
  EXPECT_EQ(L({}).value_case(), AttributeValue::kL);
  EXPECT_EQ(M({}).value_case(), AttributeValue::kM);
  EXPECT_EQ(SS({}).value_case(), AttributeValue::kSs);
  EXPECT_EQ(S("").value_case(), AttributeValue::kS);
}

TEST(ItemBuilder, WritesIntegersInFull) {
  EXPECT_EQ(N(0).n(), "0");
  EXPECT_EQ(N(std::numeric_limits<int64_t>::min()).n(), "-9223372036854775808");
  EXPECT_EQ(N(std::numeric_limits<uint64_t>::max()).n(), "18446744073709551615");
}

TEST(ItemBuilder, ReplacesAValueSetBefore) {
  ItemBuilder builder;
  builder.Set("a", S("1")).Set("a", N(2));
  EXPECT_EQ(builder.Build().attributes().at("a").n(), "2");
  EXPECT_EQ(builder.Build().attributes_size(), 1);
}

}  // namespace armature::client::item_builder_test
