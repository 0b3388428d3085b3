// Batches and transactions of the JSON protocol.

#include <string>
#include <string_view>
#include <utility>

#include "daemon/json/group_requests.h"
#include "daemon/json/item_answers.h"
#include "daemon/json/item_json.h"
#include "daemon/json/operations.h"
#include "engine/engine.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

void WriteCapacities(const std::vector<engine::ConsumedCapacity>& capacity, JsonWriter* writer) {
  if (capacity.empty()) return;
  writer->Key("ConsumedCapacity").BeginArray();
  for (const engine::ConsumedCapacity& each : capacity) WriteConsumedCapacity(each, writer);
  writer->EndArray();
}

void WriteCollections(const std::vector<engine::TableCollections>& tables, JsonWriter* writer) {
  if (tables.empty()) return;
  writer->Key("ItemCollectionMetrics").BeginObject();
  for (const engine::TableCollections& table : tables) {
    writer->Key(table.table_name).BeginArray();
    for (const engine::ItemCollectionMetrics& each : table.collections) WriteCollection(each, writer);
    writer->EndArray();
  }
  writer->EndObject();
}

void WriteTableKeys(const engine::TableKeys& keys, JsonWriter* writer) {
  writer->BeginObject().Key("Keys").BeginArray();
  for (const std::string& key : *keys.key_wires) WriteItem(key, writer);
  writer->EndArray();
  if (keys.consistent_read.has_value()) writer->Key("ConsistentRead").Boolean(*keys.consistent_read);
  const engine::ExpressionParameters& expressions = keys.expressions;
  if (expressions.projection.has_value()) writer->Member("ProjectionExpression", *expressions.projection);
  if (expressions.names.has_value()) {
    writer->Key("ExpressionAttributeNames").BeginObject();
    for (const auto& [placeholder, name] : *expressions.names) writer->Member(placeholder, name);
    writer->EndObject();
  }
  if (expressions.legacy.attributes_to_get.has_value()) {
    writer->Key("AttributesToGet").BeginArray();
    for (const std::string& name : *expressions.legacy.attributes_to_get) writer->String(name);
    writer->EndArray();
  }
  writer->EndObject();
}

void WriteBatchGet(const engine::BatchGetResult& result, JsonWriter* writer) {
  writer->BeginObject().Key("Responses").BeginObject();
  for (const engine::BatchGetResult::Table& table : result.tables) {
    writer->Key(table.table_name).BeginArray();
    for (const engine::ItemBytes& item : table.items) WriteItem(item.view(), writer);
    writer->EndArray();
  }
  writer->EndObject().Key("UnprocessedKeys").BeginObject();
  for (const engine::TableKeys& keys : result.unprocessed) WriteTableKeys(keys, &writer->Key(keys.table_name));
  writer->EndObject();
  WriteCapacities(result.capacity, writer);
  writer->EndObject();
}

void WriteRequestItem(std::string_view request, std::string_view member, std::string_view item, JsonWriter* writer) {
  writer->BeginObject().Key(request).BeginObject();
  WriteItem(item, &writer->Key(member));
  writer->EndObject().EndObject();
}

std::string BatchWriteAnswer(const engine::BatchWriteResult& result) {
  JsonWriter writer;
  writer.BeginObject().Key("UnprocessedItems").BeginObject();
  for (const engine::TableWrites& table : result.unprocessed) {
    writer.Key(table.table_name).BeginArray();
    for (const engine::BatchWrite& write : table.writes) {
      if (write.is_put) WriteRequestItem("PutRequest", "Item", *write.put_wire, &writer);
      if (write.is_delete) WriteRequestItem("DeleteRequest", "Key", *write.delete_wire, &writer);
    }
    writer.EndArray();
  }
  writer.EndObject();
  WriteCollections(result.collections, &writer);
  WriteCapacities(result.capacity, &writer);
  writer.EndObject();
  return writer.Take();
}

