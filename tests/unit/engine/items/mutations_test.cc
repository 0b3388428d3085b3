// A put carries the bytes of its item from the request to the commit without copies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expr/parse_cache.h"
#include "engine/items/row_mutation.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::mutations_test {

// An item of so many empty texts in a list is not too large: each takes one byte, and four on the wire.
constexpr size_t kSmallValues = 400'000;

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

absl::Status Check(const std::string& item) {
  expr::ParseCache cache(1);
  return MakeMutation(WriteKind::kPut, WriteTo("things", item), ValidationLayer::kEnveloped, &cache).status();
}

// An item that is more than twice too large is refused before its values are read: none of these could be read.
TEST(PutItem, IsRefusedByTheSizeThatWasSentBeforeItsValuesAreRead) {
  constexpr std::string_view kTooLarge = "Item size has exceeded the maximum allowed size";
  const std::string wrong = codec::N("no number");
  const std::string much(2 * model::kItemSizeMaxBytes + 1, 'x');
  const std::vector<std::string> many_numbers(much.size() / 2, codec::N("1"));
  const struct {
    std::string_view what;
    codec::Attributes attributes;
  } kCases[] = {
      {"a text", {{"v", codec::S(much)}}},
      {"a binary", {{"v", codec::B(much)}}},
      {"a name", {{much, codec::S("")}}},
      {"a text in a list", {{"v", codec::L({codec::S(much)})}}},
      {"a text in a map", {{"v", codec::M({{"k", codec::S(much)}})}}},
      {"a name in a map", {{"v", codec::M({{much, codec::S("")}})}}},
      {"a list of small values", {{"v", codec::L(many_numbers)}}},
      {"a set", {{"v", codec::Ss(std::vector<std::string>(much.size(), ""))}}},
  };
  for (const auto& c : kCases) {
    codec::Attributes attributes = c.attributes;
    attributes.emplace_back("wrong", wrong);
    const absl::Status status = Check(PlainItem("a", "1", attributes));
    EXPECT_TRUE(Sv(status.message()).ends_with(kTooLarge)) << c.what << ": " << Sv(status.message()).substr(0, 200);
  }
}

TEST(PutItem, IsReadIfItIsLessThanTwiceTooLarge) {
  const std::string half(model::kItemSizeMaxBytes - 100, 'x');
  const absl::Status status =
      Check(PlainItem("a", "1", {{"v", codec::S(half)}, {"w", codec::S(half)}, {"wrong", codec::N("no number")}}));
  EXPECT_THAT(std::string(status.message()), testing::Not(testing::HasSubstr("Item size"))) << status;
  EXPECT_FALSE(status.ok());
  // The form on the wire is larger than the item.
  const std::vector<std::string> values(kSmallValues, codec::S(""));
  const std::string item = PlainItem("a", "1", {{"v", codec::L(values)}});
  EXPECT_GT(item.size(), 2 * model::kItemSizeMaxBytes);
  EXPECT_TRUE(Check(item).ok());
}

}  // namespace armature::engine::mutations_test
