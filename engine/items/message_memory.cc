#include "engine/items/message_memory.h"

namespace armature::engine {
namespace {

// Measured with glibc's allocator: a value, its name, and their place in a map.
constexpr size_t kValueBytes = 160;

size_t ValuesOf(const model::ItemView& item);

size_t ValuesOf(const model::ValueView& value) {
  size_t values = 1;
  switch (value.type()) {
    case model::ValueType::kStringSet:
    case model::ValueType::kNumberSet:
    case model::ValueType::kBinarySet:
      value.ForEachSetElement([&values](std::string_view) {
        ++values;
        return true;
      });
      break;
    case model::ValueType::kList:
      value.ForEachListElement([&values](const model::ValueView& element) {
        values += ValuesOf(element);
        return true;
      });
      break;
    case model::ValueType::kMap:
      values += ValuesOf(value.map());
      break;
    default:
      break;
  }
  return values;
}

size_t ValuesOf(const model::ItemView& item) {
  size_t values = 0;
  item.ForEach([&values](const model::AttributeView& attribute) {
    values += ValuesOf(attribute.value);
    return true;
  });
  return values;
}

}  // namespace

size_t ValueMemory(const model::ValueView& value) { return kValueBytes * ValuesOf(value); }

size_t MessageMemory(std::string_view item_bytes) {
  return BytesMemory(item_bytes.size()) + kValueBytes * ValuesOf(model::ItemView(item_bytes));
}

}  // namespace armature::engine
