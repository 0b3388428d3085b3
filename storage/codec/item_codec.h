#ifndef ARMATURE_STORAGE_CODEC_ITEM_CODEC_H_
#define ARMATURE_STORAGE_CODEC_ITEM_CODEC_H_

// From the bytes of a request to canonical item bytes: the one place where values are checked.
//
// A protobuf map is a repeated entry on the wire, so an item is canonicalised by walking the request's own bytes:
// attributes are sorted by name, numbers normalised, sets sorted, unknown fields dropped, and every rule of the
// data model for values is applied on the way. Bytes that are canonical already are copied as they are.
//
// Thread-safety: free functions without state.
// Source of rules and texts: the API reference, "AttributeValue".

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace armature::codec {

struct CanonicalItem {
  std::string bytes;    // canonical item bytes, readable by model::ItemView
  size_t api_size = 0;  // as model::ApiSize counts
};

// `wire` is the wire form of an armature.api.v1.Item (or the concatenation of several, which merges them; the last
// entry of a name wins).
//
// Errors, all before anything is kept: ValidationException with the documented text for a value that breaks a rule
// (depth-first, first one wins, in the order of the request); SerializationException for bytes that are no Item or
// text that is no UTF-8. The size of the whole item is not judged here.
absl::StatusOr<CanonicalItem> CanonicalizeItem(std::string_view wire);

// The same for one armature.api.v1.AttributeValue.
absl::StatusOr<std::string> CanonicalizeValue(std::string_view wire);

// The same for the entries of ExpressionAttributeValues, given as an Item whose names are the placeholders with
// their colon. Errors name the placeholder: `ExpressionAttributeValues contains invalid value: <m> for key <k>`.
absl::StatusOr<CanonicalItem> CanonicalizeExpressionValues(std::string_view wire);

// Whether `text` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view text);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_ITEM_CODEC_H_
