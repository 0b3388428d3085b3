#include "index/index_entry.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "storage/codec/key_codec.h"
#include "storage/model/limits.h"

namespace armature::index {
namespace {

// Only strings and binaries count: a number has at most 21 bytes and is never too long.
std::optional<KeyFault> FindGroupFault(const std::vector<model::KeyAttribute>& group, size_t bytes_max,
                                       const model::ItemView& item) {
  size_t bytes = 0;
  for (const model::KeyAttribute& attribute : group) {
    const std::optional<model::ValueView> value = item.Find(attribute.name);
    if (!value.has_value()) continue;
    if (value->type() != model::ToValueType(attribute.type)) return KeyFault{KeyFault::Kind::kType, attribute.name};
    if (attribute.type == model::ScalarType::kNumber) continue;
    if (value->scalar().empty()) return KeyFault{KeyFault::Kind::kEmpty, attribute.name};
    bytes += value->scalar().size();
    if (bytes > bytes_max) return KeyFault{KeyFault::Kind::kTooLong, attribute.name};
  }
  return std::nullopt;
}

}  // namespace

std::optional<KeyFault> FindKeyFault(const model::KeySchema& index_key, const model::ItemView& item) {
  std::optional<KeyFault> fault = FindGroupFault(index_key.partition, model::kPartitionKeyMaxBytes, item);
  if (!fault.has_value()) fault = FindGroupFault(index_key.sort, model::kSortKeyMaxBytes, item);
  return fault;
}

std::optional<std::string> EncodeIndexKey(model::IndexKind kind, const model::KeySchema& index_key,
                                          const model::KeySchema& table_key, const model::ItemView& item) {
  std::optional<std::string> key = codec::EncodeTableKey(index_key, item);
  if (!key.has_value()) return std::nullopt;
  // The key of a local index starts with the table's partition already.
  if (kind == model::IndexKind::kGlobal && !codec::AppendKeyComponents(table_key.partition, item, &*key)) {
    return std::nullopt;
  }
  if (!codec::AppendKeyComponents(table_key.sort, item, &*key)) return std::nullopt;
  if (FindKeyFault(index_key, item).has_value()) return std::nullopt;
  return key;
}

absl::StatusOr<std::string> DecodeIndexKey(model::IndexKind kind, const model::KeySchema& index_key,
                                           const model::KeySchema& table_key, std::string_view key) {
  std::vector<model::KeyAttribute> attributes = index_key.partition;
  const auto append = [&attributes](const std::vector<model::KeyAttribute>& more) {
    attributes.insert(attributes.end(), more.begin(), more.end());
  };
  append(index_key.sort);
  if (kind == model::IndexKind::kGlobal) append(table_key.partition);
  append(table_key.sort);
  return codec::DecodeKeyAttributes(attributes, key);
}

std::string ProjectEntry(const store::Index& index, const model::ItemView& item) {
  const model::Projection& projection = index.descriptor.projection;
  switch (projection.type) {
    case model::ProjectionType::kAll:
      return std::string(item.bytes());
    case model::ProjectionType::kKeysOnly:
      return model::PickAttributes(item, index.key_names);
    case model::ProjectionType::kInclude:
      break;
  }
  std::vector<std::string> names = index.key_names;
  names.insert(names.end(), projection.non_key_attributes.begin(), projection.non_key_attributes.end());
  std::sort(names.begin(), names.end());
  return model::PickAttributes(item, names);
}

std::optional<Entry> MakeEntry(const store::Index& index, const model::KeySchema& table_key,
                               const model::ItemView& item) {
  std::optional<std::string> key = EncodeIndexKey(index.descriptor.kind, index.descriptor.key, table_key, item);
  if (!key.has_value()) return std::nullopt;
  std::string projected = ProjectEntry(index, item);
  const model::ItemMeasure measure = model::Measure(model::ItemView(projected));
  return Entry{std::move(*key), {std::move(projected), measure.api_size, measure.compact_numbers}};
}

bool ProjectsAttribute(const store::Index& index, std::string_view name) {
  const model::Projection& projection = index.descriptor.projection;
  if (projection.type == model::ProjectionType::kAll) return true;
  const auto& keys = index.key_names;
  const auto& included = projection.non_key_attributes;
  return std::find(keys.begin(), keys.end(), name) != keys.end() ||
         std::find(included.begin(), included.end(), name) != included.end();
}

}  // namespace armature::index
