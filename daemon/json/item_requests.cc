#include "daemon/json/item_requests.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/message_json/item_reader.h"
#include "engine/items/request.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::daemon {
namespace {

using engine::BatchWrite;
using engine::ExpressionParameters;
using engine::TransactAction;
using engine::WriteKind;

// Reads a map of legacy (pre-expression) parameters: structures called `shape`, whose members `read` sets. The map by
// name sorts them and keeps the last of several with one name.
template <class Entry>
absl::Status ReadEntries(JsonValue value, std::string_view shape,
                         absl::Status (*read)(std::string_view, JsonValue, Entry*),
                         std::optional<std::vector<Entry>>* to) {
  std::map<std::string_view, Entry> entries;
  const auto read_entry = [&](std::string_view attribute, JsonValue structure) {
    Entry entry;
    entry.attribute = std::string(attribute);
    absl::Status status = ReadStructure(
        structure, shape, [&](std::string_view name, JsonValue member) { return read(name, member, &entry); });
    if (status.ok()) entries.insert_or_assign(attribute, std::move(entry));
    return status;
  };
  ARM_RETURN_IF_ERROR(ReadMap(value, shape, read_entry));
  to->emplace();
  for (auto& [attribute, entry] : entries) (*to)->push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status ReadAttributeUpdates(JsonValue value, std::optional<std::vector<engine::LegacyUpdate>>* to) {
  return ReadEntries<engine::LegacyUpdate>(
      value, "AttributeValueUpdate",
      [](std::string_view name, JsonValue member, engine::LegacyUpdate* entry) {
        if (name == "Value") return ReadAttributeValue(member, &entry->value_wire);
        if (name == "Action") return ReadWord(member, &entry->action);
        return absl::OkStatus();
      },
      to);
}

absl::Status ReadExpected(JsonValue value, std::optional<std::vector<engine::LegacyExpectation>>* to) {
  return ReadEntries<engine::LegacyExpectation>(
      value, "ExpectedAttributeValue",
      [](std::string_view name, JsonValue member, engine::LegacyExpectation* entry) {
        if (name == "Value") return ReadAttributeValue(member, &entry->value_wire);
        if (name == "Exists") return ReadBoolean(member, &entry->exists);
        if (name == "ComparisonOperator") return ReadWord(member, &entry->comparison_operator);
        if (name == "AttributeValueList") return ReadAttributeValueList(member, &entry->argument_wires);
        return absl::OkStatus();
      },
      to);
}

// KeyConditions, QueryFilter, ScanFilter.
absl::Status ReadConditions(JsonValue value, std::optional<std::vector<engine::LegacyCondition>>* to) {
  return ReadEntries<engine::LegacyCondition>(
      value, "Condition",
      [](std::string_view name, JsonValue member, engine::LegacyCondition* entry) {
        if (name == "ComparisonOperator") return ReadWord(member, &entry->comparison_operator);
        if (name == "AttributeValueList") return ReadAttributeValueList(member, &entry->argument_wires);
        return absl::OkStatus();
      },
      to);
}

// Reads members of all requests with expressions.
absl::Status ReadNames(std::string_view name, JsonValue value, ExpressionParameters* to) {
  if (name == "ExpressionAttributeNames") return ReadStringMap(value, &to->names);
  return absl::OkStatus();
}

// Reads members of all requests with conditions or filters.
absl::Status ReadNamesAndValues(std::string_view name, JsonValue value, ExpressionParameters* to) {
  if (name == "ExpressionAttributeValues") return ReadItem(value, &to->values_wire);
  if (name == "ConditionalOperator") return ReadWord(value, &to->legacy.conditional_operator);
  return ReadNames(name, value, to);
}

absl::Status ReadGetMember(std::string_view name, JsonValue value, engine::GetItemRequest* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "Key") return ReadItem(value, &to->key_wire);
  if (name == "ConsistentRead") return ReadBoolean(value, &to->consistent_read);
  if (name == "ProjectionExpression") return ReadString(value, &to->expressions.projection);
  if (name == "AttributesToGet") return ReadStringList(value, &to->expressions.legacy.attributes_to_get);
  if (name == "ReturnConsumedCapacity") return ReadWord(value, &to->return_consumed_capacity);
  return ReadNames(name, value, &to->expressions);
}

// Reads common members of puts, updates and deletes.
absl::Status ReadWriteMember(std::string_view name, JsonValue value, engine::WriteRequest* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "ConditionExpression") return ReadString(value, &to->expressions.condition);
  if (name == "Expected") return ReadExpected(value, &to->expressions.legacy.expected);
  if (name == "ReturnValues") return ReadWord(value, &to->return_values);
  if (name == "ReturnValuesOnConditionCheckFailure") {
    return ReadWord(value, &to->return_values_on_condition_check_failure);
  }
  if (name == "ReturnConsumedCapacity") return ReadWord(value, &to->return_consumed_capacity);
  if (name == "ReturnItemCollectionMetrics") return ReadWord(value, &to->return_item_collection_metrics);
  return ReadNamesAndValues(name, value, &to->expressions);
}

