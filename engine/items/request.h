#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_H_

// Requests and results of operations on items, batches and transactions, independent of the wire protocol.
//
// Items, keys and values are in the wire form of armature.api.v1.Item, as the client sent them (codec/item_codec.h).
// Both front ends can hand over this form without building a tree. The engine validates and canonicalizes it at the
// documented place in the order of checks.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "engine/capacity.h"
#include "engine/expr/ast.h"
#include "engine/request_trace.h"
#include "storage/base/deadline.h"
#include "storage/base/held_memory.h"
#include "storage/base/strings.h"

namespace armature::engine {

// Deadline, cancellation and trace of a request. Copied with the request.
struct RequestContext {
  // Waits (row locks, index progress, the read pool) fail with DeadlineExceeded at this time.
  Deadline deadline = {};
  // Called between the rows of a page; may be empty. Must stay callable until the request is done.
  std::function<bool()> cancelled;
  // Records how long the request waits; may be null.
  std::shared_ptr<RequestTrace> trace = nullptr;
  // The memory for the answer. Operations that gather much for it take it from there, before they do.
  MemorySource memory = {};
};

// Memory that items of `bytes` take, once as they were read, and once as the answer.
constexpr size_t MemoryOfItems(size_t bytes) { return 2 * bytes; }

// Called with the result exactly once, on any thread. Must be short: it only sends the answer.
template <class T>
using Callback = absl::AnyInvocable<void(absl::StatusOr<T>) &&>;

// Result type of operations without a result.
struct Nothing {};

// An entry of KeyConditions, QueryFilter or ScanFilter.
struct LegacyCondition {
  std::string attribute;
  std::string comparison_operator;
  std::vector<std::string> argument_wires;  // AttributeValueList
};

// An entry of Expected.
struct LegacyExpectation {
  std::string attribute;
  std::optional<std::string> value_wire;
  std::optional<bool> exists;
  std::string comparison_operator;
  std::optional<std::vector<std::string>> argument_wires;  // AttributeValueList
};

// An entry of AttributeUpdates.
struct LegacyUpdate {
  std::string attribute;
  std::optional<std::string> value_wire;
  std::string action;
};

// The legacy parameters, which predate expressions, as sent.
//
// Values are in the wire form of armature.api.v1.AttributeValue, as the client sent them. Entries of a map are sorted
// by attribute name and unique, so that the same error is reported whatever the order in the request. An empty map
// counts as present but has no effect; a protocol that cannot distinguish it from an absent one leaves it out.
struct LegacyParameters {
  std::optional<std::vector<std::string>> attributes_to_get;
  std::optional<std::vector<LegacyUpdate>> attribute_updates;
  std::optional<std::vector<LegacyExpectation>> expected;
  std::optional<std::vector<LegacyCondition>> key_conditions;
  std::optional<std::vector<LegacyCondition>> query_filter;
  std::optional<std::vector<LegacyCondition>> scan_filter;
  std::string conditional_operator;

  // True if no legacy parameter is present.
  bool empty() const {
    return !attributes_to_get.has_value() && !attribute_updates.has_value() && !expected.has_value() &&
           !key_conditions.has_value() && !query_filter.has_value() && !scan_filter.has_value() &&
           conditional_operator.empty();
  }
};

// Expression parameters and legacy parameters, as sent.
struct ExpressionParameters : expr::ExpressionTexts {
  std::optional<StringMap<std::string>> names;  // ExpressionAttributeNames
  // ExpressionAttributeValues as an Item whose names are the placeholders.
  std::optional<std::string> values_wire;
  LegacyParameters legacy;
};

// Tables are given by name or ARN. Required members are optional here because the engine reports missing ones.
// Enumerations are as the client wrote them; empty means absent.
struct GetItemRequest {
  std::optional<std::string> table_name;
  std::optional<std::string> key_wire;
  bool consistent_read = false;
  ExpressionParameters expressions;
  std::string return_consumed_capacity;
};

// An item as answers show it, inside the buffer it was read into.
class ItemBytes {
 public:
  ItemBytes() = default;
  ItemBytes(std::string buffer, size_t offset) : buffer_(std::move(buffer)), offset_(offset) {}
  std::string_view view() const { return std::string_view(buffer_).substr(offset_); }
  // The item alone, in the same buffer.
  std::string Take() && {
    buffer_.erase(0, offset_);
    return std::move(buffer_);
  }

