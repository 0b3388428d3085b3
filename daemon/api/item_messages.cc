#include "daemon/api/item_messages.h"

#include <utility>

#include "daemon/api/message_parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

constexpr LegacyFields kPutLegacyFields{.expected = v1::PutItemRequest::kExpectedFieldNumber};
constexpr LegacyFields kDeleteLegacyFields{.expected = v1::DeleteItemRequest::kExpectedFieldNumber};
constexpr LegacyFields kUpdateLegacyFields{.attribute_updates = v1::UpdateItemRequest::kAttributeUpdatesFieldNumber,
                                           .expected = v1::UpdateItemRequest::kExpectedFieldNumber};
constexpr LegacyFields kQueryLegacyFields{.key_conditions = v1::QueryRequest::kKeyConditionsFieldNumber,
                                          .query_filter = v1::QueryRequest::kQueryFilterFieldNumber};
constexpr LegacyFields kScanLegacyFields{.scan_filter = v1::ScanRequest::kScanFilterFieldNumber};

// Common part of puts, updates and deletes.
template <class Message>
absl::StatusOr<engine::WriteRequest> ToWriteRequest(std::string_view bytes, std::string_view operation,
                                                    const LegacyFields& legacy, Message* message) {
  ARM_ASSIGN_OR_RETURN(SplitRequest split, ParseSplit(bytes, operation, legacy, message));
  engine::WriteRequest request;
  request.message_bytes = bytes.size();
  request.table_name = std::move(*message->mutable_table_name());
  request.item_wire = std::move(split.item).value_or(std::string());
  request.return_values = Text(message->return_values());
  request.return_values_on_condition_check_failure = Text(message->return_values_on_condition_check_failure());
  request.return_consumed_capacity = Text(message->return_consumed_capacity());
  request.return_item_collection_metrics = Text(message->return_item_collection_metrics());
  engine::ExpressionParameters& expressions = request.expressions;
  if (message->has_condition_expression()) expressions.condition = message->condition_expression();
  TakeNames(*message, &expressions);
  expressions.values_wire = std::move(split.values);
  ARM_RETURN_IF_ERROR(ReadLegacyMaps(split.legacy, legacy, &expressions.legacy));
  expressions.legacy.conditional_operator = Text(message->conditional_operator());
  return request;
}

template <class Message>
absl::StatusOr<engine::ReadRequest> ToReadRequest(std::string_view bytes, std::string_view operation,
                                                  const LegacyFields& legacy, Message* message) {
  ARM_ASSIGN_OR_RETURN(SplitRequest split, ParseSplit(bytes, operation, legacy, message));
  engine::ReadRequest request;
  request.table_name = std::move(*message->mutable_table_name());
  if (message->has_index_name()) request.index_name = message->index_name();
  request.exclusive_start_key_wire = std::move(split.item);
  request.select = Text(message->select());
  request.consistent_read = message->consistent_read();
  if (message->has_limit()) request.limit = message->limit();
  request.at_least_sequence = message->at_least_sequence();
  request.return_consumed_capacity = Text(message->return_consumed_capacity());
  engine::ExpressionParameters& expressions = request.expressions;
  if (message->has_projection_expression()) expressions.projection = message->projection_expression();
  if (message->has_filter_expression()) expressions.filter = message->filter_expression();
  TakeNames(*message, &expressions);
  expressions.values_wire = std::move(split.values);
  TakeAttributesToGet(*message, &expressions);
  ARM_RETURN_IF_ERROR(ReadLegacyMaps(split.legacy, legacy, &expressions.legacy));
  expressions.legacy.conditional_operator = Text(message->conditional_operator());
  return request;
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
  v1::GetItemRequest message;
  ARM_ASSIGN_OR_RETURN(SplitRequest split, ParseSplit(bytes, "GetItem", kNoLegacyFields, &message));
  engine::GetItemRequest request;
  request.table_name = std::move(*message.mutable_table_name());
  request.key_wire = std::move(split.item).value_or(std::string());
  request.consistent_read = message.consistent_read();
  if (message.has_projection_expression()) request.expressions.projection = message.projection_expression();
  TakeNames(message, &request.expressions);
  TakeAttributesToGet(message, &request.expressions);
  request.return_consumed_capacity = Text(message.return_consumed_capacity());
  return request;
}

absl::StatusOr<engine::WriteRequest> ParsePutItem(std::string_view bytes) {
  v1::PutItemRequest message;
  return ToWriteRequest(bytes, "PutItem", kPutLegacyFields, &message);
}

absl::StatusOr<engine::WriteRequest> ParseUpdateItem(std::string_view bytes) {
  v1::UpdateItemRequest message;
  ARM_ASSIGN_OR_RETURN(engine::WriteRequest request,
                       ToWriteRequest(bytes, "UpdateItem", kUpdateLegacyFields, &message));
  if (message.has_update_expression()) request.expressions.update = message.update_expression();
  return request;
}

absl::StatusOr<engine::WriteRequest> ParseDeleteItem(std::string_view bytes) {
  v1::DeleteItemRequest message;
  return ToWriteRequest(bytes, "DeleteItem", kDeleteLegacyFields, &message);
}

absl::StatusOr<engine::ReadRequest> ParseQuery(std::string_view bytes) {
  v1::QueryRequest message;
  ARM_ASSIGN_OR_RETURN(engine::ReadRequest request, ToReadRequest(bytes, "Query", kQueryLegacyFields, &message));
  if (message.has_key_condition_expression()) {
    request.expressions.key_condition = message.key_condition_expression();
  }
  request.scan_index_forward = !message.has_scan_index_forward() || message.scan_index_forward();
  return request;
}

absl::StatusOr<engine::ReadRequest> ParseScan(std::string_view bytes) {
  v1::ScanRequest message;
  ARM_ASSIGN_OR_RETURN(engine::ReadRequest request, ToReadRequest(bytes, "Scan", kScanLegacyFields, &message));
  if (message.has_segment()) request.segment = message.segment();
  if (message.has_total_segments()) request.total_segments = message.total_segments();
  return request;
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