absl::Status ReadPutMember(std::string_view name, JsonValue value, engine::WriteRequest* to) {
  return name == "Item" ? ReadItem(value, &to->item_wire) : ReadWriteMember(name, value, to);
}

absl::Status ReadDeleteMember(std::string_view name, JsonValue value, engine::WriteRequest* to) {
  return name == "Key" ? ReadItem(value, &to->item_wire) : ReadWriteMember(name, value, to);
}

absl::Status ReadUpdateMember(std::string_view name, JsonValue value, engine::WriteRequest* to) {
  if (name == "UpdateExpression") return ReadString(value, &to->expressions.update);
  if (name == "AttributeUpdates") return ReadAttributeUpdates(value, &to->expressions.legacy.attribute_updates);
  return ReadDeleteMember(name, value, to);
}

// Reads common members of queries and scans.
absl::Status ReadReadMember(std::string_view name, JsonValue value, engine::ReadRequest* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "IndexName") return ReadString(value, &to->index_name);
  if (name == "ExclusiveStartKey") return ReadItem(value, &to->exclusive_start_key_wire);
  if (name == "Select") return ReadWord(value, &to->select);
  if (name == "ConsistentRead") return ReadBoolean(value, &to->consistent_read);
  if (name == "Limit") return ReadInteger(value, &to->limit);
  if (name == "ReturnConsumedCapacity") return ReadWord(value, &to->return_consumed_capacity);
  if (name == "FilterExpression") return ReadString(value, &to->expressions.filter);
  if (name == "ProjectionExpression") return ReadString(value, &to->expressions.projection);
  if (name == "AttributesToGet") return ReadStringList(value, &to->expressions.legacy.attributes_to_get);
  return ReadNamesAndValues(name, value, &to->expressions);
}

absl::Status ReadQueryMember(std::string_view name, JsonValue value, engine::ReadRequest* to) {
  if (name == "KeyConditionExpression") return ReadString(value, &to->expressions.key_condition);
  if (name == "KeyConditions") return ReadConditions(value, &to->expressions.legacy.key_conditions);
  if (name == "QueryFilter") return ReadConditions(value, &to->expressions.legacy.query_filter);
  if (name == "ScanIndexForward") return ReadBoolean(value, &to->scan_index_forward);
  return ReadReadMember(name, value, to);
}

absl::Status ReadScanMember(std::string_view name, JsonValue value, engine::ReadRequest* to) {
  if (name == "ScanFilter") return ReadConditions(value, &to->expressions.legacy.scan_filter);
  if (name == "Segment") return ReadInteger(value, &to->segment);
  if (name == "TotalSegments") return ReadInteger(value, &to->total_segments);
  return ReadReadMember(name, value, to);
}

absl::Status ReadItemList(JsonValue value, std::optional<std::vector<std::string>>* wires) {
  wires->emplace();
  return ReadList(
      value, [wires](JsonValue key) { return ReadItem(key, engine::NextElement(model::kBatchGetKeysMax, &**wires)); });
}

