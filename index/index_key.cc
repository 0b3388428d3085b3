#include "index/index_key.h"

#include "storage/codec/key_codec.h"

namespace armature::index {

std::optional<std::string> EncodeIndexKey(model::IndexKind kind, const model::KeySchema& index_key,
                                          const model::KeySchema& table_key, const model::ItemView& item) {
  std::optional<std::string> key = codec::EncodeTableKey(index_key, item);
  if (!key.has_value()) return std::nullopt;
  // A local index has the table's partition in front already.
  if (kind == model::IndexKind::kGlobal && !codec::AppendKeyComponents(table_key.partition, item, &*key)) {
    return std::nullopt;
  }
  if (!codec::AppendKeyComponents(table_key.sort, item, &*key)) return std::nullopt;
  return key;
}

}  // namespace armature::index
