#include "daemon/json/item_operations.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/message_parts.h"
#include "daemon/json/error_json.h"
#include "daemon/json/item_json.h"
#include "daemon/json/item_requests.h"

namespace armature::daemon {
namespace {

using engine::Engine;

void WriteCollection(const engine::ItemCollectionMetrics& collection, JsonWriter* writer) {
  writer->BeginObject();
  WriteItem(collection.key, &writer->Key("ItemCollectionKey"));
  writer->Key("SizeEstimateRangeGB").BeginArray();
  writer->Double(collection.lower_gb).Double(collection.upper_gb).EndArray().EndObject();
}

void WriteGotItem(const engine::GetItemResult& result, JsonWriter* writer) {
  writer->BeginObject();
  if (result.item.has_value()) WriteItem(result.item->view(), &writer->Key("Item"));
  WriteCapacityMember(result.capacity, writer);
  writer->EndObject();
}

void WriteWritten(const engine::WriteResult& result, JsonWriter* writer) {
  writer->BeginObject();
  if (result.attributes.has_value()) WriteItem(result.attributes->view(), &writer->Key("Attributes"));
  WriteCapacityMember(result.capacity, writer);
  if (result.collection.has_value()) WriteCollection(*result.collection, &writer->Key("ItemCollectionMetrics"));
  writer->EndObject();
}

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

void WriteBatchWrite(const engine::BatchWriteResult& result, JsonWriter* writer) {
  writer->BeginObject().Key("UnprocessedItems").BeginObject();
  for (const engine::TableWrites& table : result.unprocessed) {
    writer->Key(table.table_name).BeginArray();
    for (const engine::BatchWrite& write : table.writes) {
      if (write.is_put) WriteRequestItem("PutRequest", "Item", *write.put_wire, writer);
      if (write.is_delete) WriteRequestItem("DeleteRequest", "Key", *write.delete_wire, writer);
    }
    writer->EndArray();
  }
  writer->EndObject();
  WriteCollections(result.collections, writer);
  WriteCapacities(result.capacity, writer);
  writer->EndObject();
}

void WriteTransactWrite(const engine::TransactWriteResult& result, JsonWriter* writer) {
  writer->BeginObject();
  WriteCapacities(result.capacity, writer);
  WriteCollections(result.collections, writer);
  writer->EndObject();
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

// Part of the bytes of its items by which a document is longer, if they are long.
constexpr size_t kDocumentPart = 16;

// The error of a parsed request: a fault of the document, or missing access rights.
template <class Request>
absl::Status Admit(const Engine& engine, const JsonCall& call, const absl::StatusOr<Request>& request) {
  if (!request.ok()) return request.status();
  access::MatchWork work;
  return engine::CheckRights(call.operation, *request,
                             [&](const engine::NeededRight& right) { return call.CheckAccess(engine, right, &work); });
}

// Runs an operation: `kParse(document)` makes the request, `kWrite(result, writer)` the answer.
template <auto kParse, auto kMethod, class Result, void (*kWrite)(const Result&, JsonWriter*)>
void Run(Engine* engine, const JsonCall& call, JsonApi::Done done) {
  auto request = kParse(call.body);
  if (const absl::Status status = Admit(*engine, call, request); !status.ok()) {
    return std::move(done)(ErrorAnswer(status, call.request_id));
  }
  if constexpr (requires { request->token_scope; }) {
    if (call.access != nullptr) request->token_scope = call.access->principal();
  }
  (engine->*kMethod)(call.context, *std::move(request),
                     [request_id = call.request_id, memory = call.context.memory,
                      done = std::move(done)](absl::StatusOr<Result> result) mutable {
                       if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id, memory));
                       constexpr bool kOnlyReads = !requires { result->change_sequence; };
                       HeldMemory held{memory};
                       size_t item_bytes = 0;
                       if constexpr (requires { result->memory; }) {
                         item_bytes = result->item_bytes;
                         if (result->memory.is_counted()) held = std::move(result->memory);
                       }
                       JsonWriter writer(std::move(held), item_bytes, kOnlyReads);
                       // A buffer that grows is there twice meanwhile.
                       if (HeldMemory::Counts(item_bytes)) writer.Reserve(item_bytes + item_bytes / kDocumentPart);
                       kWrite(*result, &writer);
                       JsonAnswer answer = AnswerOf(&writer, kOnlyReads, request_id);
                       if constexpr (!kOnlyReads) answer.change_sequence = result->change_sequence;
                       std::move(done)(std::move(answer));
                     });
}

// Runs Query or Scan.
template <auto kParse, auto kMethod>
void RunPage(Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::ReadRequest> request = kParse(call.body);
  if (const absl::Status status = Admit(*engine, call, request); !status.ok()) {
    return std::move(done)(ErrorAnswer(status, call.request_id));
  }
  request->at_least_sequence = call.at_least_sequence;
  auto page = std::make_shared<JsonPage>(request->limit, request->select != "COUNT", call.context.memory);
  JsonPage* const writer = page.get();
  (engine->*kMethod)(call.context, *std::move(request), writer,
                     [page = std::move(page), request_id = call.request_id,
                      done = std::move(done)](const absl::StatusOr<engine::ReadResult>& result) mutable {
                       if (!result.ok()) return std::move(done)(ErrorAnswer(result.status(), request_id));
                       std::move(done)(AnswerOf(page->Finish(*result), /*may_refuse=*/true, request_id));
                     });
}

constexpr JsonOperation kItemOperations[] = {
    {"GetItem", Run<ParseGetItem, &Engine::GetItem, engine::GetItemResult, WriteGotItem>},
    {"PutItem", Run<ParsePutItem, &Engine::PutItem, engine::WriteResult, WriteWritten>},
    {"UpdateItem", Run<ParseUpdateItem, &Engine::UpdateItem, engine::WriteResult, WriteWritten>},
    {"DeleteItem", Run<ParseDeleteItem, &Engine::DeleteItem, engine::WriteResult, WriteWritten>},
    {"Query", RunPage<ParseQuery, &Engine::Query>},
    {"Scan", RunPage<ParseScan, &Engine::Scan>},
    {"BatchGetItem", Run<ParseBatchGetItem, &Engine::BatchGetItem, engine::BatchGetResult, WriteBatchGet>},
    {"BatchWriteItem", Run<ParseBatchWriteItem, &Engine::BatchWriteItem, engine::BatchWriteResult, WriteBatchWrite>},
    {"TransactGetItems",
     Run<ParseTransactGetItems, &Engine::TransactGetItems, engine::TransactGetResult, WriteTransactGet>},
    {"TransactWriteItems",
     Run<ParseTransactWriteItems, &Engine::TransactWriteItems, engine::TransactWriteResult, WriteTransactWrite>},
};

}  // namespace

const JsonOperation* FindItemOperation(std::string_view name) {
  const auto* const found = std::ranges::find(kItemOperations, name, &JsonOperation::name);
  return found == std::end(kItemOperations) ? nullptr : found;
}

}  // namespace armature::daemon
