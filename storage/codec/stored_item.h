#ifndef ARMATURE_STORAGE_CODEC_STORED_ITEM_H_
#define ARMATURE_STORAGE_CODEC_STORED_ITEM_H_

// The value of a row in a table or an index: version byte, API size, item bytes. docs/FORMAT.md, "Item values".

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/model/item_view.h"

namespace armature::codec {

inline constexpr char kStoredItemVersion = 1;

struct StoredItemView {
  size_t api_size = 0;
  model::ItemView item;  // points into the value
};

// The bytes before those of the item.
std::string StoredItemHead(size_t api_size);
std::string EncodeStoredItem(std::string_view item_bytes, size_t api_size);

// Errors: DataLoss for an unknown version or a malformed head; the message says what was expected.
absl::StatusOr<StoredItemView> ParseStoredItem(std::string_view value);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_STORED_ITEM_H_
