#ifndef ARMATURE_STORAGE_CODEC_ITEM_CODEC_H_
#define ARMATURE_STORAGE_CODEC_ITEM_CODEC_H_

// Converts the bytes of a request to canonical item bytes. The only place where values are validated.
//
// A protobuf map is a repeated entry on the wire, so an item is canonicalized by walking the request's bytes:
// attributes are sorted by name, numbers normalized, sets sorted, unknown fields dropped, and every rule of the data
// model for values is checked on the way. Canonical bytes are copied unchanged.
//
// Thread-safety: free functions without state.
// Source of rules and texts: the API reference, "AttributeValue".
//
//   item := attribute*                             ascending by name
//   attribute := 0x0a length 0x0a name 0x12 value
//   name := length byte*
//   value := length member                         one member, as of armature.api.v1.AttributeValue
//   length := varint                               of the bytes behind it, in the shortest form

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/model/item_view.h"

namespace armature::codec {

// The wording of errors. The API's operations differ in the layer that validates values, and the layers in these texts.
enum class ValueTexts : uint8_t {
  kOlder,    // reads numbers with Number::ParseScaled
  kCurrent,  // a colon after the text for an empty number, other lists of duplicates, no names of placeholders
  kStored,   // as kOlder, for items that were stored: keys of maps may be empty, as they might before they were refused
};

struct CanonicalItem {
  std::string bytes;             // canonical item bytes, readable by model::ItemView
  size_t api_size = 0;           // as model::ApiSize counts
  bool compact_numbers = false;  // some numbers have compact texts (model/number.h)

  model::ItemView view() const { return model::ItemView(bytes); }
};

// `wire` is the wire form of an armature.api.v1.Item. A concatenation of several is merged; the last entry of a name
// wins.
//
// Errors: ValidationException with the documented text for a value that breaks a rule (the first one, depth-first, in
// request order); SerializationException for bytes that are not an Item or text that is not UTF-8. The size of the
// whole item is not checked here.
absl::StatusOr<CanonicalItem> CanonicalizeItem(std::string_view wire, ValueTexts texts = ValueTexts::kOlder);

// CanonicalizeItem for bytes that may be taken: most items need no copy. On error the bytes keep their meaning and
// their top-level order.
absl::StatusOr<CanonicalItem> CanonicalizeItem(std::string* wire, ValueTexts texts = ValueTexts::kOlder);

// The canonical bytes of one armature.api.v1.AttributeValue. Errors: those of CanonicalizeItem.
absl::StatusOr<std::string> CanonicalizeValue(std::string_view wire, ValueTexts texts = ValueTexts::kOlder);

// The canonical form of ExpressionAttributeValues, given as an Item whose names are the placeholders with their colon.
// Errors: those of CanonicalizeItem. Older texts name the placeholder: `ExpressionAttributeValues contains invalid
// value: <m> for key <k>`.
absl::StatusOr<CanonicalItem> CanonicalizeExpressionValues(std::string_view wire,
                                                           ValueTexts texts = ValueTexts::kOlder);

// Text of the error about a value without a type, which other texts may contain.
inline constexpr std::string_view kEmptyValueText =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_ITEM_CODEC_H_
