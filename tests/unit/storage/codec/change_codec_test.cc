#include "storage/codec/change_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/codec/item_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/item_view.h"

#include "tests/support/repeating_change_record.h"
#include "tests/support/rounds.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::codec::change_codec_test {

// A record in the text form of the golden files.
std::string Print(const ChangeRecord& record) {
  const auto hex = [](std::string_view bytes) { return bytes.empty() ? "-" : ToHex(bytes); };
  std::string text = std::to_string(record.time_ms) + " " + hex(record.base_key);
  for (const IndexRowChange& change : record.index_changes) {
    text += " " + std::to_string(change.index.value()) + (change.is_delete ? " delete " : " put ") + hex(change.key) +
            " " + hex(std::string(change.value_head).append(change.value)) + " " + std::to_string(change.item_delta) +
            " " + std::to_string(change.byte_delta);
  }
  return text;
}

TEST(ChangeCodec, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("change.golden", 2)) {
    const std::string bytes = FromHex(vector[1]);
    const absl::StatusOr<ChangeRecord> record = ParseChangeRecord(bytes);
    ASSERT_TRUE(record.ok()) << record.status();
    EXPECT_EQ(Print(*record), vector[0]);
    EXPECT_EQ(ToHex(test::RepeatingChangeRecord(*record)), vector[1]);
  }
}

TEST(ChangeCodec, LeavesOutTheValueOfADelete) {
  ChangeRecord record;
  record.index_changes.push_back({.index = IndexId(1), .is_delete = true, .key = "k", .value = "?"});
  EXPECT_EQ(ToHex(test::RepeatingChangeRecord(record)),
            "01000001"
            "01"
            "01"
            "016b"
            "00"
            "00");
}

