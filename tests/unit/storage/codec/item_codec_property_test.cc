// Properties of the item codec, tested with random, shuffled and damaged items and with garbage.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/api_error.h"
#include "storage/codec/canonical_text.h"
#include "storage/codec/in_place_canonical.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"
#include "storage/model/plain_item.h"
#include "tests/support/rounds.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/codec/random_item.h"
#include "tests/unit/storage/model/naive_decimal.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::codec::item_codec_property_test {

void ExpectPlainNumbers(const model::ItemView& item);

void ExpectPlainNumber(std::string_view text) { EXPECT_EQ(model::NaiveDecimal::OfPlain(text).Plain(), text); }

void ExpectPlainNumbers(const model::ValueView& value) {
  if (value.type() == model::ValueType::kNumber) ExpectPlainNumber(value.scalar());
  if (value.type() == model::ValueType::kMap) ExpectPlainNumbers(value.map());
  if (value.type() == model::ValueType::kNumberSet) {
    value.ForEachSetElement([](std::string_view element) {
      ExpectPlainNumber(element);
      return true;
    });
  }
  if (value.type() == model::ValueType::kList) {
    value.ForEachListElement([](const model::ValueView& element) {
      ExpectPlainNumbers(element);
      return true;
    });
  }
}

void ExpectPlainNumbers(const model::ItemView& item) {
  item.ForEach([](const model::AttributeView& attribute) {
    ExpectPlainNumbers(attribute.value);
    return true;
  });
}

bool HasRareNumber(const model::ItemView& item);

// Canonical, but not recognized as such without being parsed.
bool IsRareNumber(std::string_view text) { return text.size() > model::kNumberDigitsMax || model::HasRunOfZeros(text); }

bool HasRareNumber(const model::ValueView& value) {
  bool found = value.type() == model::ValueType::kNumber && IsRareNumber(value.scalar());
  if (value.type() == model::ValueType::kMap) return HasRareNumber(value.map());
  if (value.type() == model::ValueType::kNumberSet) {
    value.ForEachSetElement([&found](std::string_view element) {
      found = found || IsRareNumber(element);
      return true;
    });
  }
  if (value.type() == model::ValueType::kList) {
    value.ForEachListElement([&found](const model::ValueView& element) {
      found = found || HasRareNumber(element);
      return true;
    });
  }
  return found;
}

bool HasRareNumber(const model::ItemView& item) {
  bool found = false;
  item.ForEach([&found](const model::AttributeView& attribute) {
    found = found || HasRareNumber(attribute.value);
    return true;
  });
  return found;
}

// CanonicalizeItem by writing each element anew: nothing behind an unknown field is sorted in place.
absl::StatusOr<CanonicalItem> WrittenAnew(std::string_view wire) {
  const std::string unknown = std::string("\x7A\0", 2).append(wire);
  std::string sorted = unknown;
  EXPECT_FALSE(SortItem(&sorted).has_value());
  EXPECT_EQ(ToHex(sorted), ToHex(unknown));
  return CanonicalizeItem(unknown);
}

// True if sorting is enough for `wire`, which then gives what writing it anew gives. Otherwise maps inside may be
// sorted, and mean the same.
bool CheckSorted(std::string_view wire) {
  std::string sorted(wire);
  const std::optional<size_t> api_size = SortItem(&sorted);
  if (!api_size.has_value() && sorted == wire) return false;
  const absl::StatusOr<CanonicalItem> written = WrittenAnew(wire);
  if (!api_size.has_value()) {
    const absl::StatusOr<CanonicalItem> partly = WrittenAnew(sorted);
    EXPECT_EQ(partly.status(), written.status()) << ToHex(wire);
    EXPECT_EQ(partly.ok() ? ToHex(partly->bytes) : "", written.ok() ? ToHex(written->bytes) : "") << ToHex(wire);
    return false;
  }
  EXPECT_TRUE(written.ok()) << ToHex(wire) << " " << written.status();
  if (!written.ok()) return true;
  EXPECT_EQ(ToHex(sorted), ToHex(written->bytes)) << ToHex(wire);
  EXPECT_EQ(*api_size, written->api_size) << ToHex(wire);
  EXPECT_FALSE(written->compact_numbers) << ToHex(wire);
  return true;
}

