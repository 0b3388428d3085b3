#include "storage/codec/change_codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/codec/codec_test_util.h"
#include "tests/unit/model/random_seed.h"

namespace armature::codec {
namespace {

// A record in the text form of the golden files.
std::string Print(const ChangeRecord& record) {
  const auto hex = [](std::string_view bytes) { return bytes.empty() ? "-" : ToHex(bytes); };
  std::string text = std::to_string(record.time_ms) + " " + hex(record.base_key);
  for (const IndexRowChange& change : record.index_changes) {
    text += " " + std::to_string(change.index.value()) + (change.is_delete ? " delete " : " put ") + hex(change.key) +
            " " + hex(change.value) + " " + std::to_string(change.item_delta) + " " + std::to_string(change.byte_delta);
  }
  return text;
}

TEST(ChangeCodec, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("change.golden", 2)) {
    const std::string bytes = FromHex(vector[1]);
    const absl::StatusOr<ChangeRecord> record = ParseChangeRecord(bytes);
    ASSERT_TRUE(record.ok()) << record.status();
    EXPECT_EQ(Print(*record), vector[0]);
    EXPECT_EQ(ToHex(EncodeChangeRecord(*record)), vector[1]);
  }
}

TEST(ChangeCodec, LeavesOutTheValueOfADelete) {
  ChangeRecord record;
  record.index_changes.push_back({.index = IndexId(1), .is_delete = true, .key = "k", .value = "?"});
  EXPECT_EQ(ToHex(EncodeChangeRecord(record)),
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
      {"02000000", "change record: expected version 1, found 2"},
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
        ASSERT_EQ(ToHex(EncodeChangeRecord(*record)), ToHex(damaged));
      }
    });
  }
}

TEST(ChangeCodec, RandomRecordsComeBack) {
  std::mt19937_64 rng(PrintedTestSeed());
  const auto below = [&rng](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  const auto signed_number = [&] { return static_cast<int64_t>(rng()) >> below(64); };
  for (int round = 0; round < 10'000; ++round) {
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
    const std::string bytes = EncodeChangeRecord(record);
    const absl::StatusOr<ChangeRecord> parsed = ParseChangeRecord(bytes);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    ASSERT_EQ(Print(*parsed), Print(record));
  }
}

}  // namespace
}  // namespace armature::codec
