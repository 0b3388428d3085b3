// Requests and answers of batches and transactions.

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "daemon/api/item_messages.h"
#include "daemon/api/message_parts.h"
#include "engine/items/request.h"
#include "storage/base/status_macros.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

using model::AppendBytesField;
using model::WireField;
using model::WireType;

// Passes fields with the numbers from `first` to `last` to `take`, and appends the others to `rest` unless it is null.
absl::Status TakeFields(std::string_view message, uint32_t first, uint32_t last, std::string_view operation,
                        std::string* rest, absl::FunctionRef<absl::Status(const WireField&)> take) {
  while (!message.empty()) {
    WireField field;
    if (!model::TakeField(&message, &field)) return NotAMessageError(operation);
    if (field.number < first || field.number > last) {
      if (rest != nullptr) rest->append(field.raw);
      continue;
    }
    if (field.type != WireType::kBytes) return NotAMessageError(operation);
    ARM_RETURN_IF_ERROR(take(field));
  }
  return absl::OkStatus();
}

// Takes the bytes of the fields with one number.
absl::Status TakeFields(std::string_view message, uint32_t number, std::string_view operation, std::string* rest,
                        absl::FunctionRef<absl::Status(std::string_view)> take) {
  return TakeFields(message, number, number, operation, rest,
                    [take](const WireField& field) { return take(field.bytes); });
}

// Number of the fields with `number`, at most `max`. For lists that reserve room; malformed fields end it.
size_t CountFields(std::string_view message, uint32_t number, size_t max) {
  size_t count = 0;
  WireField field;
  while (count < max && !message.empty() && model::TakeField(&message, &field)) {
    if (field.number == number) ++count;
  }
  return count;
}

// An entry of a map, within the bytes of the message.
class MapEntry {
 public:
  absl::Status Read(std::string_view bytes, std::string_view operation) {
    ARM_RETURN_IF_ERROR(
        TakeFields(bytes, kMapKeyField, kMapValueField, operation, nullptr, [this](const WireField& field) {
          if (field.number == kMapKeyField) {
            name_ = field.bytes;
          } else {
            AddValue(field.bytes);
          }
          return absl::OkStatus();
        }));
    return codec::IsValidUtf8(name_) ? absl::OkStatus() : NotAMessageError(operation);
  }

  std::string_view name() const { return name_; }
  std::string_view value() const { return values_ > 1 ? std::string_view(joined_) : value_; }

 private:
  // Repeated values are joined, which merges them as protobuf requires.
  void AddValue(std::string_view bytes) {
    if (++values_ == 1) {
      value_ = bytes;
      return;
    }
    if (values_ == 2) joined_ = value_;
    joined_.append(bytes);
  }

  std::string_view name_;
  std::string_view value_;
  std::string joined_;
  size_t values_ = 0;
};

// Reads request_items: `read(value, entry)` fills each new entry of `tables`. Among entries with the same name the last
// one counts.
template <class Table, class Read>
absl::Status TakeTables(std::string_view bytes, std::string_view operation, size_t tables_max, std::string* rest,
                        std::vector<Table>* tables, Read read) {
  return TakeFields(bytes, v1::BatchGetItemRequest::kRequestItemsFieldNumber, operation, rest,
                    [&](std::string_view field) -> absl::Status {
                      MapEntry entry;
                      ARM_RETURN_IF_ERROR(entry.Read(field, operation));
                      return read(entry.value(), engine::NextTable(entry.name(), tables_max, tables));
                    });
}

