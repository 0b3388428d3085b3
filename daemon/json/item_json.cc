#include "daemon/json/item_json.h"

#include <map>
#include <optional>

#include "daemon/api/message_parts.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"

namespace armature::daemon {
namespace {

using model::AttributeView;
using model::ItemView;
using model::ValueType;
using model::ValueView;

// Deeper than any valid item: only damaged bytes nest deeper.
constexpr int kDepthMax = 2 * model::kNestingDepthMax;

void WriteEntries(const ItemView& item, int depth, JsonWriter* writer);

void WriteSet(const ValueView& value, JsonWriter* writer) {
  writer->BeginArray();
  const bool binary = value.type() == ValueType::kBinarySet;
  value.ForEachSetElement([writer, binary](std::string_view element) {
    binary ? writer->Base64(element) : writer->String(element);
    return true;
  });
  writer->EndArray();
}

void WriteValue(const ValueView& value, int depth, JsonWriter* writer) {
  // The opening brace is written together with the key, because opening it separately costs as much as printing a short
  // value.
  switch (value.type()) {
    case ValueType::kString:
      writer->Open(R"({"S":)").String(value.scalar());
      break;
    case ValueType::kNumber:
      writer->Open(R"({"N":)").String(value.scalar());
      break;
    case ValueType::kBinary:
      writer->Open(R"({"B":)").Base64(value.scalar());
      break;
    case ValueType::kBool:
      writer->Open(R"({"BOOL":)").Boolean(value.boolean());
      break;
    case ValueType::kNull:
      writer->Open(R"({"NULL":)").Boolean(true);
      break;
    case ValueType::kStringSet:
      WriteSet(value, &writer->Open(R"({"SS":)"));
      break;
    case ValueType::kNumberSet:
      WriteSet(value, &writer->Open(R"({"NS":)"));
      break;
    case ValueType::kBinarySet:
      WriteSet(value, &writer->Open(R"({"BS":)"));
      break;
    case ValueType::kList:
      writer->Open(R"({"L":[)");
      if (depth < kDepthMax) {
        value.ForEachListElement([writer, depth](const ValueView& element) {
          WriteValue(element, depth + 1, writer);
          return !writer->is_refused();
        });
      }
      writer->EndArray();
      break;
    case ValueType::kMap:
      WriteEntries(value.map(), depth + 1, &writer->Open(R"({"M":)"));
      break;
  }
  writer->EndObject();
}

void WriteEntries(const ItemView& item, int depth, JsonWriter* writer) {
  writer->BeginObject();
  if (depth < kDepthMax) {
    item.ForEach([writer, depth](const AttributeView& attribute) {
      writer->Key(attribute.name);
      WriteValue(attribute.value, depth, writer);
      return !writer->is_refused();
    });
  }
  writer->EndObject();
}

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

void WriteItem(std::string_view item_bytes, JsonWriter* writer) { WriteEntries(ItemView(item_bytes), 0, writer); }

void WriteAttributeValue(std::string_view wire, JsonWriter* writer) {
  const std::optional<ValueView> value = ValueView::FromWire(wire);
  if (value.has_value()) {
    WriteValue(*value, 0, writer);
  } else {
    writer->BeginObject().EndObject();
  }
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
