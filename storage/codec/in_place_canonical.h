#ifndef ARMATURE_STORAGE_CODEC_IN_PLACE_CANONICAL_H_
#define ARMATURE_STORAGE_CODEC_IN_PLACE_CANONICAL_H_

// Canonical form of an item by sorting alone.
//
// The items of nearly all requests differ from their canonical form only in the order of their attributes and of the
// entries of their maps, and have the same length. They are copied and sorted in place, which takes a third of the work
// of writing them anew. Everything else, invalid items as well, is left to CanonicalizeItem (item_codec.h), which also
// words the errors.
//
// Thread-safety: free functions without state.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace armature::codec {

struct SortedItem {
  std::string bytes;    // canonical item bytes without compact numbers
  size_t api_size = 0;  // as model::ApiSize counts
};

// `wire` is the wire form of an armature.api.v1.Item. Nullopt if it is invalid, or needs more than sorting by names: a
// name that repeats, an unknown field, a length in more bytes than it takes, a set that does not ascend, a number that
// IsShortCanonicalNumber does not recognize.
std::optional<SortedItem> SortItem(std::string_view wire);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_IN_PLACE_CANONICAL_H_
