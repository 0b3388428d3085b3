#include "storage/codec/stored_item.h"

#include "storage/base/status_macros.h"
#include "storage/model/wire.h"

namespace armature::codec {

std::string StoredItemHead(size_t api_size) {
  std::string head(1, kStoredItemVersion);
  model::AppendVarint(api_size, &head);
  return head;
}

std::string EncodeStoredItem(std::string_view item_bytes, size_t api_size) {
  return Cat(StoredItemHead(api_size), item_bytes);
}

absl::StatusOr<StoredItemView> ParseStoredItem(std::string_view value) {
  if (value.empty()) return DataLossError("stored item: expected a version byte, found nothing");
  if (value.front() != kStoredItemVersion) {
    return DataLossError(Cat("stored item: expected version ", static_cast<int>(kStoredItemVersion), ", found ",
                             static_cast<int>(static_cast<uint8_t>(value.front()))));
  }
  value.remove_prefix(1);
  const size_t size_before = value.size();
  uint64_t api_size = 0;
  if (!model::TakeVarint(&value, &api_size) || size_before - value.size() != model::VarintSize(api_size)) {
    return DataLossError("stored item: expected the size as a varint of least length");
  }
  return StoredItemView{api_size, model::ItemView(value)};
}

}  // namespace armature::codec
