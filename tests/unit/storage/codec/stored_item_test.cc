#include "storage/codec/stored_item.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "storage/model/plain_item.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::codec::stored_item_test {

TEST(StoredItem, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("item.golden", 4, /*format=*/2)) {
    const CanonicalItem item = *CanonicalizeItem(FromHex(vector[0]), ValueTexts::kStored);
    EXPECT_EQ(ToHex(EncodeStoredItem(item)), vector[3]);
    const std::string value = FromHex(vector[3]);
    const absl::StatusOr<StoredItemView> view = ParseStoredItem(value);
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(std::to_string(view->api_size), vector[2]);
    EXPECT_EQ(ToHex(view->item.bytes()), vector[1]);
    EXPECT_EQ(view->compact_numbers, item.compact_numbers);
    EXPECT_EQ(view->item.bytes().data(), value.data() + value.size() - view->item.bytes().size()) << "not copied";
  }
}

// Rows of format 1 have plain numbers of any length. They appear as rows of this format.
TEST(StoredItem, ReadsTheGoldenVectorsOfFormat1) {
  int converted = 0;
  for (const auto& vector : ReadGolden("item.golden", 4)) {
    const CanonicalItem item = *CanonicalizeItem(FromHex(vector[0]), ValueTexts::kStored);
    const std::string value = FromHex(vector[3]);
    const absl::StatusOr<StoredItemView> view = ParseStoredItem(value);
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(std::to_string(view->api_size), vector[2]);
    EXPECT_EQ(ToHex(view->item.bytes()), ToHex(item.bytes));
    EXPECT_EQ(view->compact_numbers, item.compact_numbers);
    EXPECT_EQ(ToHex(model::PlainItem(view->item.bytes())), vector[1]);
    converted += view->converted != nullptr ? 1 : 0;
  }
  EXPECT_EQ(converted, 1);
}

// Empty keys of maps were accepted once.
TEST(StoredItem, ReadsRowsOfFormat1WithEmptyKeysOfMaps) {
  const std::string bytes = Item({{"m", M({{"", N("1" + std::string(25, '0'))}})}});
  EXPECT_FALSE(CanonicalizeItem(bytes).ok());
  const std::string value = Cat("\x01\x09", bytes);
  const absl::StatusOr<StoredItemView> view = ParseStoredItem(value);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(model::PlainItem(view->item.bytes()), bytes);
}

TEST(StoredItem, SizesOfAnyLengthComeBack) {
  for (const size_t api_size :
       {size_t{0}, size_t{127}, size_t{128}, size_t{409'600}, std::numeric_limits<size_t>::max()}) {
    const std::string value = EncodeStoredItem({"item", api_size, false});
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
      {"0000", "stored item: expected a version up to 3, found 0"},
      {"0400", "stored item: expected a version up to 3, found 4"},
      {"ff00", "stored item: expected a version up to 3, found 255"},
      {"02", "stored item: expected the size as a varint of least length"},
      {"0280", "stored item: expected the size as a varint of least length"},
      {"018000", "stored item: expected the size as a varint of least length"},
      {"01000a7f3030303030303030303030303030303030303030",
       "stored item: expected a canonical item; Malformed item in the request"},
  };
  for (const auto& c : kCases) {
    const std::string bytes = FromHex(c.hex);
    const absl::StatusOr<StoredItemView> view = ParseStoredItem(bytes);
    ASSERT_FALSE(view.ok()) << c.hex;
    EXPECT_EQ(view.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(view.status().message(), c.message);
  }
}

TEST(StoredItem, DamagedValuesAreRefusedOrCanBeRead) {
  const CanonicalItem item =
      *CanonicalizeItem(Item({{"a", S("text")}, {"m", M({{"n", N("1e125")}})}, {"z", N("5" + std::string(25, '0'))}}));
  ASSERT_TRUE(item.compact_numbers);
  std::string old = model::PlainItem(item.bytes);
  old.insert(0, "\x01\x14");
  for (const std::string& value : {EncodeStoredItem(item), old}) {
    ForEachDamage(value, [](std::string_view damaged) {
      const absl::StatusOr<StoredItemView> view = ParseStoredItem(damaged);
      if (!view.ok()) return;
      if (damaged.front() != '\x01') {
        const CanonicalItem read{std::string(view->item.bytes()), view->api_size, view->compact_numbers};
        ASSERT_EQ(ToHex(EncodeStoredItem(read)), ToHex(damaged));
      }
      model::PlainItem(view->item.bytes());
    });
  }
}

}  // namespace armature::codec::stored_item_test