absl::Status ReadTableKeys(std::string_view bytes, engine::TableKeys* to) {
  constexpr std::string_view kOperation = "BatchGetItem";
  std::string rest;
  std::vector<std::string> keys;
  ARM_RETURN_IF_ERROR(
      TakeFields(bytes, v1::KeysAndAttributes::kKeysFieldNumber, kOperation, &rest, [&keys](std::string_view key) {
        *engine::NextElement(model::kBatchGetKeysMax, &keys) = std::string(key);
        return absl::OkStatus();
      }));
  v1::KeysAndAttributes message;
  if (!message.ParseFromString(rest)) return NotAMessageError(kOperation);
  // Protobuf cannot tell an empty list from an absent one.
  if (!keys.empty()) to->key_wires = std::move(keys);
  if (message.has_consistent_read()) to->consistent_read = message.consistent_read();
  if (message.has_projection_expression()) to->expressions.projection = message.projection_expression();
  TakeNames(message, &to->expressions);
  TakeAttributesToGet(message, &to->expressions);
  return absl::OkStatus();
}

// Reads a PutRequest or DeleteRequest, whose only member has the same number in both. An absent item is empty.
absl::Status ReadOneItem(std::string_view bytes, std::optional<std::string>* wire) {
  wire->emplace();
  return TakeFields(bytes, kItemField, "BatchWriteItem", nullptr, [wire](std::string_view item) {
    (*wire)->append(item);
    return absl::OkStatus();
  });
}

absl::Status ReadWrite(std::string_view bytes, engine::BatchWrite* to) {
  using Request = v1::WriteRequest;
  return TakeFields(bytes, Request::kPutRequestFieldNumber, Request::kDeleteRequestFieldNumber, "BatchWriteItem",
                    nullptr, [to](const WireField& field) {
                      if (to->is_put || to->is_delete) *to = {};  // of the two operations the last one counts
                      to->is_put = field.number == Request::kPutRequestFieldNumber;
                      to->is_delete = !to->is_put;
                      return ReadOneItem(field.bytes, to->is_put ? &to->put_wire : &to->delete_wire);
                    });
}

template <class Message>
bool HasCondition(const Message& message) {
  return message.has_condition_expression();
}
// The condition is required and has no presence.
bool HasCondition(const v1::ConditionCheck& message) { return !message.condition_expression().empty(); }

// Reads an action. It has the members of its operation, with the same field numbers.
template <class Message>
absl::Status ReadAction(std::string_view bytes, engine::WriteKind kind, engine::TransactAction* to) {
  Message message;
  ARM_ASSIGN_OR_RETURN(SplitRequest split, ParseSplit(bytes, "TransactWriteItems", kNoLegacyFields, &message));
  if (to->given != 0) *to = {};  // of several operations the last one counts
  to->given = 1;
  to->kind = kind;
  engine::WriteRequest& write = to->write;
  write.table_name = std::move(*message.mutable_table_name());
  write.item_wire = std::move(split.item).value_or(std::string());
  write.return_values_on_condition_check_failure = Text(message.return_values_on_condition_check_failure());
  if (HasCondition(message)) write.expressions.condition = message.condition_expression();
  // A required text has no presence.
  if constexpr (requires { message.update_expression(); }) {
    if (!message.update_expression().empty()) write.expressions.update = message.update_expression();
  }
  TakeNames(message, &write.expressions);
  write.expressions.values_wire = std::move(split.values);
  return absl::OkStatus();
}

absl::Status ReadTransactWriteItem(std::string_view bytes, engine::TransactAction* to) {
  using Item = v1::TransactWriteItem;
  using Kind = engine::WriteKind;
  const auto read = [to](const WireField& field) {
    switch (field.number) {
      case Item::kConditionCheckFieldNumber:
        return ReadAction<v1::ConditionCheck>(field.bytes, Kind::kConditionCheck, to);
      case Item::kPutFieldNumber:
        return ReadAction<v1::Put>(field.bytes, Kind::kPut, to);
      case Item::kDeleteFieldNumber:
        return ReadAction<v1::Delete>(field.bytes, Kind::kDelete, to);
      default:
        return ReadAction<v1::Update>(field.bytes, Kind::kUpdate, to);
    }
  };
  return TakeFields(bytes, Item::kConditionCheckFieldNumber, Item::kUpdateFieldNumber, "TransactWriteItems", nullptr,
                    read);
}

