// Answers of batches and transactions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/api/item_messages.h"
#include "daemon/api/message_parts.h"
#include "engine/items/request.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

using model::AppendBytesField;

std::string Entry(std::string_view name, std::string_view value) {
  std::string entry;
  AppendBytesField(kMapKeyField, name, &entry);
  AppendBytesField(kMapValueField, value, &entry);
  return entry;
}

std::string ItemListOf(const std::vector<engine::ItemBytes>& items) {
  std::string list;
  for (const engine::ItemBytes& item : items) {
    AppendBytesField(v1::ItemList::kItemsFieldNumber, item.view(), &list);
  }
  return list;
}

std::string TableKeysOf(const engine::TableKeys& keys) {
  v1::KeysAndAttributes message;
  if (keys.consistent_read.has_value()) message.set_consistent_read(*keys.consistent_read);
  const engine::ExpressionParameters& expressions = keys.expressions;
  if (expressions.projection.has_value()) message.set_projection_expression(*expressions.projection);
  if (expressions.names.has_value()) {
    for (const auto& [placeholder, name] : *expressions.names) {
      (*message.mutable_expression_attribute_names())[placeholder] = name;
    }
  }
  if (expressions.legacy.attributes_to_get.has_value()) {
    for (const std::string& name : *expressions.legacy.attributes_to_get) message.add_attributes_to_get(name);
  }
  std::string bytes = message.SerializeAsString();
  for (const std::string& key : *keys.key_wires) {
    AppendBytesField(v1::KeysAndAttributes::kKeysFieldNumber, key, &bytes);
  }
  return bytes;
}

std::string WriteListOf(const std::vector<engine::BatchWrite>& writes) {
  std::string list;
  for (const engine::BatchWrite& write : writes) {
    std::string request;
    AppendBytesField(kItemField, write.is_put ? *write.put_wire : *write.delete_wire, &request);
    std::string one;
    AppendBytesField(
        write.is_put ? v1::WriteRequest::kPutRequestFieldNumber : v1::WriteRequest::kDeleteRequestFieldNumber, request,
        &one);
    AppendBytesField(v1::WriteRequestList::kRequestsFieldNumber, one, &list);
  }
  return list;
}

// `number`: field of consumed_capacity in the answer.
void AppendCapacities(const std::vector<engine::ConsumedCapacity>& capacity, uint32_t number, std::string* bytes) {
  for (const engine::ConsumedCapacity& each : capacity) {
    v1::ConsumedCapacity message;
    FillCapacity(each, &message);
    AppendBytesField(number, message.SerializeAsString(), bytes);
  }
}

// Appends the fields that answers of batch writes and transactions share.
template <class Result>
void AppendWriteReport(const Result& result, std::string* bytes) {
  using Response = v1::BatchWriteItemResponse;
  AppendCapacities(result.capacity, Response::kConsumedCapacityFieldNumber, bytes);
  for (const engine::TableCollections& table : result.collections) {
    std::string list;
    for (const engine::ItemCollectionMetrics& each : table.collections) {
      AppendBytesField(v1::ItemCollectionMetricsList::kMetricsFieldNumber, SerializeCollection(each), &list);
    }
    AppendBytesField(Response::kItemCollectionMetricsFieldNumber, Entry(table.table_name, list), bytes);
  }
  Response rest;
  rest.set_change_sequence(result.change_sequence);
  bytes->append(rest.SerializeAsString());
}

}  // namespace

std::string Serialize(const engine::BatchGetResult& result) {
  using Response = v1::BatchGetItemResponse;
  std::string bytes;
  for (const engine::BatchGetResult::Table& table : result.tables) {
    AppendBytesField(Response::kResponsesFieldNumber, Entry(table.table_name, ItemListOf(table.items)), &bytes);
  }
  for (const engine::TableKeys& keys : result.unprocessed) {
    AppendBytesField(Response::kUnprocessedKeysFieldNumber, Entry(keys.table_name, TableKeysOf(keys)), &bytes);
  }
  AppendCapacities(result.capacity, Response::kConsumedCapacityFieldNumber, &bytes);
  return bytes;
}

std::string Serialize(const engine::BatchWriteResult& result) {
  std::string bytes;
  for (const engine::TableWrites& table : result.unprocessed) {
    AppendBytesField(v1::BatchWriteItemResponse::kUnprocessedItemsFieldNumber,
                     Entry(table.table_name, WriteListOf(table.writes)), &bytes);
  }
  AppendWriteReport(result, &bytes);
  return bytes;
}

std::string Serialize(const engine::TransactGetResult& result) {
  using Response = v1::TransactGetItemsResponse;
  std::string bytes;
  for (const std::optional<engine::ItemBytes>& item : result.items) {
    std::string response;
    if (item.has_value()) AppendBytesField(v1::ItemResponse::kItemFieldNumber, item->view(), &response);
    AppendBytesField(Response::kResponsesFieldNumber, response, &bytes);
  }
  AppendCapacities(result.capacity, Response::kConsumedCapacityFieldNumber, &bytes);
  return bytes;
}

std::string Serialize(const engine::TransactWriteResult& result) {
  std::string bytes;
  AppendWriteReport(result, &bytes);
  return bytes;
}

}  // namespace armature::daemon