absl::Status ReadTableKeys(JsonValue value, engine::TableKeys* to) {
  return ReadStructure(value, "KeysAndAttributes", [to](std::string_view name, JsonValue member) {
    if (name == "Keys") return ReadItemList(member, &to->key_wires);
    if (name == "ConsistentRead") return ReadBoolean(member, &to->consistent_read);
    if (name == "ProjectionExpression") return ReadString(member, &to->expressions.projection);
    if (name == "ExpressionAttributeNames") return ReadStringMap(member, &to->expressions.names);
    if (name == "AttributesToGet") return ReadStringList(member, &to->expressions.legacy.attributes_to_get);
    return absl::OkStatus();
  });
}

// Reads {"Item": {...}} or {"Key": {...}}: a structure with one member, an item.
absl::Status ReadOneItem(JsonValue value, std::string_view shape, std::string_view member,
                         std::optional<std::string>* wire) {
  wire->reset();
  return ReadStructure(value, shape, [&](std::string_view name, JsonValue item) {
    return name == member ? ReadItem(item, wire) : absl::OkStatus();
  });
}

absl::Status ReadWrite(JsonValue value, BatchWrite* to) {
  return ReadStructure(value, "WriteRequest", [to](std::string_view name, JsonValue member) {
    if (name == "PutRequest") {
      to->is_put = true;
      return ReadOneItem(member, "PutRequest", "Item", &to->put_wire);
    }
    if (name == "DeleteRequest") {
      to->is_delete = true;
      return ReadOneItem(member, "DeleteRequest", "Key", &to->delete_wire);
    }
    return absl::OkStatus();
  });
}

absl::Status ReadAction(JsonValue value, std::string_view shape, engine::WriteRequest* to) {
  *to = {};
  return ReadStructure(value, shape, [to](std::string_view name, JsonValue member) {
    if (name == "TableName") return ReadString(member, &to->table_name);
    if (name == "Item" || name == "Key") return ReadItem(member, &to->item_wire);
    if (name == "UpdateExpression") return ReadString(member, &to->expressions.update);
    if (name == "ConditionExpression") return ReadString(member, &to->expressions.condition);
    if (name == "ExpressionAttributeNames") return ReadStringMap(member, &to->expressions.names);
    if (name == "ExpressionAttributeValues") return ReadItem(member, &to->expressions.values_wire);
    if (name == "ReturnValuesOnConditionCheckFailure") {
      return ReadWord(member, &to->return_values_on_condition_check_failure);
    }
    return absl::OkStatus();
  });
}

struct ActionMember {
  std::string_view name;
  WriteKind kind;
};
constexpr ActionMember kActionMembers[] = {{"ConditionCheck", WriteKind::kConditionCheck},
                                           {"Put", WriteKind::kPut},
                                           {"Delete", WriteKind::kDelete},
                                           {"Update", WriteKind::kUpdate}};

absl::Status ReadTransactWriteItem(JsonValue value, TransactAction* to) {
  return ReadStructure(value, "TransactWriteItem", [to](std::string_view name, JsonValue member) {
    for (const ActionMember& each : kActionMembers) {
      if (name != each.name) continue;
      ++to->given;
      to->kind = each.kind;
      return ReadAction(member, each.name, &to->write);
    }
    return absl::OkStatus();
  });
}

absl::Status ReadGet(JsonValue value, engine::GetItemRequest* to) {
  *to = {};
  return ReadStructure(value, "Get", [to](std::string_view name, JsonValue member) {
    if (name == "TableName") return ReadString(member, &to->table_name);
    if (name == "Key") return ReadItem(member, &to->key_wire);
    if (name == "ProjectionExpression") return ReadString(member, &to->expressions.projection);
    if (name == "ExpressionAttributeNames") return ReadStringMap(member, &to->expressions.names);
    return absl::OkStatus();
  });
}

absl::Status ReadBatchGetMember(std::string_view name, JsonValue value, engine::BatchGetRequest* to) {
  if (name == "ReturnConsumedCapacity") return ReadWord(value, &to->return_consumed_capacity);
  if (name != "RequestItems") return absl::OkStatus();
  to->tables.clear();
  return ReadMap(value, "KeysAndAttributes", [to](std::string_view table, JsonValue keys) {
    return ReadTableKeys(keys, engine::NextTable(table, model::kBatchGetKeysMax, &to->tables));
  });
}

