#include "storage/codec/change_codec.h"

#include <cstddef>
#include <limits>

#include "storage/base/status_macros.h"
#include "storage/model/wire.h"

namespace armature::codec {
namespace {

constexpr char kFlagPut = 0;
constexpr char kFlagDelete = 1;

// Size of the shortest change: index id, flag, length of the key, two deltas.
constexpr size_t kChangeMinBytes = 5;

constexpr uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1)); }
static_assert(ZigZag(-1) == 1 && ZigZag(1) == 2 && UnZigZag(1) == -1 && UnZigZag(2) == 1);

void AppendLengthPrefixed(std::string_view bytes, std::string* out) {
  model::AppendVarint(bytes.size(), out);
  out->append(bytes);
}

void AppendChange(const IndexRowChange& change, std::string* out) {
  model::AppendVarint(change.index.value(), out);
  out->push_back(change.is_delete ? kFlagDelete : kFlagPut);
  AppendLengthPrefixed(change.key, out);
  if (!change.is_delete) AppendLengthPrefixed(change.value, out);
  model::AppendVarint(ZigZag(change.item_delta), out);
  model::AppendVarint(ZigZag(change.byte_delta), out);
}

// Takes a varint in its shortest form. Longer forms are refused, because a record has exactly one encoding.
bool TakeLeastVarint(std::string_view* in, uint64_t* value) {
  const size_t size_before = in->size();
  return model::TakeVarint(in, value) && size_before - in->size() == model::VarintSize(*value);
}

bool TakeZigZag(std::string_view* in, int64_t* value) {
  uint64_t raw = 0;
  if (!TakeLeastVarint(in, &raw)) return false;
  *value = UnZigZag(raw);
  return true;
}

bool TakeLengthPrefixed(std::string_view* in, std::string_view* bytes) {
  uint64_t length = 0;
  if (!TakeLeastVarint(in, &length) || length > in->size()) return false;
  *bytes = in->substr(0, length);
  in->remove_prefix(length);
  return true;
}

bool TakeFlag(std::string_view* in, bool* is_delete) {
  if (in->empty() || (in->front() != kFlagPut && in->front() != kFlagDelete)) return false;
  *is_delete = in->front() == kFlagDelete;
  in->remove_prefix(1);
  return true;
}

bool TakeChange(std::string_view* in, IndexRowChange* change) {
  uint64_t index = 0;
  if (!TakeLeastVarint(in, &index) || index > std::numeric_limits<uint32_t>::max()) return false;
  change->index = IndexId(static_cast<uint32_t>(index));
  if (!TakeFlag(in, &change->is_delete) || !TakeLengthPrefixed(in, &change->key)) return false;
  if (!change->is_delete && !TakeLengthPrefixed(in, &change->value)) return false;
  return TakeZigZag(in, &change->item_delta) && TakeZigZag(in, &change->byte_delta);
}

}  // namespace

std::string EncodeChangeRecord(const ChangeRecord& record) {
  constexpr size_t kVarintsGuess = 32;
  size_t size = kVarintsGuess + record.base_key.size();
  for (const IndexRowChange& change : record.index_changes) {
    size += kVarintsGuess + change.key.size() + change.value.size();
  }
  std::string bytes;
  bytes.reserve(size);
  bytes.push_back(kChangeRecordVersion);
  model::AppendVarint(ZigZag(record.time_ms), &bytes);
  AppendLengthPrefixed(record.base_key, &bytes);
  model::AppendVarint(record.index_changes.size(), &bytes);
  for (const IndexRowChange& change : record.index_changes) AppendChange(change, &bytes);
  return bytes;
}

absl::StatusOr<ChangeRecord> ParseChangeRecord(std::string_view bytes) {
  if (bytes.empty()) return DataLossError("change record: expected a version byte, found nothing");
  if (bytes.front() != kChangeRecordVersion) {
    return DataLossError(Cat("change record: expected version ", static_cast<int>(kChangeRecordVersion), ", found ",
                             static_cast<int>(static_cast<uint8_t>(bytes.front()))));
  }
  bytes.remove_prefix(1);
  ChangeRecord record;
  if (!TakeZigZag(&bytes, &record.time_ms)) {
    return DataLossError("change record: expected the time as a varint");
  }
  if (!TakeLengthPrefixed(&bytes, &record.base_key)) {
    return DataLossError("change record: expected the base key behind its length");
  }
  uint64_t count = 0;
  if (!TakeLeastVarint(&bytes, &count) || count > bytes.size() / kChangeMinBytes) {
    return DataLossError("change record: expected a count of changes that fit in the record");
  }
  record.index_changes.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    if (!TakeChange(&bytes, &record.index_changes[i])) {
      return DataLossError(Cat("change record: malformed change ", i, " of ", count));
    }
  }
  if (!bytes.empty()) {
    return DataLossError(Cat("change record: ", bytes.size(), " bytes behind the last change"));
  }
  return record;
}

}  // namespace armature::codec
