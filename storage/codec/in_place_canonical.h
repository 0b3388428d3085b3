#ifndef ARMATURE_STORAGE_CODEC_IN_PLACE_CANONICAL_H_
#define ARMATURE_STORAGE_CODEC_IN_PLACE_CANONICAL_H_

// Canonical form of an item by sorting alone.
//
// The items of nearly all requests differ from their canonical form only in the order of their attributes and of the
// entries of their maps, and have the same length. They are sorted in place, which takes less than a third of the work
// of writing them anew. Everything else, invalid items as well, is left to CanonicalizeItem (item_codec.h), which also
// words the errors.
//
// Thread-safety: free functions without state.

#include <cstddef>
#include <optional>
#include <string>

namespace armature::codec {

// Makes `wire`, the wire form of an armature.api.v1.Item, canonical item bytes without compact numbers, and returns
// their size as model::ApiSize counts. Nullopt if the item is invalid, or needs more than sorting by names: a name that
// repeats, an unknown field, a length in more bytes than it takes, a set that does not ascend, a number that
// IsShortCanonicalNumber does not recognize. Then `wire` has its earlier meaning and order, except that maps inside,
// which are valid, may be sorted: it has the same canonical form, or the same errors.
std::optional<size_t> SortItem(std::string* wire);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_IN_PLACE_CANONICAL_H_
