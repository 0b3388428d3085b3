#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_REQUEST_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_REQUEST_H_

// Requests and results of TransactWriteItems and TransactGetItems, independent of the wire protocol. request.h
// describes the representation of items, names and enumerations.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/capacity.h"
#include "engine/items/batch_request.h"
#include "engine/items/request.h"

namespace armature::engine {

enum class TransactKind : uint8_t { kConditionCheck, kPut, kDelete, kUpdate };

// The single-item operation that an action corresponds to. A principal must be allowed to run it to run the action.
constexpr std::string_view SingleOperation(TransactKind kind) {
  switch (kind) {
    case TransactKind::kConditionCheck:
      return "ConditionCheckItem";
    case TransactKind::kPut:
      return "PutItem";
    case TransactKind::kDelete:
      return "DeleteItem";
    case TransactKind::kUpdate:
      return "UpdateItem";
  }
  return {};
}
inline constexpr std::string_view kTransactGetOperation = "GetItem";

// One action. A transaction uses these members of `write`: table, item or key, expressions, and the values returned on
// failure.
struct TransactAction {
  size_t given = 0;  // number of actions in the element; valid if 1. Only one of them is kept
  TransactKind kind = TransactKind::kPut;
  WriteRequest write;
};

struct TransactWriteRequest {
  bool given = true;  // TransactItems is present
  std::vector<TransactAction> actions;
  std::optional<std::string> client_request_token;
  std::string return_consumed_capacity;
  std::string return_item_collection_metrics;
  size_t message_bytes = 0;  // see WriteRequest
};

struct TransactWriteResult {
  std::vector<ConsumedCapacity> capacity;
  std::vector<TableCollections> collections;
  uint64_t change_sequence = 0;  // sequence of the last write, or a later one
};

struct TransactGet {
  bool given = false;  // the element has a Get
  GetItemRequest get;  // its table, key, projection, names
};

struct TransactGetRequest {
  bool given = true;  // TransactItems is present
  std::vector<TransactGet> gets;
  std::string return_consumed_capacity;
  size_t message_bytes = 0;  // see WriteRequest
};

struct TransactGetResult {
  std::vector<std::optional<ItemBytes>> items;  // in request order; nullopt: the item does not exist
  std::vector<ConsumedCapacity> capacity;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_REQUEST_H_
