#ifndef ARMATURE_ENGINE_ITEMS_BATCH_REQUEST_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_REQUEST_H_

// Requests and results of BatchGetItem and BatchWriteItem, free of any wire protocol. What request.h says of items,
// names and enumerations holds here.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/capacity.h"
#include "engine/items/request.h"

namespace armature::engine {

// What a batch reads from one table.
struct TableKeys {
  std::string table_name;  // name or ARN, as it was sent
  std::optional<std::vector<std::string>> key_wires;
  std::optional<bool> consistent_read;
  ExpressionParameters expressions;  // projection, names, AttributesToGet
};

struct BatchGetRequest {
  std::vector<TableKeys> tables;  // each once, in the order of the request
  std::string return_consumed_capacity;
};

struct BatchGetResult {
  struct Table {
    std::string table_name;  // as it was sent
    std::vector<ItemBytes> items;
  };
  std::vector<Table> tables;           // all of the request
  std::vector<TableKeys> unprocessed;  // those with keys that were not read; canonical keys
  std::vector<ConsumedCapacity> capacity;
};

// One write of a batch: exactly one of the two, which the engine checks.
struct BatchWrite {
  bool is_put = false;
  bool is_delete = false;
  std::optional<std::string> put_wire;     // the item
  std::optional<std::string> delete_wire;  // the key
};

// What a batch writes to one table.
struct TableWrites {
  std::string table_name;  // name or ARN, as it was sent
  std::vector<BatchWrite> writes;
};

struct BatchWriteRequest {
  std::vector<TableWrites> tables;  // each once, in the order of the request
  std::string return_consumed_capacity;
  std::string return_item_collection_metrics;
  size_t message_bytes = 0;  // see WriteRequest
};

// The collections of one table that a request has written to, each once.
struct TableCollections {
  std::string table_name;  // as it was sent
  std::vector<ItemCollectionMetrics> collections;
};

struct BatchWriteResult {
  std::vector<TableWrites> unprocessed;  // items and keys are canonical
  std::vector<ConsumedCapacity> capacity;
  std::vector<TableCollections> collections;
  uint64_t change_sequence = 0;  // of the last of the writes that were done
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_REQUEST_H_
