#include "storage/codec/stream_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::codec::stream_codec_test {

// A record in the text form of the golden file.
std::string Print(const StreamRecord& record) {
  std::string text = std::string(StreamEventName(record.event)) + " " + std::to_string(record.time_ms);
  if (record.is_expiry) text += " expiry";
  if (record.keys.has_value()) text += " keys " + ToHex(*record.keys);
  if (record.new_image.has_value()) text += " new " + ToHex(*record.new_image);
  if (record.old_image.has_value()) text += " old " + ToHex(*record.old_image);
  return text;
}

std::string Encode(const StreamRecord& record) {
  StreamImages images;
  if (record.keys.has_value()) images.keys = {*record.keys, {}};
  // The two parts are joined wherever they are cut.
  if (record.new_image.has_value()) images.new_image = {record.new_image->substr(0, 1), record.new_image->substr(1)};
  if (record.old_image.has_value()) images.old_image = {{}, *record.old_image};
  return EncodeStreamRecord(record.event, record.is_expiry, record.time_ms, images);
}

TEST(StreamCodec, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("stream.golden", 2, /*format=*/3)) {
    const std::string bytes = FromHex(vector[1]);
    const absl::StatusOr<StreamRecord> record = ParseStreamRecord(bytes);
    ASSERT_TRUE(record.ok()) << record.status();
    EXPECT_EQ(Print(*record), vector[0]);
    EXPECT_EQ(ToHex(Encode(*record)), vector[1]);
  }
}

TEST(StreamCodec, RefusesMalformedRecords) {
  const struct {
    const char* hex;
    const char* message;
  } kCases[] = {
      {"", "stream record: expected version 1"},
      {"02410000", "stream record: expected version 1"},
      {"01", "stream record: expected an event"},
      {"014000", "stream record: holds event 0, unknown to this build"},
      {"014400", "stream record: holds event 4, unknown to this build"},
      {"0141", "stream record: expected the time as a varint"},
      {"014180", "stream record: expected the time as a varint"},
      {"014100", "stream record: expected images of the given lengths"},
      {"0141000261", "stream record: expected images of the given lengths"},
      {"014100016162", "stream record: expected images of the given lengths"},
      {"010100", "stream record: expected the keys of an item"},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<StreamRecord> record = ParseStreamRecord(FromHex(c.hex));
    ASSERT_FALSE(record.ok()) << c.hex;
    EXPECT_EQ(record.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(record.status().message(), c.message) << c.hex;
  }
}

TEST(StreamCodec, RefusesEveryPrefixOfARecord) {
  const std::string whole = Encode({StreamEvent::kModify, false, 1'700'000'000'000, {}, "new image", "old image"});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseStreamRecord(std::string_view(whole).substr(0, size)).ok()) << size;
  }
}

}  // namespace armature::codec::stream_codec_test
