#ifndef ARMATURE_STORAGE_MODEL_PLAIN_ITEM_H_
#define ARMATURE_STORAGE_MODEL_PLAIN_ITEM_H_

// Items as answers show them.

#include <cstddef>
#include <string>
#include <string_view>

namespace armature::model {

// The item, or the part of an item, with the plain texts of all numbers (number.h) instead of the canonical ones. Only
// items with compact numbers change. Stops at malformed bytes. Values nested deeper than kNestingDepthMax, which no
// canonical item has, are copied.
//
// Thread-safety: pure function. Cost: linear; the result may have 47 times the API size of the item.
std::string PlainItem(std::string_view item_bytes);

// Upper bound on the size of PlainItem's result, in sizes of `item_bytes`: the 7 bytes of 1e125 in a set become 128.
inline constexpr size_t kPlainGrowthMax = 20;

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_PLAIN_ITEM_H_
