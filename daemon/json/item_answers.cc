#include "daemon/json/item_answers.h"

#include <algorithm>
#include <map>

#include "daemon/json/item_json.h"

namespace armature::daemon {
namespace {

// Items of a page have similar sizes. Reserving room for all avoids copies when the buffer grows.
constexpr int64_t kExpectedItemsMax = 100;
constexpr size_t kReserveBytesMax = 256 << 10;

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

}  // namespace

void WriteConsumedCapacity(const engine::ConsumedCapacity& capacity, JsonWriter* writer) {
  writer->BeginObject().Member("TableName", capacity.table_name);
  WriteUnitMembers(capacity.total, capacity.use, writer);
  if (capacity.table.has_value()) WriteUnits(*capacity.table, capacity.use, &writer->Key("Table"));
  WriteIndexUnits("LocalSecondaryIndexes", capacity.local_indexes, capacity.use, writer);
  WriteIndexUnits("GlobalSecondaryIndexes", capacity.global_indexes, capacity.use, writer);
  writer->EndObject();
}

void WriteCollection(const engine::ItemCollectionMetrics& collection, JsonWriter* writer) {
  writer->BeginObject();
  WriteItem(collection.key, &writer->Key("ItemCollectionKey"));
  writer->Key("SizeEstimateRangeGB").BeginArray();
  writer->Double(collection.lower_gb).Double(collection.upper_gb).EndArray().EndObject();
}

void WriteCapacityMember(const std::optional<engine::ConsumedCapacity>& capacity, JsonWriter* writer) {
  if (capacity.has_value()) WriteConsumedCapacity(*capacity, &writer->Key("ConsumedCapacity"));
}

void WriteCollectionMember(const std::optional<engine::ItemCollectionMetrics>& collection, JsonWriter* writer) {
  if (collection.has_value()) WriteCollection(*collection, &writer->Key("ItemCollectionMetrics"));
}

JsonPage::JsonPage(std::optional<int64_t> limit, bool with_items)
    : limit_(limit.value_or(kExpectedItemsMax)), with_items_(with_items) {
  Begin();
}

void JsonPage::Begin() {
  writer_.BeginObject();
  if (with_items_) writer_.Key("Items").BeginArray();
}

void JsonPage::Add(std::string_view item_bytes) {
  const size_t before = writer_.size();
  WriteItem(item_bytes, &writer_);
  if (!first_) return;
  first_ = false;
  const auto more = static_cast<size_t>(std::clamp<int64_t>(limit_, 1, kExpectedItemsMax));
  writer_.Reserve(std::min(more * (writer_.size() - before + 1), kReserveBytesMax));
}

void JsonPage::Clear() {
  writer_.Clear();
  Begin();
}

std::string JsonPage::Finish(const engine::ReadResult& result) {
  if (with_items_) writer_.EndArray();
  writer_.Key("Count").Integer(result.count).Key("ScannedCount").Integer(result.scanned_count);
  if (result.last_evaluated_key.has_value()) WriteItem(*result.last_evaluated_key, &writer_.Key("LastEvaluatedKey"));
  WriteCapacityMember(result.capacity, &writer_);
  writer_.EndObject();
  return writer_.Take();
}

}  // namespace armature::daemon
