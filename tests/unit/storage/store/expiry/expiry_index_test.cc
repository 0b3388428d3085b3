#include "storage/store/expiry/expiry_index.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::expiry_index_test {

// The states and keys of expiry.golden.
ExpiryState GoldenState(std::string_view name) {
  if (name == "scan begins") return {1, ExpiryPhase::kScanning, ""};
  if (name == "scanning") return {300, ExpiryPhase::kScanning, std::string("key\0", 4)};
  if (name == "complete") return {0, ExpiryPhase::kComplete, ""};
  return {2, ExpiryPhase::kCleared, ""};
}

TEST(ExpiryRecord, HasTheBytesOfTheFormat) {
  for (const auto& vector : codec::ReadGolden("expiry.golden", 2, /*format=*/4)) {
    if (vector[0] == "key") {
      const std::string key = ExpiryKey(TableId(7), 3, 1'800'000'000'123, "row");
      EXPECT_EQ(codec::ToHex(key), vector[1]);
      const std::optional<ExpiryKeyParts> parts = ParseExpiryKey(key);
      ASSERT_TRUE(parts.has_value());
      EXPECT_EQ(parts->due_ms, 1'800'000'000'123);
      EXPECT_EQ(parts->row_key, "row");
      continue;
    }
    const ExpiryState state = GoldenState(vector[0]);
    EXPECT_EQ(codec::ToHex(EncodeExpiryState(state)), vector[1]) << vector[0];
    const absl::StatusOr<ExpiryState> parsed = ParseExpiryState(codec::FromHex(vector[1]));
    ASSERT_TRUE(parsed.ok()) << vector[0] << ": " << parsed.status();
    EXPECT_EQ(*parsed, state) << vector[0];
  }
}

TEST(ExpiryRecord, OtherBytesAreRefused) {
  for (const std::string_view bytes :
       {std::string_view(), std::string_view("\x01", 1), std::string_view("\x01\x01", 2),
        std::string_view("\x02\x01\x01", 3), std::string_view("\x01\x01\x00", 3), std::string_view("\x01\x01\x04", 3),
        std::string_view("\x01\x01\x02key", 6), std::string_view("\x01\xff\xff\xff\xff\x7f\x01", 7)}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseExpiryState(bytes).status())) << codec::ToHex(bytes);
  }
  const std::string valid = EncodeExpiryState(GoldenState("scanning"));
  // Any other damage is either accepted or refused, without a crash.
  codec::ForEachDamage(valid, [](std::string_view bytes) { static_cast<void>(ParseExpiryState(bytes)); });
  const std::string key = ExpiryKey(TableId(7), 3, 5, "r");
  for (size_t size = 0; size < key.size(); ++size) {
    EXPECT_FALSE(ParseExpiryKey(std::string_view(key).substr(0, size)).has_value());
  }
}

TEST(ExpiryRecord, IsARecordOfTheMetaFamily) {
  const ExpiryState state = GoldenState("scanning");
  const MetaRecord record = ParseMetaRecord(ExpiryStateKey(TableId(3)), EncodeExpiryState(state));
  EXPECT_TRUE(record.status.ok()) << record.status;
  EXPECT_EQ(record.kind, MetaKind::kExpiry);
  EXPECT_EQ(record.table, TableId(3));
  EXPECT_EQ(record.expiry, state);
  EXPECT_TRUE(absl::IsDataLoss(ParseMetaRecord(ExpiryStateKey(TableId(3)), "").status));
  EXPECT_TRUE(absl::IsDataLoss(ParseMetaRecord(kExpiryPrefix, EncodeExpiryState(state)).status));
}

TEST(ExpiryKeys, AreInTheOrderOfTimeWithinAGeneration) {
  EXPECT_LT(ExpiryKey(TableId(1), 1, 255, "z"), ExpiryKey(TableId(1), 1, 256, "a"));
  EXPECT_LT(ExpiryKey(TableId(1), 1, 1'800'000'000'000, "z"), ExpiryGenerationKey(TableId(1), 2));
  EXPECT_LT(ExpiryKey(TableId(1), 999, 1, "z"), ExpiryGenerationKey(TableId(2), 0));
}

TEST(DueMark, KeepsTheLeast) {
  DueMark mark;
  EXPECT_EQ(mark.Take(), DueMark::kNone);
  mark.Note(7);
  mark.Note(5);
  mark.Note(9);
  EXPECT_EQ(mark.Take(), 5);
  EXPECT_EQ(mark.Take(), DueMark::kNone);
}

}  // namespace armature::store::expiry_index_test