TEST(ChangeCodec, RefusesMalformedRecords) {
  const struct {
    const char* hex;
    const char* message;
  } kCases[] = {
      {"", "change record: expected a version byte, found nothing"},
      {"03000000", "change record: expected a version up to 2, found 3"},
      {"00000000", "change record: expected a version up to 2, found 0"},
      {"01", "change record: expected the time as a varint"},
      {"018000", "change record: expected the time as a varint"},
      {"01000561", "change record: expected the base key behind its length"},
      {"010000", "change record: expected a count of changes that fit in the record"},
      {"01000001", "change record: expected a count of changes that fit in the record"},
      {"010000ffffffffffffffff7f0000000000", "change record: expected a count of changes that fit in the record"},
      {"01000001"
       "0102016b0000",
       "change record: malformed change 0 of 1"},
      {"01000001"
       "808080801001000000",
       "change record: malformed change 0 of 1"},
      {"01000001"
       "01000161ff00",
       "change record: malformed change 0 of 1"},
      {"0100000000", "change record: 1 bytes behind the last change"},
  };
  for (const auto& c : kCases) {
    const std::string bytes = FromHex(c.hex);
    const absl::StatusOr<ChangeRecord> record = ParseChangeRecord(bytes);
    ASSERT_FALSE(record.ok()) << c.hex;
    EXPECT_EQ(record.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(record.status().message(), c.message) << c.hex;
  }
}

TEST(ChangeCodec, DamagedRecordsAreRefusedOrCanonical) {
  for (const auto& vector : ReadGolden("change.golden", 2)) {
    ForEachDamage(FromHex(vector[1]), [](std::string_view damaged) {
      const absl::StatusOr<ChangeRecord> record = ParseChangeRecord(damaged);
      if (record.ok()) {
        ASSERT_EQ(ToHex(test::RepeatingChangeRecord(*record)), ToHex(damaged));
      }
    });
  }
}

TEST(ChangeCodec, RandomRecordsComeBack) {
  std::mt19937_64 rng(PrintedTestSeed());
  const auto below = [&rng](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  const auto signed_number = [&] { return static_cast<int64_t>(rng()) >> below(64); };
  for (int round = 0; round < test::Rounds(10'000); ++round) {
    std::vector<std::string> texts(64);
    for (std::string& text : texts) text.assign(below(5) == 0 ? below(300) : below(4), static_cast<char>(below(256)));
    ChangeRecord record;
    record.time_ms = signed_number();
    record.base_key = texts[0];
    record.index_changes.resize(below(21));
    for (size_t i = 0; i < record.index_changes.size(); ++i) {
      IndexRowChange& change = record.index_changes[i];
      change.index = IndexId(static_cast<uint32_t>(rng() >> (32 + below(32))));
      change.is_delete = below(2) == 0;
      change.key = texts[1 + 2 * i];
      if (!change.is_delete) change.value = texts[2 + 2 * i];
      change.item_delta = signed_number();
      change.byte_delta = signed_number();
    }
    const std::string bytes = test::RepeatingChangeRecord(record);
    const absl::StatusOr<ChangeRecord> parsed = ParseChangeRecord(bytes);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    ASSERT_EQ(Print(*parsed), Print(record));
  }
}

// ---- Version 2 ----

// An item whose attributes are "a" to the n-th letter, each with a value of the size that follows.
std::string Letters(const std::vector<size_t>& sizes) {
  Attributes attributes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    attributes.emplace_back(std::string(1, static_cast<char>('a' + i)), S(std::string(sizes[i], 'v')));
  }
  const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(Item(attributes));
  EXPECT_TRUE(item.ok()) << item.status();
  return item->bytes;
}

// The attributes of `item` that `letters` names, or all of it.
ItemExcerpt Excerpt(std::string_view item, std::string_view letters) {
  ItemExcerpt excerpt;
  if (letters == "*") {
    excerpt.is_whole = true;
    excerpt.parts.push_back(item);
  } else {
    model::ItemView(item).ForEach([&](const model::AttributeView& attribute) {
      if (letters.find(attribute.name) != std::string_view::npos) excerpt.parts.push_back(attribute.entry);
      return true;
    });
  }
  excerpt.api_size = model::ApiSize(model::ItemView(excerpt.Join()));
  return excerpt;
}

// The rows of `change` as version 1 writes them.
std::string Repeated(const ItemChange& change) {
  ChangeRecord record;
  record.time_ms = change.time_ms;
  record.base_key = change.base_key;
  std::vector<std::string> values;
  values.reserve(change.indexes.size());
  for (const IndexChange& index : change.indexes) {
    int64_t items = index.item_delta;
    int64_t bytes = index.byte_delta;
    if (index.removed_key.has_value()) {
      record.index_changes.push_back({index.index, true, *index.removed_key, {}, items, bytes});
      items = bytes = 0;
    }
    if (!index.put_key.has_value()) continue;
    values.push_back(
        EncodeStoredItem({index.put_item->Join(), index.put_item->api_size, index.put_item->compact_numbers}));
    record.index_changes.push_back({index.index, false, *index.put_key, values.back(), items, bytes});
  }
  return test::RepeatingChangeRecord(record);
}

void ExpectSameRows(const ItemChange& change) {
  const std::string bytes = EncodeItemChange(change);
  const absl::StatusOr<ChangeRecord> parsed = ParseChangeRecord(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status() << " " << ToHex(bytes);
  ASSERT_EQ(ToHex(test::RepeatingChangeRecord(*parsed)), ToHex(Repeated(change)));
}

// An item change in the text form of the golden files, from the words of a line: time, base key, item, and for each
// index: id, key to remove or -, key to put or -, letters of the attributes, item delta, byte delta.
struct Described {
  explicit Described(const std::string& line) {
    std::istringstream words(line);
    std::string base_hex, item_hex, removed, put, letters;
    uint32_t index = 0;
    int64_t items = 0;
    int64_t size = 0;
    words >> change.time_ms >> base_hex >> item_hex;
    base_key = base_hex == "-" ? "" : FromHex(base_hex);
    item = item_hex == "-" ? "" : FromHex(item_hex);
    change.base_key = base_key;
    while (words >> index >> removed >> put >> letters >> items >> size) {
      IndexChange& each = change.indexes.emplace_back();
      each.index = IndexId(index);
      if (removed != "-") each.removed_key = keys.emplace_back(FromHex(removed));
      if (put != "-") {
        each.put_key = keys.emplace_back(FromHex(put));
        each.put_item = &excerpts.emplace_back(Excerpt(item, letters));
      }
      each.item_delta = items;
      each.byte_delta = size;
    }
  }
  std::string base_key;
  std::string item;
  std::deque<std::string> keys;
  std::deque<ItemExcerpt> excerpts;
  ItemChange change;
};

TEST(CompactChangeCodec, MatchesTheGoldenVectors) {
  const auto vectors = ReadGolden("change.golden", 2, 6);
  EXPECT_GE(vectors.size(), 8u);
  for (const auto& vector : vectors) {
    const Described described(vector[0]);
    EXPECT_EQ(ToHex(EncodeItemChange(described.change)), vector[1]) << vector[0];
    ExpectSameRows(described.change);
  }
}

TEST(CompactChangeCodec, HoldsTheItemAndTheKeyOfTheTableOnce) {
  const std::string item = Letters({10, 20, 2000});
  const ItemExcerpt all = Excerpt(item, "*");
  const ItemExcerpt some = Excerpt(item, "ac");
  const std::string base_key = "hash" + std::string(100, 'k');
  const std::string index_key = "HASHvalue" + std::string(100, 'k');
  ItemChange change;
  change.base_key = base_key;
  for (uint32_t i = 0; i < 20; ++i) {
    change.indexes.push_back({IndexId(i), index_key, index_key, i % 2 == 0 ? &all : &some, 0, 0});
  }
  ExpectSameRows(change);
  EXPECT_GT(Repeated(change).size(), 20 * (2000 + 2 * 100));
  constexpr size_t kPerIndex = 40;  // two keys without their ends, and numbers
  EXPECT_LT(EncodeItemChange(change).size(), item.size() + base_key.size() + 20 * kPerIndex);
}

TEST(CompactChangeCodec, HoldsOnlyAttributesThatAnIndexHas) {
  const std::string item = Letters({3, 5000, 4, 6000, 5});
  const ItemExcerpt first = Excerpt(item, "ac");
  const ItemExcerpt second = Excerpt(item, "ce");
  ItemChange change;
  change.base_key = "hashk";
  change.indexes.push_back({IndexId(1), std::nullopt, "HASHxk", &first, 1, 1});
  change.indexes.push_back({IndexId(2), std::nullopt, "HASHyk", &second, 1, 1});
  ExpectSameRows(change);
  EXPECT_LT(EncodeItemChange(change).size(), 100u);
}

TEST(CompactChangeCodec, RefusesPlacesBehindTheLastAttribute) {
  const std::string item = Letters({1});
  ASSERT_LT(item.size(), 128u);
  const std::string head =
      "020000" + ToHex(std::string(1, static_cast<char>(item.size()))) + ToHex(item) + "01010201610200";
  EXPECT_TRUE(ParseChangeRecord(FromHex(head + "01" + "00" + "0000")).ok());
  EXPECT_FALSE(ParseChangeRecord(FromHex(head + "01" + "01" + "0000")).ok());
  EXPECT_FALSE(ParseChangeRecord(FromHex(head + "01" + "ffffffffffffffffff01" + "0000")).ok()) << "no overflow";
}

TEST(CompactChangeCodec, RefusesMalformedRecords) {
  const struct {
    const char* what;
    const char* hex;
    const char* message;
  } kCases[] = {
      {"no item", "020000", "change record: expected the item behind its length"},
      {"item too long", "0200000561", "change record: expected the item behind its length"},
      {"no count", "02000000", "change record: expected a count of changes that fit in the record"},
      {"count too large", "0200000002 0101000000", "change record: expected a count of changes that fit in the record"},
      {"neither row", "0200000001 01 00 00 00 00", "change record: malformed change 0 of 1"},
      {"unknown flag", "0200000001 01 11 0161 00 00", "change record: malformed change 0 of 1"},
      {"item of a removal", "0200000001 01 09 0161 00 00", "change record: malformed change 0 of 1"},
      {"index too large", "0200000001 8080808010 01 0161 00 00", "change record: malformed change 0 of 1"},
      {"no key", "0200000001 01 01 09 00 00", "change record: malformed change 0 of 1"},
      {"head of format 1", "0200000001 01 0a 0161 0100 00 00", "change record: malformed change 0 of 1"},
      {"size in two bytes", "0200000001 01 0a 0161 028000 00 00", "change record: malformed change 0 of 1"},
      {"no such attribute", "0200000001 01 02 0161 0200 01 00 00 00", "change record: malformed change 0 of 1"},
      {"attributes end", "0200000001 01 02 0161 0200 7f 00 00", "change record: malformed change 0 of 1"},
      {"item is no item", "02000002 ff00 01 01 02 0161 0200 01 00 00 00", "change record: malformed change 0 of 1"},
      {"more behind", "0200000001 01 01 0161 00 00 00", "change record: 1 bytes behind the last change"},
  };
  for (const auto& c : kCases) {
    std::string hex = c.hex;
    hex.erase(std::remove(hex.begin(), hex.end(), ' '), hex.end());
    const absl::StatusOr<ChangeRecord> record = ParseChangeRecord(FromHex(hex));
    ASSERT_FALSE(record.ok()) << c.what;
    EXPECT_EQ(record.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(record.status().message(), c.message) << c.what;
  }
}

TEST(CompactChangeCodec, ADamagedRecordCannotMakeManyRows) {
  // Each of 65 changes would have the large item.
  std::string hex =
      "020000"
      "0a"
      "0a08"
      "0a0161"
      "12030a0176"
      "41";
  for (int i = 0; i < 65; ++i)
    hex +=
        "0102016102000100"
        "0000";
  const std::string bytes = FromHex(hex);
  const absl::StatusOr<ChangeRecord> record = ParseChangeRecord(bytes);
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.status().message(), "change record: expected a count of changes that fit in the record");
}

TEST(CompactChangeCodec, DamagedRecordsAreRefusedOrHaveBoundedRows) {
  for (const auto& vector : ReadGolden("change.golden", 2, 6)) {
    ForEachDamage(FromHex(vector[1]), [](std::string_view damaged) {
      const absl::StatusOr<ChangeRecord> record = ParseChangeRecord(damaged);
      if (!record.ok()) return;
      for (const IndexRowChange& row : record->index_changes) {
        ASSERT_LE(row.value.size(), damaged.size());
        ASSERT_LE(row.key.size(), 2 * damaged.size());
      }
    });
  }
}

TEST(CompactChangeCodec, RandomRecordsComeBack) {
  std::mt19937_64 rng(PrintedTestSeed());
  const auto below = [&rng](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  for (int round = 0; round < test::Rounds(5'000); ++round) {
    std::vector<size_t> sizes(1 + below(20));
    for (size_t& size : sizes) size = below(10) == 0 ? below(300) : below(4);
    const std::string item = Letters(sizes);
    const std::string base_key(below(40), static_cast<char>(below(3)));
    std::deque<ItemExcerpt> excerpts;
    std::deque<std::string> keys;
    ItemChange change;
    change.time_ms = static_cast<int64_t>(rng()) >> below(64);
    change.base_key = base_key;
    const bool has_whole = below(2) == 0;
    for (size_t i = below(kRecordIndexesMax + 1); i > 0; --i) {
      IndexChange& index = change.indexes.emplace_back();
      index.index = IndexId(static_cast<uint32_t>(rng() >> (32 + below(32))));
      const auto new_key = [&]() -> std::string_view {
        std::string key(below(30), static_cast<char>(below(3)));
        if (below(10) != 0 && base_key.size() > 4) key += base_key.substr(4);
        return keys.emplace_back(std::move(key));
      };
      const size_t rows = 1 + below(3);
      if ((rows & 1) != 0) index.removed_key = new_key();
      if ((rows & 2) != 0) {
        std::string letters = "*";
        if (!has_whole || below(2) == 0) {
          letters = "";
          for (size_t c = 0; c < sizes.size(); ++c) {
            if (below(3) == 0) letters += static_cast<char>('a' + c);
          }
        }
        index.put_key = new_key();
        index.put_item = &excerpts.emplace_back(Excerpt(item, letters));
        excerpts.back().compact_numbers = below(2) == 0;
      }
      index.item_delta = static_cast<int64_t>(rng()) >> below(64);
      index.byte_delta = static_cast<int64_t>(rng()) >> below(64);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(change));
  }
}

}  // namespace armature::codec::change_codec_test