TEST(CanonicalizeItemProperty, OneMeaningHasOneForm) {
  TwinMaker maker(PrintedTestSeed());
  int compact = 0;
  int sorted = 0;
  for (int i = 0; i < test::Rounds(20'000); ++i) {
    const auto [first, second] = maker.Item(5);
    const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(first);
    ASSERT_TRUE(item.ok()) << ToHex(first) << " " << item.status();
    const absl::StatusOr<CanonicalItem> twin = CanonicalizeItem(second);
    ASSERT_TRUE(twin.ok()) << ToHex(second) << " " << twin.status();
    ASSERT_EQ(ToHex(item->bytes), ToHex(twin->bytes));
    ASSERT_EQ(item->api_size, twin->api_size);
    sorted += CheckSorted(first) ? 1 : 0;
    ASSERT_EQ(CheckSorted(item->bytes), !item->compact_numbers && !HasRareNumber(item->view())) << ToHex(item->bytes);
    ASSERT_EQ(item->api_size, model::ApiSize(model::ItemView(item->bytes)));
    const absl::StatusOr<CanonicalItem> again = CanonicalizeItem(item->bytes);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(ToHex(again->bytes), ToHex(item->bytes)) << "canonical bytes are a fixed point";
    const model::ItemMeasure measure = model::Measure(item->view());
    ASSERT_EQ(measure.api_size, item->api_size);
    ASSERT_EQ(measure.compact_numbers, item->compact_numbers);
    const std::string plain = model::PlainItem(item->bytes);
    ASSERT_EQ(plain == item->bytes, !item->compact_numbers);
    compact += item->compact_numbers ? 1 : 0;
    ExpectPlainNumbers(model::ItemView(plain));
    ASSERT_EQ(ToHex(CanonicalizeItem(plain)->bytes), ToHex(item->bytes));
  }
  EXPECT_GT(compact, test::Rounds(1000));
  EXPECT_GT(sorted, test::Rounds(1000));
}

// Accepted input is canonical: it can be read to its end, in order, and canonicalizing leaves it unchanged.
void ExpectRefusedOrCanonical(std::string_view wire) {
  CheckSorted(wire);
  const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(wire);
  if (!item.ok()) {
    ASSERT_TRUE(GetApiError(item.status()).has_value()) << item.status();
    ASSERT_TRUE(IsValidUtf8(std::string_view(item.status().message().data(), item.status().message().size())));
    return;
  }
  size_t walked = 0;
  std::string last_name;
  model::ItemView(item->bytes).ForEach([&](const model::AttributeView& attribute) {
    EXPECT_LT(last_name, attribute.name);
    last_name = std::string(attribute.name);
    walked += attribute.entry.size();
    return true;
  });
  ASSERT_EQ(walked, item->bytes.size());
  ASSERT_EQ(item->api_size, model::ApiSize(model::ItemView(item->bytes)));
  const absl::StatusOr<CanonicalItem> again = CanonicalizeItem(item->bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(ToHex(again->bytes), ToHex(item->bytes));
}

TEST(CanonicalizeItemProperty, NumbersWithManyZerosAreWrittenAnew) {
  const std::string wire = Item({{"n", N("1" + std::string(20, '0') + "1")}});
  const CanonicalItem item = *CanonicalizeItem(wire);
  EXPECT_EQ(ToHex(item.bytes), ToHex(wire));
  EXPECT_FALSE(item.compact_numbers);
  EXPECT_TRUE(HasRareNumber(item.view()));
  EXPECT_FALSE(CheckSorted(wire));
}

TEST(CanonicalizeItemProperty, DamagedItemsAreRefusedOrCanonical) {
  for (const auto& vector : ReadGolden("item.golden", 4)) {
    ForEachDamage(FromHex(vector[0]), ExpectRefusedOrCanonical);
  }
}

TEST(CanonicalizeItemProperty, GarbageIsRefusedOrCanonical) {
  const uint64_t seed = PrintedTestSeed();
  std::mt19937_64 rng(seed);
  TwinMaker maker(seed);
  const auto below = [&rng](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  // Tags and lengths that are valid, so that parsing of garbage gets far.
  constexpr std::string_view kLikely("\x0A\x12\x1A\x20\x28\x32\x3A\x42\x4A\x52\x00\x01\x02\x03\x04\x08", 16);
  for (int i = 0; i < test::Rounds(100'000); ++i) {
    std::string bytes;
    if (below(2) == 0) {
      for (size_t n = below(60); n > 0; --n) {
        bytes.push_back(below(4) != 0 ? kLikely[below(kLikely.size())] : static_cast<char>(below(256)));
      }
    } else {
      bytes = maker.Item(4).first;
      for (size_t n = below(4); n > 0 && !bytes.empty(); --n) {
        const size_t at = below(bytes.size());
        switch (below(3)) {
          case 0:
            bytes[at] = static_cast<char>(below(256));
            break;
          case 1:
            bytes.erase(at, 1 + below(4));
            break;
          default:
            bytes.insert(at, bytes.substr(below(bytes.size()), below(20)));
        }
      }
    }
    ExpectRefusedOrCanonical(bytes);
    if (HasFatalFailure()) FAIL() << ToHex(bytes);
    static_cast<void>(CanonicalizeValue(bytes));
    static_cast<void>(CanonicalizeExpressionValues(bytes));
  }
}

}  // namespace armature::codec::item_codec_property_test