std::string TransactWriteAnswer(const engine::TransactWriteResult& result) {
  JsonWriter writer;
  writer.BeginObject();
  WriteCapacities(result.capacity, &writer);
  WriteCollections(result.collections, &writer);
  writer.EndObject();
  return writer.Take();
}

void WriteTransactGet(const engine::TransactGetResult& result, JsonWriter* writer) {
  writer->BeginObject().Key("Responses").BeginArray();
  for (const std::optional<engine::ItemBytes>& item : result.items) {
    writer->BeginObject();
    if (item.has_value()) WriteItem(item->view(), &writer->Key("Item"));
    writer->EndObject();
  }
  writer->EndArray();
  WriteCapacities(result.capacity, writer);
  writer->EndObject();
}

// Authorises a request by calling `check(member)` for each member. A request without members needs the permission for
// the operation itself.
template <class Member, class Check>
absl::Status AdmitMembers(const JsonCall& call, const std::vector<Member>& members, Check check) {
  if (members.empty()) return CheckAccess(call, "");
  for (const Member& member : members) ARM_RETURN_IF_ERROR(check(member));
  return absl::OkStatus();
}

template <class Request>
absl::Status AdmitTables(const JsonCall& call, const absl::StatusOr<Request>& request) {
  if (!request.ok()) return request.status();
  return AdmitMembers(call, request->tables,
                      [&call](const auto& table) { return CheckAccess(call, table.table_name); });
}

// Answers with the document `write(result)` and the sequence of the writes.
template <class Result, class Write>
engine::Callback<Result> AnswerWrites(const JsonCall& call, JsonApi::Done done, Write write) {
  return [request_id = call.request_id, done = std::move(done), write](const absl::StatusOr<Result>& result) mutable {
    if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id));
    JsonAnswer answer;
    answer.body = write(*result);
    answer.change_sequence = result->change_sequence;
    std::move(done)(std::move(answer));
  };
}

void BatchGetItem(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseBatchGetItem(call.body);
  if (const absl::Status status = AdmitTables(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->BatchGetItem(call.context, *std::move(request),
                       AnswerWith<engine::BatchGetResult>(call, std::move(done), WriteBatchGet));
}

void BatchWriteItem(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseBatchWriteItem(call.body);
  if (const absl::Status status = AdmitTables(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->BatchWriteItem(call.context, *std::move(request),
                         AnswerWrites<engine::BatchWriteResult>(call, std::move(done), BatchWriteAnswer));
}

void TransactGetItems(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseTransactGetItems(call.body);
  if (!request.ok()) return Fail(call, request.status(), std::move(done));
  const absl::Status status = AdmitMembers(call, request->gets, [&call](const engine::TransactGet& get) {
    return CheckAccess(call, engine::kTransactGetOperation, TableOf(get.get.table_name));
  });
  if (!status.ok()) return Fail(call, status, std::move(done));
  engine->TransactGetItems(call.context, *std::move(request),
                           AnswerWith<engine::TransactGetResult>(call, std::move(done), WriteTransactGet));
}

void TransactWriteItems(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = ParseTransactWriteItems(call.body);
  if (!request.ok()) return Fail(call, request.status(), std::move(done));
  const absl::Status status = AdmitMembers(call, request->actions, [&call](const engine::TransactAction& action) {
    return CheckAccess(call, engine::SingleOperation(action.kind), TableOf(action.write.table_name));
  });
  if (!status.ok()) return Fail(call, status, std::move(done));
  engine->TransactWriteItems(call.context, *std::move(request),
                             AnswerWrites<engine::TransactWriteResult>(call, std::move(done), TransactWriteAnswer));
}

constexpr JsonOperation kGroupJsonOperations[] = {
    {"BatchGetItem", BatchGetItem},
    {"BatchWriteItem", BatchWriteItem},
    {"TransactGetItems", TransactGetItems},
    {"TransactWriteItems", TransactWriteItems},
};

}  // namespace

std::span<const JsonOperation> GroupOperations() { return kGroupJsonOperations; }

}  // namespace armature::daemon
