#include "storage/codec/stored_item.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "tests/unit/codec/codec_test_util.h"

namespace armature::codec::stored_item_test {

TEST(StoredItem, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("item.golden", 4)) {
    const std::string item = FromHex(vector[1]);
    const size_t api_size = std::stoul(vector[2]);
    EXPECT_EQ(ToHex(EncodeStoredItem(item, api_size)), vector[3]);
    const std::string value = FromHex(vector[3]);
    const absl::StatusOr<StoredItemView> view = ParseStoredItem(value);
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(view->api_size, api_size);
    EXPECT_EQ(ToHex(view->item.bytes()), vector[1]);
  }
}

TEST(StoredItem, SizesOfAnyLengthComeBack) {
  for (const size_t api_size :
       {size_t{0}, size_t{127}, size_t{128}, size_t{409'600}, std::numeric_limits<size_t>::max()}) {
    const std::string value = EncodeStoredItem("item", api_size);
    EXPECT_EQ(ParseStoredItem(value)->api_size, api_size);
    EXPECT_EQ(ParseStoredItem(value)->item.bytes(), "item");
  }
}

TEST(StoredItem, RefusesAnotherVersionAndAMalformedHead) {
  const struct {
    const char* hex;
    const char* message;
  } kCases[] = {
      {"", "stored item: expected a version byte, found nothing"},
      {"0200", "stored item: expected version 1, found 2"},
      {"ff00", "stored item: expected version 1, found 255"},
      {"01", "stored item: expected the size as a varint of least length"},
      {"0180", "stored item: expected the size as a varint of least length"},
      {"018000", "stored item: expected the size as a varint of least length"},
  };
  for (const auto& c : kCases) {
    const std::string bytes = FromHex(c.hex);
    const absl::StatusOr<StoredItemView> view = ParseStoredItem(bytes);
    ASSERT_FALSE(view.ok()) << c.hex;
    EXPECT_EQ(view.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(view.status().message(), c.message);
  }
}

TEST(StoredItem, DamagedValuesAreRefusedOrCanonical) {
  const std::string item = Item({{"a", S("text")}, {"m", M({{"n", N("1")}})}});
  ForEachDamage(EncodeStoredItem(item, 300), [](std::string_view damaged) {
    const absl::StatusOr<StoredItemView> view = ParseStoredItem(damaged);
    if (!view.ok()) return;
    ASSERT_EQ(ToHex(EncodeStoredItem(view->item.bytes(), view->api_size)), ToHex(damaged));
    view->item.ForEach([](const model::AttributeView&) { return true; });
  });
}

}  // namespace armature::codec::stored_item_test
