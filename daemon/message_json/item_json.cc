#include "daemon/message_json/item_json.h"

#include <optional>

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

}  // namespace armature::daemon
