#include "storage/store/meta_keys.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::store {
namespace {

template <class T>
std::string EncodeBigEndian(T value) {
  std::string bytes(sizeof(T), '\0');
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(value >> (8 * (sizeof(T) - 1 - i)));
  }
  return bytes;
}

template <class T>
std::optional<T> ParseBigEndian(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T value = 0;
  for (const char c : bytes) value = static_cast<T>(value << 8 | static_cast<uint8_t>(c));
  return value;
}

constexpr char kSegmentVersion = 1;
constexpr size_t kStreamRecordKeyBytes = 17;
constexpr size_t kExpiryRowKeyAt = 16;

}  // namespace

std::set<std::string> FixedFamilyNames() {
  return {"default", std::string(kMetaFamily), std::string(kLogFamily), std::string(kStreamFamily),
          std::string(kExpiryFamily)};
}

std::string EncodeU32(uint32_t value) { return EncodeBigEndian(value); }
std::string EncodeU64(uint64_t value) { return EncodeBigEndian(value); }
std::optional<uint32_t> ParseU32(std::string_view bytes) { return ParseBigEndian<uint32_t>(bytes); }
std::optional<uint64_t> ParseU64(std::string_view bytes) { return ParseBigEndian<uint64_t>(bytes); }

std::string TableKey(TableId table) { return Cat(kTablePrefix, EncodeU32(table.value())); }

std::string CursorPrefix(TableId table) { return Cat(kCursorPrefix, EncodeU32(table.value())); }

std::string CursorKey(TableId table, IndexId index) { return Cat(CursorPrefix(table), EncodeU32(index.value())); }

std::string BuildKey(TableId table, IndexId index) {
  return Cat(kBuildPrefix, EncodeU32(table.value()), EncodeU32(index.value()));
}

std::string StatsKey(std::string_view family_name) { return Cat(kStatsPrefix, family_name); }

std::string TokenKey(std::string_view token) { return Cat(kTokenPrefix, token); }

std::string TokenTimeKey(int64_t expires_ms, std::string_view token) {
  return Cat(kTokenTimePrefix, EncodeU64(static_cast<uint64_t>(expires_ms)), token);
}

std::string_view TokenOfTimeKey(std::string_view key) {
  return key.substr(std::min(key.size(), kTokenTimePrefix.size() + sizeof(uint64_t)));
}

int64_t ExpiryOfTimeKey(std::string_view key) {
  if (key.size() < kTokenTimePrefix.size()) return 0;
  const std::string_view time = key.substr(kTokenTimePrefix.size(), sizeof(uint64_t));
  return static_cast<int64_t>(ParseBigEndian<uint64_t>(time).value_or(0));
}

std::string DamagedKey(std::string_view family_name) { return Cat(kDamagedPrefix, family_name); }

std::string TransferKey(std::string_view arn) { return Cat(kTransferPrefix, arn); }

std::string StreamKey(StreamId stream) { return Cat(kStreamPrefix, EncodeU32(stream.value())); }

std::string SegmentKey(SegmentId segment) { return Cat(kSegmentPrefix, EncodeU32(segment.value())); }

std::string EncodeSegmentRecord(int64_t begin_ms, uint64_t first_sequence) {
  std::string value(1, kSegmentVersion);
  model::AppendVarint(static_cast<uint64_t>(begin_ms), &value);
  model::AppendVarint(first_sequence, &value);
  return value;
}

bool ParseSegmentRecord(std::string_view value, uint64_t* begin_ms, uint64_t* first_sequence) {
  if (value.empty() || value[0] != kSegmentVersion) return false;
  value.remove_prefix(1);
  return model::TakeVarint(&value, begin_ms) && model::TakeVarint(&value, first_sequence) && value.empty() &&
         *first_sequence > 0;
}

std::string StreamRecordKey(SegmentId segment, StreamId stream, uint8_t slot, ChangeSequence sequence) {
  std::string key;
  key.reserve(kStreamRecordKeyBytes);
  key.append(EncodeU32(segment.value())).append(EncodeU32(stream.value()));
  key.push_back(static_cast<char>(slot));
  return key.append(EncodeU64(sequence.value()));
}

std::string SegmentDataKey(SegmentId segment) { return EncodeU32(segment.value()); }

std::optional<ChangeSequence> SequenceOfStreamRecordKey(std::string_view key) {
  if (key.size() != kStreamRecordKeyBytes) return std::nullopt;
  return ChangeSequence(*ParseU64(key.substr(kStreamRecordKeyBytes - sizeof(uint64_t))));
}

std::string ExpiryStateKey(TableId table) { return Cat(kExpiryPrefix, EncodeU32(table.value())); }

std::string ExpiryGenerationKey(TableId table, uint32_t generation) {
  return Cat(EncodeU32(table.value()), EncodeU32(generation));
}

std::string ExpiryKey(TableId table, uint32_t generation, int64_t due_ms, std::string_view row_key) {
  return Cat(ExpiryGenerationKey(table, generation), EncodeU64(static_cast<uint64_t>(due_ms)), row_key);
}

std::optional<ExpiryKeyParts> ParseExpiryKey(std::string_view key) {
  if (key.size() <= kExpiryRowKeyAt) return std::nullopt;
  const uint64_t due = *ParseU64(key.substr(kExpiryRowKeyAt - sizeof(uint64_t), sizeof(uint64_t)));
  return ExpiryKeyParts{static_cast<int64_t>(due), key.substr(kExpiryRowKeyAt)};
}

std::string LogKey(TableId table, ChangeSequence sequence) {
  return Cat(EncodeU32(table.value()), EncodeU64(sequence.value()));
}

std::optional<ChangeSequence> SequenceOfLogKey(std::string_view key) {
  if (key.size() != 12) return std::nullopt;
  return ChangeSequence(*ParseU64(key.substr(4)));
}

std::string DataFamilyName(TableId table) { return Cat("t", table.value()); }

bool IsDataFamilyName(std::string_view name) {
  // "t" alone, or before anything but a number, is not a family name.
  return name.size() > 1 && name[0] == 't' && name[1] >= '0' && name[1] <= '9';
}

bool IsRangeFamilyName(std::string_view name) {
  if (name == kLogFamily || name == kStreamFamily || name == kExpiryFamily) return true;
  return IsTableFamilyName(name) && (name[0] == 'l' || name[0] == 'g');
}

bool IsTableFamilyName(std::string_view name) {
  const std::string_view kinds = "tlgc";
  return name.size() > 1 && kinds.find(name[0]) != std::string_view::npos && name[1] >= '0' && name[1] <= '9';
}

std::optional<TableId> TableOfFamily(std::string_view name) {
  if (!IsTableFamilyName(name)) return std::nullopt;
  uint32_t id = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + 1, end, id);
  if (error != std::errc() || (rest != end && *rest != '.')) return std::nullopt;
  return TableId(id);
}

bool IsOverwrittenFamilyName(std::string_view name) { return IsTableFamilyName(name) || name == kMetaFamily; }

std::string LocalIndexFamilyName(TableId table, IndexId index) { return Cat("l", table.value(), ".", index.value()); }

std::string GlobalIndexFamilyName(TableId table, IndexId index) { return Cat("g", table.value(), ".", index.value()); }

std::string CollectionFamilyName(TableId table) { return Cat("c", table.value()); }

}  // namespace armature::store
