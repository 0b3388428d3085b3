#ifndef ARMATURE_ENGINE_ITEMS_VALIDATION_LAYER_H_
#define ARMATURE_ENGINE_ITEMS_VALIDATION_LAYER_H_

// The layers that check requests. The API is replacing one layer by another, operation by operation, so one rule has
// different texts in different operations. Clients see the layer of the operation that they call. The two tables here
// hold the rules that several operations share, so an operation that moves to another layer is a change of its row. The
// order in which one operation gathers faults stands with its checks (mutations.cc, read_plan.cc), and a request that
// no newer layer can read is judged by the older one.
//
// Source of rules and texts: the API as it answered in us-east-1 in October 2026.

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "storage/codec/item_codec.h"

namespace armature::engine {

enum class ValidationLayer : uint8_t {
  kOlder,
  kTransaction,  // as kOlder; the nesting depth of values is judged last in each action
  kCurrent,
  kEnveloped,  // as kCurrent, behind kEnvelope
};

struct LayerRules {
  codec::ValueTexts value_texts;
  // Errors that are found in the request alone begin with kEnvelope.
  bool enveloped;
  // Unknown words of ReturnValues and ConditionalOperator have texts without value and member. ConditionalOperator is
  // judged before the values of the conditions that it joins, and its word after their number.
  bool short_enums;
  // An empty table name is reported alone and without its value.
  bool short_empty_name;
  // The error for values without an expression lists the expressions that could use them.
  bool lists_expressions;
  // The error for an UpdateExpression that is too long ends with its size.
  bool tells_update_size;
  // An UpdateExpression is charged for what it writes and reads (expr/update_charge.h).
  bool charges_updates;
};

// In the order of ValidationLayer.
inline constexpr LayerRules kLayerRules[] = {
    {.value_texts = codec::ValueTexts::kOlder,
     .enveloped = false,
     .short_enums = false,
     .short_empty_name = false,
     .lists_expressions = true,
     .tells_update_size = true,
     .charges_updates = false},
    {.value_texts = codec::ValueTexts::kOlder,
     .enveloped = false,
     .short_enums = false,
     .short_empty_name = false,
     .lists_expressions = true,
     .tells_update_size = false,
     .charges_updates = false},
    {.value_texts = codec::ValueTexts::kCurrent,
     .enveloped = false,
     .short_enums = true,
     .short_empty_name = false,
     .lists_expressions = true,
     .tells_update_size = true,
     .charges_updates = false},
    {.value_texts = codec::ValueTexts::kCurrent,
     .enveloped = true,
     .short_enums = true,
     .short_empty_name = true,
     .lists_expressions = false,
     .tells_update_size = true,
     .charges_updates = true},
};

constexpr const LayerRules& RulesOf(ValidationLayer layer) { return kLayerRules[static_cast<uint8_t>(layer)]; }
constexpr codec::ValueTexts ValueTextsOf(ValidationLayer layer) { return RulesOf(layer).value_texts; }

// Kinds of requests on items. A statement's write is a request of its own.
enum class ItemOperation : uint8_t {
  kPutItem,
  kUpdateItem,
  kDeleteItem,
  kGetItem,
  kBatchGetItem,
  kQuery,
  kScan,
  kBatchWriteItem,
  kTransactWriteItems,
  kTransactGetItems,
  kStatement,
};

constexpr ValidationLayer LayerOf(ItemOperation operation) {
  constexpr ValidationLayer kLayers[] = {
      ValidationLayer::kEnveloped,    // PutItem
      ValidationLayer::kEnveloped,    // UpdateItem
      ValidationLayer::kEnveloped,    // DeleteItem
      ValidationLayer::kCurrent,      // GetItem
      ValidationLayer::kCurrent,      // BatchGetItem
      ValidationLayer::kCurrent,      // Query
      ValidationLayer::kOlder,        // Scan
      ValidationLayer::kOlder,        // BatchWriteItem
      ValidationLayer::kTransaction,  // TransactWriteItems
      ValidationLayer::kTransaction,  // TransactGetItems
      ValidationLayer::kOlder,        // statements
  };
  return kLayers[static_cast<uint8_t>(operation)];
}

// The newer layers do not read values that are nested more deeply than this, and leave the whole request to the older
// one.
inline constexpr int kNewerLayerNestingMax = 62;

// True if a value of an item in wire form nests more than `levels` maps and lists around another value. Malformed bytes
// count as the end.
bool NestsBeyond(std::string_view item_wire, int levels);
// NestsBeyond for one value.
bool ValueNestsBeyond(std::string_view value_wire, int levels);

// `status` with kEnvelope before the text of a ValidationException, unless it is there.
absl::Status Enveloped(const absl::Status& status);

// True for the ValidationException of values that are nested too deeply.
bool IsNestingError(const absl::Status& status);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_VALIDATION_LAYER_H_
