#ifndef ARMATURE_STORAGE_CODEC_STORED_ITEM_H_
#define ARMATURE_STORAGE_CODEC_STORED_ITEM_H_

// The value of a row in a table or an index: version byte, API size, item bytes. docs/reference/format.md, "Item
// values".
//
//   value := version size item
//   version := 0x02                                no compact number
//            | 0x03                                some numbers are compact
//            | 0x01                                written by format 1: numbers in plain texts of any length
//   size := varint                                 of the item, as the API counts it
//   item := byte*                                  canonical item bytes (item_codec.h), to the end of the value

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"
#include "storage/model/wire.h"

namespace armature::codec {

struct StoredItemView {
  size_t api_size = 0;
  model::ItemView item;          // canonical bytes: points into the value, or into `converted`
  bool compact_numbers = false;  // some numbers have compact texts: answers need model::PlainItem
  // Set for a row of format 1 with plain texts that are not canonical any more: its item in canonical bytes.
  std::shared_ptr<const std::string> converted;
};

// The bytes before those of the item: their number, and the same in several forms.
constexpr size_t StoredItemHeadBytes(size_t api_size) { return 1 + model::VarintSize(api_size); }
void AppendStoredItemHead(size_t api_size, bool compact_numbers, std::string* out);
std::string StoredItemHead(const CanonicalItem& item);
// Takes a head that AppendStoredItemHead made from the front of `in`. Returns false, with `in` unspecified, if there is
// none.
[[nodiscard]] bool TakeStoredItemHead(std::string_view* in, std::string_view* head);

std::string EncodeStoredItem(const CanonicalItem& item);

// True if answers copy the item of this row: it was written with this format, without compact numbers.
bool IsSimpleItem(std::string_view value);

// Errors: DataLoss for an unknown version, a malformed head, or a malformed item that must be converted; the message
// says what was expected. Cost: constant, except for rows of format 1, which are searched for runs of zeros, and
// converted if there are any.
absl::StatusOr<StoredItemView> ParseStoredItem(std::string_view value);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_STORED_ITEM_H_
