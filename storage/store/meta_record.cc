#include "storage/store/meta_record.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "storage/base/status_macros.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/meta_keys.h"

namespace armature::store {
namespace {

MetaKind KindOf(std::string_view key, std::string_view* rest) {
  if (key == kNextIdKey) return MetaKind::kNextId;
  if (key == kSequenceKey) return MetaKind::kSequence;
  constexpr std::pair<std::string_view, MetaKind> kPrefixes[] = {
      {kTablePrefix, MetaKind::kTable},         {kCursorPrefix, MetaKind::kCursor}, {kBuildPrefix, MetaKind::kBuild},
      {kTokenTimePrefix, MetaKind::kTokenTime}, {kTokenPrefix, MetaKind::kToken},   {kStatsPrefix, MetaKind::kStats}};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!key.starts_with(prefix)) continue;
    *rest = key.substr(prefix.size());
    return kind;
  }
  return MetaKind::kUnknown;
}

// Takes a big-endian number of `size` bytes from the front.
std::optional<uint64_t> TakeNumber(std::string_view* bytes, size_t size) {
  if (bytes->size() < size) return std::nullopt;
  const std::string_view number = bytes->substr(0, size);
  bytes->remove_prefix(size);
  if (size == sizeof(uint32_t)) return ParseU32(number);
  return ParseU64(number);
}

// Parses the part of the key behind its prefix.
absl::Status ParseKey(std::string_view rest, MetaRecord* record) {
  const absl::Status malformed = DataLossError("key of the meta family: malformed");
  switch (record->kind) {
    case MetaKind::kTable:
    case MetaKind::kCursor:
    case MetaKind::kBuild: {
      const std::optional<uint64_t> table = TakeNumber(&rest, sizeof(uint32_t));
      if (!table.has_value()) return malformed;
      record->table = TableId(static_cast<uint32_t>(*table));
      if (record->kind != MetaKind::kTable) {
        const std::optional<uint64_t> index = TakeNumber(&rest, sizeof(uint32_t));
        if (!index.has_value()) return malformed;
        record->index = IndexId(static_cast<uint32_t>(*index));
      }
      return rest.empty() ? absl::OkStatus() : malformed;
    }
    case MetaKind::kTokenTime: {
      const std::optional<uint64_t> expires = TakeNumber(&rest, sizeof(uint64_t));
      if (!expires.has_value()) return malformed;
      record->expires_ms = static_cast<int64_t>(*expires);
      record->name = std::string(rest);
      return absl::OkStatus();
    }
    case MetaKind::kToken:
    case MetaKind::kStats:
      record->name = std::string(rest);
      return absl::OkStatus();
    case MetaKind::kUnknown:
      return DataLossError("key of the meta family: of no kind that this build knows");
    case MetaKind::kNextId:
    case MetaKind::kSequence:
      break;
  }
  return absl::OkStatus();
}

// Moves a parsed value to its member, or returns the parse error.
template <class T>
absl::Status Store(absl::StatusOr<T> parsed, T* to) {
  ARM_RETURN_IF_ERROR(parsed.status());
  *to = *std::move(parsed);
  return absl::OkStatus();
}

absl::Status ParseNumber(std::string_view value, size_t size, uint64_t* number) {
  const std::optional<uint64_t> parsed = TakeNumber(&value, size);
  if (!parsed.has_value() || !value.empty()) return DataLossError(Cat("number: expected ", size, " bytes"));
  *number = *parsed;
  return absl::OkStatus();
}

absl::Status ParseValue(std::string_view value, MetaRecord* record) {
  switch (record->kind) {
    case MetaKind::kNextId:
      return ParseNumber(value, sizeof(uint32_t), &record->number);
    case MetaKind::kSequence:
    case MetaKind::kCursor:
      return ParseNumber(value, sizeof(uint64_t), &record->number);
    case MetaKind::kTable:
      ARM_RETURN_IF_ERROR(Store(ParseTableRecord(value), &record->descriptor));
      if (record->descriptor.id == record->table) return absl::OkStatus();
      return DataLossError(Cat("table record ", record->descriptor.name, ": of table ", record->descriptor.id.value(),
                               " under the key of table ", record->table.value()));
    case MetaKind::kBuild:
      return Store(ParseBuildState(value), &record->build);
    case MetaKind::kStats:
      return Store(ParseStats(value), &record->totals);
    case MetaKind::kToken:
      return Store(ParseTokenRecord(value), &record->token);
    case MetaKind::kTokenTime:
      return value.empty() ? absl::OkStatus() : DataLossError("time of a token: expected an empty value");
    case MetaKind::kUnknown:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

MetaRecord ParseMetaRecord(std::string_view key, std::string_view value) {
  MetaRecord record;
  std::string_view rest;
  record.kind = KindOf(key, &rest);
  record.status = ParseKey(rest, &record);
  if (record.status.ok()) record.status = ParseValue(value, &record);
  return record;
}

}  // namespace armature::store
