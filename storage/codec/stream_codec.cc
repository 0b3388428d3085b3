#include "storage/codec/stream_codec.h"

#include <cstddef>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::codec {
namespace {

constexpr uint8_t kEventMask = 0x0F;
constexpr uint8_t kExpiryFlag = 0x10;
constexpr uint8_t kKeysFlag = 0x20;
constexpr uint8_t kNewFlag = 0x40;
constexpr uint8_t kOldFlag = 0x80;

size_t SizeOf(const std::optional<StoredItemParts>& image) {
  if (!image.has_value()) return 0;
  const size_t size = image->head.size() + image->bytes.size();
  return model::VarintSize(size) + size;
}

void Append(const std::optional<StoredItemParts>& image, std::string* out) {
  if (!image.has_value()) return;
  model::AppendVarint(image->head.size() + image->bytes.size(), out);
  out->append(image->head).append(image->bytes);
}

// Takes an image whose flag is set.
bool TakeImage(bool is_there, std::string_view* in, std::optional<std::string_view>* image) {
  return !is_there || model::TakeLengthDelimited(in, &image->emplace());
}

}  // namespace

std::string EncodeStreamRecord(StreamEvent event, bool is_expiry, int64_t time_ms, const StreamImages& images) {
  const auto time = static_cast<uint64_t>(time_ms);
  auto flags = static_cast<uint8_t>(event);
  if (is_expiry) flags |= kExpiryFlag;
  if (images.keys.has_value()) flags |= kKeysFlag;
  if (images.new_image.has_value()) flags |= kNewFlag;
  if (images.old_image.has_value()) flags |= kOldFlag;
  std::string record;
  record.reserve(2 + model::VarintSize(time) + SizeOf(images.keys) + SizeOf(images.new_image) +
                 SizeOf(images.old_image));
  record.push_back(kStreamRecordVersion);
  record.push_back(static_cast<char>(flags));
  model::AppendVarint(time, &record);
  Append(images.keys, &record);
  Append(images.new_image, &record);
  Append(images.old_image, &record);
  return record;
}

absl::StatusOr<StreamRecord> ParseStreamRecord(std::string_view bytes) {
  if (bytes.empty() || bytes[0] != kStreamRecordVersion) return DataLossError("stream record: expected version 1");
  bytes.remove_prefix(1);
  if (bytes.empty()) return DataLossError("stream record: expected an event");
  const auto flags = static_cast<uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  StreamRecord record;
  const uint8_t event = flags & kEventMask;
  if (event < static_cast<uint8_t>(StreamEvent::kInsert) || event > static_cast<uint8_t>(StreamEvent::kRemove)) {
    return DataLossError(Cat("stream record: holds event ", static_cast<int>(event), ", unknown to this build"));
  }
  record.event = static_cast<StreamEvent>(event);
  record.is_expiry = (flags & kExpiryFlag) != 0;
  uint64_t time = 0;
  if (!model::TakeVarint(&bytes, &time)) return DataLossError("stream record: expected the time as a varint");
  record.time_ms = static_cast<int64_t>(time);
  const bool is_whole = TakeImage((flags & kKeysFlag) != 0, &bytes, &record.keys) &&
                        TakeImage((flags & kNewFlag) != 0, &bytes, &record.new_image) &&
                        TakeImage((flags & kOldFlag) != 0, &bytes, &record.old_image);
  if (!is_whole || !bytes.empty()) return DataLossError("stream record: expected images of the given lengths");
  if (!record.keys.has_value() && !record.new_image.has_value() && !record.old_image.has_value()) {
    return DataLossError("stream record: expected the keys of an item");
  }
  return record;
}

}  // namespace armature::codec
