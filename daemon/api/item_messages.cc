#include "daemon/api/item_messages.h"

#include <utility>

#include "daemon/api/item_request_fields.h"
#include "daemon/api/message_parts.h"
#include "daemon/api/wire_source.h"
#include "storage/base/api_error.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

ItemRequestFields<WireSource> FieldsOf(std::string_view operation) {
  return ItemRequestFields<WireSource>(WireSource(operation));
}

constexpr uint32_t kIdField = 1;

absl::Status NotAMessage() { return SerializationError("The bytes are not a message of type PipelineRequest."); }

// The last operation counts. Repeated pieces of one operation are merged by joining them.
void SetOperation(const model::WireField& field, PipelineOperation* operation) {
  if (operation->number != field.number) {
    operation->number = field.number;
    operation->request = field.bytes;
    return;
  }
  std::string joined(operation->request);
  joined.append(field.bytes);
  operation->joined = std::move(joined);
  operation->request = operation->joined;
}

}  // namespace

absl::StatusOr<engine::GetItemRequest> ParseGetItem(std::string_view bytes) {
  return FieldsOf("GetItem").GetItem(bytes);
}

absl::StatusOr<engine::WriteRequest> ParsePutItem(std::string_view bytes) {
  return FieldsOf("PutItem").WriteItem<v1::PutItemRequest>(bytes);
}

absl::StatusOr<engine::WriteRequest> ParseUpdateItem(std::string_view bytes) {
  return FieldsOf("UpdateItem").WriteItem<v1::UpdateItemRequest>(bytes);
}

absl::StatusOr<engine::WriteRequest> ParseDeleteItem(std::string_view bytes) {
  return FieldsOf("DeleteItem").WriteItem<v1::DeleteItemRequest>(bytes);
}

absl::StatusOr<engine::ReadRequest> ParseQuery(std::string_view bytes) { return FieldsOf("Query").Query(bytes); }

absl::StatusOr<engine::ReadRequest> ParseScan(std::string_view bytes) { return FieldsOf("Scan").Scan(bytes); }

absl::StatusOr<engine::BatchGetRequest> ParseBatchGetItem(std::string_view bytes) {
  return FieldsOf("BatchGetItem").BatchGetItem(bytes);
}

absl::StatusOr<engine::BatchWriteRequest> ParseBatchWriteItem(std::string_view bytes) {
  return FieldsOf("BatchWriteItem").BatchWriteItem(bytes);
}

absl::StatusOr<engine::TransactGetRequest> ParseTransactGetItems(std::string_view bytes) {
  return FieldsOf("TransactGetItems").TransactGetItems(bytes);
}

absl::StatusOr<engine::TransactWriteRequest> ParseTransactWriteItems(std::string_view bytes) {
  return FieldsOf("TransactWriteItems").TransactWriteItems(bytes);
}

std::string SerializeRest(const engine::GetItemResult& result) {
  if (!result.capacity.has_value()) return {};
  v1::GetItemResponse response;
  FillCapacity(*result.capacity, response.mutable_consumed_capacity());
  return response.SerializeAsString();
}

std::string SerializeRest(const engine::WriteResult& result) {
  v1::PutItemResponse response;  // PutItem, UpdateItem and DeleteItem have the same answer fields
  if (result.capacity.has_value()) FillCapacity(*result.capacity, response.mutable_consumed_capacity());
  response.set_change_sequence(result.change_sequence);
  std::string bytes = response.SerializeAsString();
  if (result.collection.has_value()) {
    model::AppendBytesField(v1::PutItemResponse::kItemCollectionMetricsFieldNumber,
                            SerializeCollection(*result.collection), &bytes);
  }
  return bytes;
}

std::string SerializeRest(const engine::ReadResult& result) {
  v1::QueryResponse response;  // Query and Scan have the same answer fields
  response.set_count(static_cast<int32_t>(result.count));
  response.set_scanned_count(static_cast<int32_t>(result.scanned_count));
  if (result.capacity.has_value()) FillCapacity(*result.capacity, response.mutable_consumed_capacity());
  std::string bytes = response.SerializeAsString();
  if (result.last_evaluated_key.has_value()) {
    model::AppendBytesField(v1::QueryResponse::kLastEvaluatedKeyFieldNumber, *result.last_evaluated_key, &bytes);
  }
  return bytes;
}

absl::Status ParsePipelineRequest(std::string_view message, PipelineOperation* operation) {
  while (!message.empty()) {
    model::WireField field;
    if (!model::TakeField(&message, &field)) return NotAMessage();
    if (field.number == kIdField) {
      if (field.type != model::WireType::kVarint) return NotAMessage();
      operation->id = field.varint;
    } else if (field.number >= kPipelineNumberFirst && field.number <= kPipelineNumberLast) {
      if (field.type != model::WireType::kBytes) return NotAMessage();
      SetOperation(field, operation);
    }
  }
  return absl::OkStatus();
}

std::string PipelineResponseHead(uint64_t id, uint32_t number, size_t result_bytes) {
  std::string head(1, static_cast<char>(model::WireTag(kIdField, model::WireType::kVarint)));
  model::AppendVarint(id, &head);
  head.push_back(static_cast<char>(model::WireTag(number, model::WireType::kBytes)));
  model::AppendVarint(result_bytes, &head);
  return head;
}

}  // namespace armature::daemon
