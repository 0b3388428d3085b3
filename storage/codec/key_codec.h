#ifndef ARMATURE_STORAGE_CODEC_KEY_CODEC_H_
#define ARMATURE_STORAGE_CODEC_KEY_CODEC_H_

// Encodes key attributes so that the memcmp order of the bytes is the order of the data model.
//
// A key is a sequence of components. Each component is a type code and a self-delimiting body, so that tuples compare
// attribute by attribute, and ("ab", "c") differs from ("a", "bc"). One value has one encoding. docs/FORMAT.md, "Key
// components", specifies every byte.
//
// Thread-safety: free functions without state.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"

namespace armature::codec {

// Appends one component. `scalar` is the result of ValueView::scalar(): UTF-8 text, canonical decimal text, or bytes.
// Numbers must be canonical, as CanonicalizeItem makes them; others are programmer errors (CHECK).
void AppendKeyComponent(model::ScalarType type, std::string_view scalar, std::string* out);

// Appends the common prefix of all components whose values begin with `prefix`: a component without its terminator. For
// kString and kBinary only.
void AppendKeyComponentPrefix(model::ScalarType type, std::string_view prefix, std::string* out);

// Appends the components of `attributes` from `item`. Returns false, with `out` unchanged, if the item lacks one or has
// it with another type.
[[nodiscard]] bool AppendKeyComponents(const std::vector<model::KeyAttribute>& attributes, const model::ItemView& item,
                                       std::string* out);

// The key of a row in a table: hash | partition components | sort components of `item`. Nullopt if the item lacks a key
// attribute or has it with another type.
std::optional<std::string> EncodeTableKey(const model::KeySchema& schema, const model::ItemView& item);

// One decoded component.
struct DecodedComponent {
  model::ScalarType type = model::ScalarType::kString;
  std::string scalar;
};

// Takes one component from the front of `in`.
// Errors: DataLoss if the bytes are not a canonical component; `in` is then unspecified.
absl::StatusOr<DecodedComponent> TakeKeyComponent(std::string_view* in);

// The smallest string greater than all strings that begin with `prefix`; empty if there is none (all FF).
std::string PrefixSuccessor(std::string_view prefix);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_KEY_CODEC_H_
