#ifndef ARMATURE_ENGINE_ITEMS_VALIDATION_LAYER_H_
#define ARMATURE_ENGINE_ITEMS_VALIDATION_LAYER_H_

// The layers that check requests. The API is replacing one layer by another, operation by operation, so one rule has
// different texts in different operations. Clients see the layer of the operation that they call.
//
// Source of rules and texts: the API as it answers in most regions.

#include <cstdint>

#include "absl/status/status.h"
#include "storage/codec/item_codec.h"

namespace armature::engine {

enum class ValidationLayer : uint8_t {
  kOlder,        // BatchWriteItem, Scan, statements
  kTransaction,  // as kOlder; the nesting depth of values is judged last in each action
  kCurrent,      // GetItem, BatchGetItem, Query
  kEnveloped,    // PutItem, UpdateItem, DeleteItem: as kCurrent, inside `1 validation error detected: `
};

constexpr codec::ValueTexts ValueTextsOf(ValidationLayer layer) {
  const bool is_current = layer == ValidationLayer::kCurrent || layer == ValidationLayer::kEnveloped;
  return is_current ? codec::ValueTexts::kCurrent : codec::ValueTexts::kOlder;
}

inline constexpr char kEnvelope[] = "1 validation error detected: ";

// `status` with kEnvelope before the text of a ValidationException, unless it is there.
absl::Status Enveloped(const absl::Status& status);

// True for the ValidationException of values that are nested too deeply.
bool IsNestingError(const absl::Status& status);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_VALIDATION_LAYER_H_
