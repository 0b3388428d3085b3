#ifndef ARMATURE_STORAGE_CODEC_STREAM_CODEC_H_
#define ARMATURE_STORAGE_CODEC_STREAM_CODEC_H_

// Records of streams: docs/reference/format.md, "Streams".
//
//   record := 0x01 flags time image*
//   flags := byte                                  event in the lower four bits; 0x10 expired; images: 0x20 keys,
//                                                  0x40 new, 0x80 old
//   time := varint                                 milliseconds since 1970
//   image := varint byte*                          length, stored item (stored_item.h); in the order of the flags

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/codec/stored_item.h"

namespace armature::codec {

inline constexpr char kStreamRecordVersion = 1;

// Values are on disk: never renumber.
enum class StreamEvent : uint8_t { kInsert = 1, kModify = 2, kRemove = 3 };

// The name as the API writes it.
constexpr std::string_view StreamEventName(StreamEvent event) {
  constexpr std::string_view kNames[] = {"UNKNOWN", "INSERT", "MODIFY", "REMOVE"};
  const auto index = static_cast<uint8_t>(event);
  return kNames[index <= 3 ? index : 0];
}

// The change of one item. The images are stored items (stored_item.h), as bytes.
struct StreamRecord {
  StreamEvent event = StreamEvent::kInsert;
  bool is_expiry = false;  // the item was removed because its time to live had passed
  int64_t time_ms = 0;     // of the change, since the epoch
  // The key attributes, if there is no image that contains them.
  std::optional<std::string_view> keys;
  std::optional<std::string_view> new_image;
  std::optional<std::string_view> old_image;
};

// A stored item in two parts, which the caller need not join.
struct StoredItemParts {
  std::string_view head;
  std::string_view bytes;
};

// The images of a record, as in StreamRecord.
struct StreamImages {
  std::optional<StoredItemParts> keys;
  std::optional<StoredItemParts> new_image;
  std::optional<StoredItemParts> old_image;
};
std::string EncodeStreamRecord(StreamEvent event, bool is_expiry, int64_t time_ms, const StreamImages& images);

// The record's views point into `bytes`. The images are not parsed. Errors: DataLoss for an unknown version or
// malformed bytes.
absl::StatusOr<StreamRecord> ParseStreamRecord(std::string_view bytes);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_STREAM_CODEC_H_
