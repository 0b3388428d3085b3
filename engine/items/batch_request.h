#ifndef ARMATURE_ENGINE_ITEMS_BATCH_REQUEST_H_
#define ARMATURE_ENGINE_ITEMS_BATCH_REQUEST_H_

// Requests and results of BatchGetItem and BatchWriteItem, independent of the wire protocol. request.h describes the
// representation of items, names and enumerations.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/capacity.h"
#include "engine/items/request.h"

namespace armature::engine {

// The keys to read from one table.
struct TableKeys {
  std::string table_name;  // name or ARN, as sent
  std::optional<std::vector<std::string>> key_wires;
  std::optional<bool> consistent_read;
  ExpressionParameters expressions;  // projection, names, AttributesToGet
};

struct BatchGetRequest {
  std::vector<TableKeys> tables;  // each table once, in request order
  std::string return_consumed_capacity;
};

struct BatchGetResult {
  struct Table {
    std::string table_name;  // as sent
    std::vector<ItemBytes> items;
  };
  std::vector<Table> tables;           // every table of the request
  std::vector<TableKeys> unprocessed;  // tables with unread keys; keys are canonical
  std::vector<ConsumedCapacity> capacity;
};

// One write of a batch. The engine checks that it is exactly one of put and delete.
struct BatchWrite {
  bool is_put = false;
  bool is_delete = false;
  std::optional<std::string> put_wire;     // the item
  std::optional<std::string> delete_wire;  // the key
};

// The writes to one table.
struct TableWrites {
  std::string table_name;  // name or ARN, as sent
  std::vector<BatchWrite> writes;
};

struct BatchWriteRequest {
  std::vector<TableWrites> tables;  // each table once, in request order
  std::string return_consumed_capacity;
  std::string return_item_collection_metrics;
  size_t message_bytes = 0;  // see WriteRequest
};

// The item collections of one table that a request wrote to, without duplicates.
struct TableCollections {
  std::string table_name;  // as sent
  std::vector<ItemCollectionMetrics> collections;
};

struct BatchWriteResult {
  std::vector<TableWrites> unprocessed;  // items and keys are canonical
  std::vector<ConsumedCapacity> capacity;
  std::vector<TableCollections> collections;
  uint64_t change_sequence = 0;  // sequence of the last completed write
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_BATCH_REQUEST_H_
