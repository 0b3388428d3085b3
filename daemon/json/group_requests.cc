#include "daemon/json/group_requests.h"

#include <string_view>
#include <utility>
#include <vector>

#include "daemon/json/item_reader.h"
#include "engine/items/request.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::daemon {
namespace {

using engine::BatchWrite;
using engine::TransactAction;
using engine::WriteKind;

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
      return ReadString(member, &to->return_values_on_condition_check_failure);
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

}  // namespace

absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(const std::string& json) {
  engine::BatchGetRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "BatchGetItemInput", [&request](std::string_view name, JsonValue value) {
    if (name == "ReturnConsumedCapacity") return ReadString(value, &request.return_consumed_capacity);
    if (name != "RequestItems") return absl::OkStatus();
    request.tables.clear();
    return ReadMap(value, "KeysAndAttributes", [&request](std::string_view table, JsonValue keys) {
      return ReadTableKeys(keys, engine::NextTable(table, model::kBatchGetKeysMax, &request.tables));
    });
  }));
  return request;
}

absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(const std::string& json) {
  engine::BatchWriteRequest request;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "BatchWriteItemInput", [&request](std::string_view name, JsonValue value) {
    if (name == "ReturnConsumedCapacity") return ReadString(value, &request.return_consumed_capacity);
    if (name == "ReturnItemCollectionMetrics") return ReadString(value, &request.return_item_collection_metrics);
    if (name != "RequestItems") return absl::OkStatus();
    request.tables.clear();
    return ReadMap(value, "WriteRequests", [&request](std::string_view table, JsonValue writes) {
      engine::TableWrites* const entry = engine::NextTable(table, model::kBatchWritesMax, &request.tables);
      if (IsNull(writes)) return absl::OkStatus();
      return ReadList(writes, [entry](JsonValue write) {
        return ReadWrite(write, engine::NextElement(model::kBatchWritesMax, &entry->writes));
      });
    });
  }));
  request.message_bytes = json.size();
  return request;
}

absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(const std::string& json) {
  engine::TransactGetRequest request;
  request.given = false;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "TransactGetItemsInput", [&request](std::string_view name, JsonValue value) {
    if (name == "ReturnConsumedCapacity") return ReadString(value, &request.return_consumed_capacity);
    if (name != "TransactItems") return absl::OkStatus();
    request.given = true;
    request.gets.clear();
    return ReadList(value, [&request](JsonValue element) {
      engine::TransactGet& get = *engine::NextElement(model::kTransactActionsMax, &request.gets);
      return ReadStructure(element, "TransactGetItem", [&get](std::string_view member, JsonValue structure) {
        if (member != "Get") return absl::OkStatus();
        get.given = true;
        return ReadGet(structure, &get.get);
      });
    });
  }));
  request.message_bytes = json.size();
  return request;
}

absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(const std::string& json) {
  engine::TransactWriteRequest request;
  request.given = false;
  ARM_RETURN_IF_ERROR(ReadRequest(json, "TransactWriteItemsInput", [&request](std::string_view name, JsonValue value) {
    if (name == "ReturnConsumedCapacity") return ReadString(value, &request.return_consumed_capacity);
    if (name == "ReturnItemCollectionMetrics") return ReadString(value, &request.return_item_collection_metrics);
    if (name == "ClientRequestToken") return ReadString(value, &request.client_request_token);
    if (name != "TransactItems") return absl::OkStatus();
    request.given = true;
    request.actions.clear();
    return ReadList(value, [&request](JsonValue element) {
      return ReadTransactWriteItem(element, engine::NextElement(model::kTransactActionsMax, &request.actions));
    });
  }));
  request.message_bytes = json.size();
  return request;
}

}  // namespace armature::daemon
