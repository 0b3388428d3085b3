#include "daemon/json/item_requests.h"

#include <utility>

#include "daemon/json/item_reader.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

using engine::ExpressionParameters;

// Reads members of all requests with expressions.
absl::Status ReadNames(std::string_view name, JsonValue value, ExpressionParameters* to) {
  if (name == "ExpressionAttributeNames") return ReadStringMap(value, &to->names);
  return absl::OkStatus();
}

// Reads members of all requests with conditions or filters.
absl::Status ReadNamesAndValues(std::string_view name, JsonValue value, ExpressionParameters* to) {
  if (name == "ExpressionAttributeValues") return ReadItem(value, &to->values_wire);
  if (name == "ConditionalOperator") return ReadString(value, &to->legacy.conditional_operator);
  return ReadNames(name, value, to);
}

// Reads common members of puts, updates and deletes.
absl::Status ReadWriteMember(std::string_view name, JsonValue value, engine::WriteRequest* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "ConditionExpression") return ReadString(value, &to->expressions.condition);
  if (name == "Expected") return ReadExpected(value, &to->expressions.legacy.expected);
  if (name == "ReturnValues") return ReadString(value, &to->return_values);
  if (name == "ReturnValuesOnConditionCheckFailure") {
    return ReadString(value, &to->return_values_on_condition_check_failure);
  }
  if (name == "ReturnConsumedCapacity") return ReadString(value, &to->return_consumed_capacity);
  if (name == "ReturnItemCollectionMetrics") return ReadString(value, &to->return_item_collection_metrics);
  return ReadNamesAndValues(name, value, &to->expressions);
}

// Reads common members of queries and scans.
absl::Status ReadReadMember(std::string_view name, JsonValue value, engine::ReadRequest* to) {
  if (name == "TableName") return ReadString(value, &to->table_name);
  if (name == "IndexName") return ReadString(value, &to->index_name);
  if (name == "ExclusiveStartKey") return ReadItem(value, &to->exclusive_start_key_wire);
  if (name == "Select") return ReadString(value, &to->select);
  if (name == "ConsistentRead") return ReadBoolean(value, &to->consistent_read);
  if (name == "Limit") return ReadInteger(value, &to->limit);
  if (name == "ReturnConsumedCapacity") return ReadString(value, &to->return_consumed_capacity);
  if (name == "FilterExpression") return ReadString(value, &to->expressions.filter);
  if (name == "ProjectionExpression") return ReadString(value, &to->expressions.projection);
  if (name == "AttributesToGet") return ReadStringList(value, &to->expressions.legacy.attributes_to_get);
  return ReadNamesAndValues(name, value, &to->expressions);
}

// Parses a request with `read` as its member setter.
template <class Request>
absl::StatusOr<Request> Parse(const std::string& json, std::string_view shape,
                              absl::Status (*read)(std::string_view, JsonValue, Request*)) {
  Request request;
  ARM_RETURN_IF_ERROR(
      ReadRequest(json, shape, [&](std::string_view name, JsonValue value) { return read(name, value, &request); }));
  return request;
}

absl::StatusOr<engine::WriteRequest> ParseWrite(const std::string& json, std::string_view shape,
                                                absl::Status (*read)(std::string_view, JsonValue,
                                                                     engine::WriteRequest*)) {
  ARM_ASSIGN_OR_RETURN(engine::WriteRequest request, Parse<engine::WriteRequest>(json, shape, read));
  request.message_bytes = json.size();
  return request;
}

}  // namespace

absl::StatusOr<engine::GetItemRequest> ParseGetItem(const std::string& json) {
  return Parse<engine::GetItemRequest>(json, "GetItemInput",
                                       [](std::string_view name, JsonValue value, engine::GetItemRequest* to) {
                                         if (name == "TableName") return ReadString(value, &to->table_name);
                                         if (name == "Key") return ReadItem(value, &to->key_wire);
                                         if (name == "ConsistentRead") return ReadBoolean(value, &to->consistent_read);
                                         if (name == "ProjectionExpression")
                                           return ReadString(value, &to->expressions.projection);
                                         if (name == "AttributesToGet")
                                           return ReadStringList(value, &to->expressions.legacy.attributes_to_get);
                                         if (name == "ReturnConsumedCapacity")
                                           return ReadString(value, &to->return_consumed_capacity);
                                         return ReadNames(name, value, &to->expressions);
                                       });
}

absl::StatusOr<engine::WriteRequest> ParsePutItem(const std::string& json) {
  return ParseWrite(json, "PutItemInput", [](std::string_view name, JsonValue value, engine::WriteRequest* to) {
    if (name == "Item") return ReadItem(value, &to->item_wire);
    return ReadWriteMember(name, value, to);
  });
}

absl::StatusOr<engine::WriteRequest> ParseUpdateItem(const std::string& json) {
  return ParseWrite(json, "UpdateItemInput", [](std::string_view name, JsonValue value, engine::WriteRequest* to) {
    if (name == "Key") return ReadItem(value, &to->item_wire);
    if (name == "UpdateExpression") return ReadString(value, &to->expressions.update);
    if (name == "AttributeUpdates") return ReadAttributeUpdates(value, &to->expressions.legacy.attribute_updates);
    return ReadWriteMember(name, value, to);
  });
}

absl::StatusOr<engine::WriteRequest> ParseDeleteItem(const std::string& json) {
  return ParseWrite(json, "DeleteItemInput", [](std::string_view name, JsonValue value, engine::WriteRequest* to) {
    if (name == "Key") return ReadItem(value, &to->item_wire);
    return ReadWriteMember(name, value, to);
  });
}

absl::StatusOr<engine::ReadRequest> ParseQuery(const std::string& json) {
  return Parse<engine::ReadRequest>(json, "QueryInput",
                                    [](std::string_view name, JsonValue value, engine::ReadRequest* to) {
                                      if (name == "KeyConditionExpression")
                                        return ReadString(value, &to->expressions.key_condition);
                                      if (name == "KeyConditions")
                                        return ReadConditions(value, &to->expressions.legacy.key_conditions);
                                      if (name == "QueryFilter")
                                        return ReadConditions(value, &to->expressions.legacy.query_filter);
                                      if (name == "ScanIndexForward")
                                        return ReadBoolean(value, &to->scan_index_forward);
                                      return ReadReadMember(name, value, to);
                                    });
}

absl::StatusOr<engine::ReadRequest> ParseScan(const std::string& json) {
  return Parse<engine::ReadRequest>(json, "ScanInput",
                                    [](std::string_view name, JsonValue value, engine::ReadRequest* to) {
                                      if (name == "ScanFilter")
                                        return ReadConditions(value, &to->expressions.legacy.scan_filter);
                                      if (name == "Segment") return ReadInteger(value, &to->segment);
                                      if (name == "TotalSegments") return ReadInteger(value, &to->total_segments);
                                      return ReadReadMember(name, value, to);
                                    });
}

}  // namespace armature::daemon
