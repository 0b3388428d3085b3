#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_REQUEST_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_REQUEST_H_

// Requests and results of TransactWriteItems and TransactGetItems, free of any wire protocol. What request.h says of
// items, names and enumerations holds here.

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

// The operation on a single item that an action stands for; who may not run that one may not run the action.
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

// One action. Of `write` a transaction uses the table, the item or key, the expressions, and what to return on failure.
struct TransactAction {
  size_t given = 0;  // how many actions the element had; one is right. The others are forgotten
  TransactKind kind = TransactKind::kPut;
  WriteRequest write;
};

struct TransactWriteRequest {
  bool given = true;  // TransactItems is there
  std::vector<TransactAction> actions;
  std::optional<std::string> client_request_token;
  std::string return_consumed_capacity;
  std::string return_item_collection_metrics;
  size_t message_bytes = 0;  // see WriteRequest
};

struct TransactWriteResult {
  std::vector<ConsumedCapacity> capacity;
  std::vector<TableCollections> collections;
  uint64_t change_sequence = 0;  // of the last of the writes, or a later one
};

struct TransactGet {
  bool given = false;  // the element had a Get
  GetItemRequest get;  // table, key, projection, names
};

struct TransactGetRequest {
  bool given = true;  // TransactItems is there
  std::vector<TransactGet> gets;
  std::string return_consumed_capacity;
  size_t message_bytes = 0;  // see WriteRequest
};

struct TransactGetResult {
  std::vector<std::optional<ItemBytes>> items;  // in the order of the request; nullopt: there is no such item
  std::vector<ConsumedCapacity> capacity;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_REQUEST_H_
