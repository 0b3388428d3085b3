#include "storage/model/plain_item.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/model/item_view.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::model::plain_item_test {

using codec::Item;
using codec::L;
using codec::M;
using codec::N;
using codec::Ns;
using codec::S;
using codec::Ss;

std::string Zeros(size_t count) { return std::string(count, '0'); }

// An item with `number` wherever a number may be, and texts that look like it elsewhere.
std::string ItemWith(const std::string& number, const std::string& small) {
  return Item({{"1e20", S("1e20")},
               {"l", L({N(number), L({N(number)}), M({{"1e20", N(number)}, {"n", Ns({small, "2", number})}})})},
               {"n", N(number)},
               {"ns", Ns({number})},
               {"short", N("7")},
               {"ss", Ss({"1e20", "1e21"})}});
}

TEST(PlainItem, AllNumbersHavePlainTexts) {
  EXPECT_EQ(codec::ToHex(PlainItem(ItemWith("1e125", "-25e-22"))),
            codec::ToHex(ItemWith("1" + Zeros(125), "-0." + Zeros(20) + "25")));
}

TEST(PlainItem, ItemsWithoutCompactNumbersAreUnchanged) {
  const std::string item = ItemWith("12.5", "-1");
  EXPECT_EQ(codec::ToHex(PlainItem(item)), codec::ToHex(item));
  EXPECT_EQ(PlainItem(""), "");
}

TEST(PlainItem, LengthsOfAnySizeAreRight) {
  for (const size_t count : {1U, 2U, 100U, 150U, 20'000U}) {
    const std::vector<std::string> compact(count, N("1e125"));
    const std::vector<std::string> plain(count, N("1" + Zeros(125)));
    std::string nested = L(compact);
    std::string expected = L(plain);
    for (int i = 0; i < 30; ++i) {
      nested = i % 2 == 0 ? M({{"m", nested}}) : L({nested});
      expected = i % 2 == 0 ? M({{"m", expected}}) : L({expected});
    }
    ASSERT_TRUE(PlainItem(Item({{"a", nested}})) == Item({{"a", expected}})) << count;
  }
}

TEST(PlainItem, ValuesNestedTooDeepAreCopied) {
  std::string nested = N("1e125");
  for (int i = 0; i < 1000; ++i) nested = L({nested});
  const std::string item = Item({{"a", nested}});
  EXPECT_TRUE(PlainItem(item) == item);
}

TEST(PlainItem, DamagedItemsAreShorter) {
  const std::string item = ItemWith("1e125", "-25e-22");
  codec::ForEachDamage(item,
                       [&item](std::string_view damaged) { ASSERT_LE(PlainItem(damaged).size(), 200 * item.size()); });
}

TEST(Measure, TellsItemsWithCompactNumbers) {
  const std::string compact = ItemWith("1e125", "-25e-22");
  EXPECT_TRUE(Measure(ItemView(compact)).compact_numbers);
  EXPECT_EQ(Measure(ItemView(compact)).api_size, ApiSize(ItemView(PlainItem(compact))));
  for (const std::string& value : {N("1e20"), Ns({"1e20"}), L({N("1e20")}), M({{"a", N("1e20")}})}) {
    const std::string item = Item({{"a", value}, {"b", N("1")}});
    EXPECT_TRUE(Measure(ItemView(item)).compact_numbers);
  }
  const std::string plain = ItemWith("12.5", "-1");
  EXPECT_FALSE(Measure(ItemView(plain)).compact_numbers);
}

}  // namespace armature::model::plain_item_test
