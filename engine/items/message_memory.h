#ifndef ARMATURE_ENGINE_ITEMS_MESSAGE_MEMORY_H_
#define ARMATURE_ENGINE_ITEMS_MESSAGE_MEMORY_H_

#include <cstddef>
#include <string_view>

#include "storage/model/item_view.h"

namespace armature::engine {

// Memory of a value and the values in it, without its bytes. A message takes much more than its bytes if it has many
// small values.
//
// Cost: linear in the number of values.
size_t ValueMemory(const model::ValueView& value);

// Memory of `bytes` of a message, and of the bytes that it is made from.
constexpr size_t BytesMemory(size_t bytes) { return 2 * bytes; }

// Memory of an item that an answer has as a message: that of its values and of its bytes.
size_t MessageMemory(std::string_view item_bytes);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_MESSAGE_MEMORY_H_
