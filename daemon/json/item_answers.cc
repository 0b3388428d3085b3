#include "daemon/json/item_answers.h"

#include <map>
#include <string>
#include <vector>

#include "daemon/api/message_parts.h"
#include "daemon/message_json/item_json.h"
#include "engine/capacity.h"

namespace armature::daemon {
namespace {

// Writes the members of a structure of capacity units.
void WriteUnitMembers(double units, engine::CapacityUse use, JsonWriter* writer) {
  writer->Key("CapacityUnits").Double(units);
  if (use == engine::CapacityUse::kReads) writer->Key("ReadCapacityUnits").Double(units);
  if (use == engine::CapacityUse::kWrites) writer->Key("WriteCapacityUnits").Double(units);
}

void WriteUnits(double units, engine::CapacityUse use, JsonWriter* writer) {
  writer->BeginObject();
  WriteUnitMembers(units, use, writer);
  writer->EndObject();
}

void WriteIndexUnits(std::string_view member, const std::map<std::string, double>& units, engine::CapacityUse use,
                     JsonWriter* writer) {
  if (units.empty()) return;
  writer->Key(member).BeginObject();
  for (const auto& [name, part] : units) WriteUnits(part, use, &writer->Key(name));
  writer->EndObject();
}

void WriteConsumedCapacity(const engine::ConsumedCapacity& capacity, JsonWriter* writer) {
  writer->BeginObject().Member("TableName", capacity.table_name);
  WriteUnitMembers(capacity.total, capacity.use, writer);
  if (capacity.table.has_value()) WriteUnits(*capacity.table, capacity.use, &writer->Key("Table"));
  WriteIndexUnits("LocalSecondaryIndexes", capacity.local_indexes, capacity.use, writer);
  WriteIndexUnits("GlobalSecondaryIndexes", capacity.global_indexes, capacity.use, writer);
  writer->EndObject();
}

void WriteCapacityMember(const std::optional<engine::ConsumedCapacity>& capacity, JsonWriter* writer) {
  if (capacity.has_value()) WriteConsumedCapacity(*capacity, &writer->Key("ConsumedCapacity"));
}

void WriteCollection(const engine::ItemCollectionMetrics& collection, JsonWriter* writer) {
  writer->BeginObject();
  WriteItem(collection.key, &writer->Key("ItemCollectionKey"));
  writer->Key("SizeEstimateRangeGB").BeginArray();
  writer->Double(collection.lower_gb).Double(collection.upper_gb).EndArray().EndObject();
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

void WriteRequestItem(std::string_view request, std::string_view member, std::string_view item, JsonWriter* writer) {
  writer->BeginObject().Key(request).BeginObject();
  WriteItem(item, &writer->Key(member));
  writer->EndObject().EndObject();
}

}  // namespace

void WriteAnswer(const engine::GetItemResult& result, JsonWriter* writer) {
  writer->BeginObject();
  if (result.item.has_value()) WriteItem(result.item->view(), &writer->Key("Item"));
  WriteCapacityMember(result.capacity, writer);
  writer->EndObject();
}

void WriteAnswer(const engine::WriteResult& result, JsonWriter* writer) {
  writer->BeginObject();
  if (result.attributes.has_value()) WriteItem(result.attributes->view(), &writer->Key("Attributes"));
  WriteCapacityMember(result.capacity, writer);
  if (result.collection.has_value()) WriteCollection(*result.collection, &writer->Key("ItemCollectionMetrics"));
  writer->EndObject();
}

void WriteAnswer(const engine::BatchGetResult& result, JsonWriter* writer) {
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

void WriteAnswer(const engine::BatchWriteResult& result, JsonWriter* writer) {
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

void WriteAnswer(const engine::TransactWriteResult& result, JsonWriter* writer) {
  writer->BeginObject();
  WriteCapacities(result.capacity, writer);
  WriteCollections(result.collections, writer);
  writer->EndObject();
}

void WriteAnswer(const engine::TransactGetResult& result, JsonWriter* writer) {
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

JsonPage::JsonPage(std::optional<int64_t> limit, bool with_items, const MemorySource& memory)
    : limit_(limit), with_items_(with_items), writer_(HeldMemory(memory)) {
  Begin();
}

void JsonPage::Begin() {
  writer_.BeginObject();
  if (with_items_) writer_.Key("Items").BeginArray();
}

void JsonPage::Add(std::string_view item_bytes) {
  if (writer_.is_refused()) return;
  const size_t before = writer_.size();
  WriteItem(item_bytes, &writer_);
  if (!first_) return;
  first_ = false;
  writer_.Reserve(PageReserve(limit_, writer_.size() - before + 1));
}

void JsonPage::Clear() {
  writer_.Clear();
  Begin();
}

JsonWriter* JsonPage::Finish(const engine::ReadResult& result) {
  if (with_items_) writer_.EndArray();
  writer_.Key("Count").Integer(result.count).Key("ScannedCount").Integer(result.scanned_count);
  if (result.last_evaluated_key.has_value()) WriteItem(*result.last_evaluated_key, &writer_.Key("LastEvaluatedKey"));
  WriteCapacityMember(result.capacity, &writer_);
  writer_.EndObject();
  return &writer_;
}

}  // namespace armature::daemon