absl::Status ReadGet(std::string_view bytes, engine::TransactGet* to) {
  return TakeFields(bytes, v1::TransactGetItem::kGetFieldNumber, "TransactGetItems", nullptr,
                    [to](std::string_view get) -> absl::Status {
                      v1::Get message;
                      ARM_ASSIGN_OR_RETURN(SplitRequest split,
                                           ParseSplit(get, "TransactGetItems", kNoLegacyFields, &message));
                      *to = {};
                      to->given = true;
                      to->get.table_name = std::move(*message.mutable_table_name());
                      to->get.key_wire = std::move(split.item).value_or(std::string());
                      if (message.has_projection_expression()) {
                        to->get.expressions.projection = message.projection_expression();
                      }
                      TakeNames(message, &to->get.expressions);
                      return absl::OkStatus();
                    });
}

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

absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(std::string_view bytes) {
  engine::BatchGetRequest request;
  std::string rest;
  ARM_RETURN_IF_ERROR(
      TakeTables(bytes, "BatchGetItem", model::kBatchGetKeysMax, &rest, &request.tables, ReadTableKeys));
  v1::BatchGetItemRequest message;
  if (!message.ParseFromString(rest)) return NotAMessageError("BatchGetItem");
  request.return_consumed_capacity = Text(message.return_consumed_capacity());
  return request;
}

absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(std::string_view bytes) {
  engine::BatchWriteRequest request;
  std::string rest;
  const auto read_writes = [](std::string_view list, engine::TableWrites* to) {
    constexpr uint32_t kNumber = v1::WriteRequestList::kRequestsFieldNumber;
    to->writes.reserve(CountFields(list, kNumber, model::kBatchWritesMax + 1));
    return TakeFields(list, kNumber, "BatchWriteItem", nullptr, [to](std::string_view write) {
      return ReadWrite(write, engine::NextElement(model::kBatchWritesMax, &to->writes));
    });
  };
  ARM_RETURN_IF_ERROR(TakeTables(bytes, "BatchWriteItem", model::kBatchWritesMax, &rest, &request.tables, read_writes));
  v1::BatchWriteItemRequest message;
  if (!message.ParseFromString(rest)) return NotAMessageError("BatchWriteItem");
  request.return_consumed_capacity = Text(message.return_consumed_capacity());
  request.return_item_collection_metrics = Text(message.return_item_collection_metrics());
  request.message_bytes = bytes.size();
  return request;
}

absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(std::string_view bytes) {
  engine::TransactGetRequest request;
  std::string rest;
  ARM_RETURN_IF_ERROR(TakeFields(bytes, v1::TransactGetItemsRequest::kTransactItemsFieldNumber, "TransactGetItems",
                                 &rest, [&request](std::string_view get) {
                                   return ReadGet(get, engine::NextElement(model::kTransactActionsMax, &request.gets));
                                 }));
  v1::TransactGetItemsRequest message;
  if (!message.ParseFromString(rest)) return NotAMessageError("TransactGetItems");
  request.message_bytes = bytes.size();
  request.return_consumed_capacity = Text(message.return_consumed_capacity());
  return request;
}

absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(std::string_view bytes) {
  constexpr uint32_t kNumber = v1::TransactWriteItemsRequest::kTransactItemsFieldNumber;
  engine::TransactWriteRequest request;
  request.actions.reserve(CountFields(bytes, kNumber, model::kTransactActionsMax + 1));
  std::string rest;
  ARM_RETURN_IF_ERROR(TakeFields(bytes, kNumber, "TransactWriteItems", &rest, [&request](std::string_view item) {
    return ReadTransactWriteItem(item, engine::NextElement(model::kTransactActionsMax, &request.actions));
  }));
  v1::TransactWriteItemsRequest message;
  if (!message.ParseFromString(rest)) return NotAMessageError("TransactWriteItems");
  if (message.has_client_request_token()) request.client_request_token = message.client_request_token();
  request.return_consumed_capacity = Text(message.return_consumed_capacity());
  request.return_item_collection_metrics = Text(message.return_item_collection_metrics());
  request.message_bytes = bytes.size();
  return request;
}

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