 private:
  std::string buffer_;
  size_t offset_ = 0;
};

struct GetItemResult {
  std::optional<ItemBytes> item;
  std::optional<ConsumedCapacity> capacity;
};

// The room for items in one answer, shared by the writes of a batch. Thread-safety: thread-safe.
class ItemRoom {
 public:
  explicit ItemRoom(size_t bytes) : bytes_(bytes) {}
  // False, with nothing taken, if there is no room for `bytes`.
  bool TryTake(size_t bytes) {
    size_t left = bytes_.load();
    while (bytes <= left) {
      if (bytes_.compare_exchange_weak(left, left - bytes)) return true;
    }
    return false;
  }

 private:
  std::atomic<size_t> bytes_;
};

enum class WriteKind : uint8_t { kConditionCheck, kPut, kDelete, kUpdate };

// The single-item operation of a kind. A principal must be allowed to run it to run such an action of a transaction.
constexpr std::string_view SingleOperation(WriteKind kind) {
  constexpr std::string_view kNames[] = {"ConditionCheckItem", "PutItem", "DeleteItem", "UpdateItem"};
  return kNames[static_cast<uint8_t>(kind)];
}

// PutItem, UpdateItem, DeleteItem.
struct WriteRequest {
  std::optional<std::string> table_name;
  std::optional<std::string> item_wire;  // the item of a put, the key of an update or a delete
  ExpressionParameters expressions;
  std::string return_values;
  std::string return_values_on_condition_check_failure;
  std::string return_consumed_capacity;
  std::string return_item_collection_metrics;
  // The write of a statement, whose errors have no envelope.
  bool from_statement = false;
  // Set if one answer has the items of several writes: an item that finds no room, or no memory, is left out, and
  // nothing fails because of it. Null: the answer has only this item, and a write without memory for it fails.
  std::shared_ptr<ItemRoom> shared_room = nullptr;
  // Gets the write units of a write that fails its condition. May be null; else it lives until the callback.
  double* lost_units = nullptr;
  // Size in bytes of the original request message. Counts toward the memory limit of requests waiting for a row lock.
  size_t message_bytes = 0;
};

// Metrics of the item collection of a write: all items and local index entries of one partition key value.
struct ItemCollectionMetrics {
  std::string key;  // item bytes as answers show them
  double lower_gb = 0;
  double upper_gb = 0;
};

struct WriteResult {
  std::optional<ItemBytes> attributes;
  std::optional<ConsumedCapacity> capacity;
  // Present if requested and the table has local indexes.
  std::optional<ItemCollectionMetrics> collection;
  // A query of a global index that waits for this sequence sees the write.
  uint64_t change_sequence = 0;
  HeldMemory memory = {};  // for the attributes
  size_t item_bytes = 0;
  bool is_item_left_out = false;  // see WriteRequest::shared_room
};

// Work on a page that its bounds apply to.
struct PageWork {
  size_t read_bytes = 0;    // as the size of a page counts
  size_t filter_bytes = 0;  // as expr::EvaluationCost counts

