#ifndef ARMATURE_ENGINE_ITEMS_MESSAGE_MEMORY_H_
#define ARMATURE_ENGINE_ITEMS_MESSAGE_MEMORY_H_

#include <cstddef>
#include <string_view>

namespace armature::engine {

// Memory of an item that an answer has as a message, with the bytes that it is made from. A message takes much more
// than its bytes if the item has many small values.
//
// Cost: linear in the number of values.
size_t MessageMemory(std::string_view item_bytes);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_MESSAGE_MEMORY_H_