absl::Status ReadBatchWriteMember(std::string_view name, JsonValue value, engine::BatchWriteRequest* to) {
  if (name == "ReturnConsumedCapacity") return ReadWord(value, &to->return_consumed_capacity);
  if (name == "ReturnItemCollectionMetrics") return ReadWord(value, &to->return_item_collection_metrics);
  if (name != "RequestItems") return absl::OkStatus();
  to->tables.clear();
  return ReadMap(value, "WriteRequests", [to](std::string_view table, JsonValue writes) {
    engine::TableWrites* const entry = engine::NextTable(table, model::kBatchWritesMax, &to->tables);
    if (IsNull(writes)) return absl::OkStatus();
    return ReadList(writes, [entry](JsonValue write) {
      return ReadWrite(write, engine::NextElement(model::kBatchWritesMax, &entry->writes));
    });
  });
}

absl::Status ReadTransactGetMember(std::string_view name, JsonValue value, engine::TransactGetRequest* to) {
  if (name == "ReturnConsumedCapacity") return ReadWord(value, &to->return_consumed_capacity);
  if (name != "TransactItems") return absl::OkStatus();
  to->given = true;
  to->gets.clear();
  return ReadList(value, [to](JsonValue element) {
    engine::TransactGet& get = *engine::NextElement(model::kTransactActionsMax, &to->gets);
    return ReadStructure(element, "TransactGetItem", [&get](std::string_view member, JsonValue structure) {
      if (member != "Get") return absl::OkStatus();
      get.given = true;
      return ReadGet(structure, &get.get);
    });
  });
}

absl::Status ReadTransactWriteMember(std::string_view name, JsonValue value, engine::TransactWriteRequest* to) {
  if (name == "ReturnConsumedCapacity") return ReadWord(value, &to->return_consumed_capacity);
  if (name == "ReturnItemCollectionMetrics") return ReadWord(value, &to->return_item_collection_metrics);
  if (name == "ClientRequestToken") return ReadString(value, &to->client_request_token);
  if (name != "TransactItems") return absl::OkStatus();
  to->given = true;
  to->actions.clear();
  return ReadList(value, [to](JsonValue element) {
    return ReadTransactWriteItem(element, engine::NextElement(model::kTransactActionsMax, &to->actions));
  });
}

// Parses a request whose structure is `shape`. `read` sets a member.
template <class Request>
absl::StatusOr<Request> Parse(const std::string& json, std::string_view shape,
                              absl::Status (*read)(std::string_view, JsonValue, Request*)) {
  Request request;
  if constexpr (requires { request.given; }) request.given = false;
  ARM_RETURN_IF_ERROR(
      ReadRequest(json, shape, [&](std::string_view name, JsonValue value) { return read(name, value, &request); }));
  if constexpr (requires { request.message_bytes; }) request.message_bytes = json.size();
  return request;
}

}  // namespace

absl::StatusOr<engine::GetItemRequest> ParseGetItem(const std::string& json) {
  return Parse(json, "GetItemInput", ReadGetMember);
}

absl::StatusOr<engine::WriteRequest> ParsePutItem(const std::string& json) {
  return Parse(json, "PutItemInput", ReadPutMember);
}

absl::StatusOr<engine::WriteRequest> ParseUpdateItem(const std::string& json) {
  return Parse(json, "UpdateItemInput", ReadUpdateMember);
}

absl::StatusOr<engine::WriteRequest> ParseDeleteItem(const std::string& json) {
  return Parse(json, "DeleteItemInput", ReadDeleteMember);
}

absl::StatusOr<engine::ReadRequest> ParseQuery(const std::string& json) {
  return Parse(json, "QueryInput", ReadQueryMember);
}

absl::StatusOr<engine::ReadRequest> ParseScan(const std::string& json) {
  return Parse(json, "ScanInput", ReadScanMember);
}

absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(const std::string& json) {
  return Parse(json, "BatchGetItemInput", ReadBatchGetMember);
}

absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(const std::string& json) {
  return Parse(json, "BatchWriteItemInput", ReadBatchWriteMember);
}

absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(const std::string& json) {
  return Parse(json, "TransactGetItemsInput", ReadTransactGetMember);
}

absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(const std::string& json) {
  return Parse(json, "TransactWriteItemsInput", ReadTransactWriteMember);
}

}  // namespace armature::daemon