  PageWork& operator+=(const PageWork& other) {
    read_bytes += other.read_bytes;
    filter_bytes += other.filter_bytes;
    return *this;
  }
};

// Request of Query and Scan. Members of only one of them are absent in the other.
struct ReadRequest {
  std::optional<std::string> table_name;
  std::optional<std::string> index_name;
  std::optional<std::string> exclusive_start_key_wire;
  ExpressionParameters expressions;
  std::string select;
  // The filter of a Query may name key attributes, which the API does not allow. For statements.
  bool filter_may_use_keys = false;
  bool consistent_read = false;
  bool scan_index_forward = true;  // Query
  std::optional<int64_t> limit;
  std::optional<int64_t> segment;         // Scan
  std::optional<int64_t> total_segments;  // Scan
  uint64_t at_least_sequence = 0;
  std::string return_consumed_capacity;
  // By other reads, of which one page is made together with this one. It is counted first. For statements.
  PageWork earlier = {};
};

// Receives the items of a page one by one. A front end encodes them directly into its answer.
class PageWriter {
 public:
  virtual ~PageWriter() = default;
  // `item_bytes`: as answers show them, with plain numbers; valid during the call.
  virtual void Add(std::string_view item_bytes) = 0;
  // Drops all items, because the page is read again.
  virtual void Clear() = 0;
};

struct ReadResult {
  int64_t count = 0;                              // after the filter
  int64_t scanned_count = 0;                      // before the filter
  std::optional<std::string> last_evaluated_key;  // item bytes as answers show them
  std::optional<ConsumedCapacity> capacity;
  PageWork work = {};    // without that of earlier reads
  bool is_full = false;  // with earlier reads, the page has reached a bound; also at the end of what there is to read
};

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
  std::vector<TableKeys> unprocessed;  // tables with unread keys, as answers show them
  std::vector<ConsumedCapacity> capacity;
  // Memory for the items and for the document that is made of them.
  HeldMemory memory = {};
  size_t item_bytes = 0;
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
  std::vector<TableWrites> unprocessed;  // items and keys as answers show them
  std::vector<ConsumedCapacity> capacity;
  std::vector<TableCollections> collections;
  uint64_t change_sequence = 0;  // sequence of the last completed write
};

// One action. A transaction uses these members of `write`: table, item or key, expressions, and the values returned on
// failure.
struct TransactAction {
  size_t given = 0;  // number of actions in the element; valid if 1. Only one of them is kept
  WriteKind kind = WriteKind::kPut;
  WriteRequest write;
};

struct TransactWriteRequest {
  bool given = true;  // TransactItems is present
  std::vector<TransactAction> actions;
  std::optional<std::string> client_request_token;
  std::string token_scope;  // the principal, so that principals do not share tokens; empty without authentication
  std::string return_consumed_capacity;
  std::string return_item_collection_metrics;
  size_t message_bytes = 0;  // see WriteRequest
};

struct TransactWriteResult {
  std::vector<ConsumedCapacity> capacity;
  std::vector<TableCollections> collections;
  uint64_t change_sequence = 0;  // sequence of the last write, or a later one
};

// Elements of TransactGetItems are authorised as this operation.
inline constexpr std::string_view kTransactGetOperation = "GetItem";

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
  // Memory for the items and for the document that is made of them.
  HeldMemory memory = {};
  size_t item_bytes = 0;
};

// Bounded lists for parsers of batches and transactions. A small message can name millions of elements: an element
// takes two or three bytes on the wire and hundreds in memory. A list grows to one element beyond its limit, which is
// enough for the engine to refuse it. Further elements are parsed, so that malformed ones are found, but not kept.
//
// NextElement returns the next element to fill, empty. Beyond `max` + 1 elements, the last one is reused.
template <class Element>
Element* NextElement(size_t max, std::vector<Element>* list) {
  if (list->size() > max) list->pop_back();
  return &list->emplace_back();
}

// Returns the next entry of RequestItems, with `name`. If a name repeats, its last entry wins.
template <class Table>
Table* NextTable(std::string_view name, size_t max, std::vector<Table>* tables) {
  // A list beyond its limit is refused whatever its names are.
  if (tables->size() <= max) {
    std::erase_if(*tables, [name](const Table& table) { return table.table_name == name; });
  }
  Table* const table = NextElement(max, tables);
  table->table_name = std::string(name);
  return table;
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_H_
