#include "engine/items/exclusive_start_key.h"

#include <vector>

#include "engine/items/item_key.h"
#include "index/index_entry.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"

namespace armature::engine {
namespace {

constexpr char kInvalid[] = "The provided starting key is invalid";
constexpr char kNoMatch[] = "The provided key element does not match the schema";
// Errors of numbers and of duplicate set elements have the same text as elsewhere. All other errors get the prefix
// kInvalid. The API documents no reason for the difference.
constexpr std::string_view kToldWithoutPrefix[] = {
    "cannot be converted to a numeric value", "Number overflow.", "Number underflow.",
    "more than 38 significant digits",        "Input collection",
};

bool HasExactly(const model::ItemView& key, const std::vector<std::string>& sorted_names) {
  auto wanted = sorted_names.begin();
  bool same = true;
  key.ForEach([&](const model::AttributeView& attribute) {
    same = wanted != sorted_names.end() && *wanted == attribute.name;
    if (same) ++wanted;
    return same;
  });
  return same && wanted == sorted_names.end();
}

}  // namespace

absl::StatusOr<std::string> CanonicalizeStartKey(const std::string& wire) {
  absl::StatusOr<codec::CanonicalItem> key = codec::CanonicalizeItem(wire);
  if (key.ok()) return std::move(key->bytes);
  const std::optional<ApiError> error = GetApiError(key.status());
  if (!error.has_value() || error->type != ApiErrorType::kValidation) return key.status();
  for (const std::string_view part : kToldWithoutPrefix) {
    if (error->message.find(part) != std::string::npos) return key.status();
  }
  return ValidationError(Cat(kInvalid, ": ", error->message));
}

absl::StatusOr<std::string> EncodeStartKey(ReadKind kind, const store::Table& table, const store::Index* index,
                                           const model::ItemView& key) {
  const bool table_scan = kind == ReadKind::kScan && index == nullptr;
  const absl::Status wrong_shape = ValidationError(table_scan ? Cat(kInvalid, ": ", kNoMatch) : kInvalid);
  if (!HasExactly(key, index == nullptr ? table.key_names : index->key_names)) return wrong_shape;
  const model::KeySchema& table_key = table.descriptor.key;
  std::optional<std::string> encoded;
  if (index == nullptr) {
    encoded = codec::EncodeTableKey(table_key, key);
  } else {
    encoded = index::EncodeIndexKey(index->descriptor.kind, index->descriptor.key, table_key, key);
  }
  if (!encoded.has_value()) return kind == ReadKind::kScan ? wrong_shape : ValidationError(kNoMatch);
  ARM_RETURN_IF_ERROR(CheckKeyValues(table_key, key));
  if (index != nullptr) ARM_RETURN_IF_ERROR(CheckKeyValues(index->descriptor.key, key));
  return *std::move(encoded);
}

}  // namespace armature::engine
