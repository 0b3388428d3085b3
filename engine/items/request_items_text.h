#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_ITEMS_TEXT_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_ITEMS_TEXT_H_

// RequestItems of BatchGetItem as errors show it.

#include <cstddef>
#include <string>
#include <vector>

#include "engine/items/request.h"

namespace armature::engine {

// `tables` in the JSON form of the API, without blanks: {"Cats":{"Keys":[{"name":{"S":"Tom"}}]}}. Values are shown as
// they were sent. A text longer than `bytes_max` ends with "...".
std::string RequestItemsText(const std::vector<TableKeys>& tables, size_t bytes_max);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_ITEMS_TEXT_H_
