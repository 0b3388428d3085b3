// A put carries the bytes of its item from the request to the commit without copies.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "engine/expr/parse_cache.h"
#include "engine/items/row_mutation.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::mutations_test {

TEST(PutItem, WritesTheBytesThatItHolds) {
  expr::ParseCache cache(1);
  const auto put = MakeMutation(WriteKind::kPut, WriteTo("things", PlainItem("a", "1.0", {{"x", codec::S("text")}})),
                                ValidationLayer::kEnveloped, &cache);
  ASSERT_TRUE(put.ok()) << put.status();
  codec::CanonicalItem made;
  const auto after = (*put)->Apply(std::nullopt, &made);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ((*after)->bytes, PlainItem("a", "1", {{"x", codec::S("text")}}));
  EXPECT_EQ((*after)->bytes.data(), (*put)->item_or_key().bytes().data());
}

TEST(PutItem, ForgetsTheItemAsItWasSent) {
  expr::ParseCache cache(1);
  const auto put =
      MakeMutation(WriteKind::kPut, WriteTo("things", PlainItem("a", "1")), ValidationLayer::kEnveloped, &cache);
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_FALSE((*put)->request().item_wire.has_value());
}

}  // namespace armature::engine::mutations_test
