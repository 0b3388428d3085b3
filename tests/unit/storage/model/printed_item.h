#ifndef ARMATURE_TESTS_UNIT_STORAGE_MODEL_PRINTED_ITEM_H_
#define ARMATURE_TESTS_UNIT_STORAGE_MODEL_PRINTED_ITEM_H_

// Items and values as short texts, for comparisons and failure messages: "a=N:5, l=[true, S:x], m={k=null}, s=<x, y>".
// Binaries must be printable.

#include <string>
#include <string_view>

#include "storage/base/strings.h"
#include "storage/model/item_view.h"

namespace armature::model {

inline std::string PrintedValue(const ValueView& value);

inline std::string PrintedItem(const ItemView& item) {
  std::string text;
  item.ForEach([&text](const AttributeView& member) {
    text += Cat(text.empty() ? "" : ", ", member.name, "=", PrintedValue(member.value));
    return true;
  });
  return text;
}

inline std::string PrintedValue(const ValueView& value) {
  std::string text;
  const auto add = [&text](std::string_view element) {
    text += Cat(text.empty() ? "" : ", ", element);
    return true;
  };
  switch (value.type()) {
    case ValueType::kBool:
      return value.boolean() ? "true" : "false";
    case ValueType::kNull:
      return "null";
    case ValueType::kList:
      value.ForEachListElement([&add](const ValueView& element) { return add(PrintedValue(element)); });
      return Cat("[", text, "]");
    case ValueType::kMap:
      return Cat("{", PrintedItem(value.map()), "}");
    case ValueType::kStringSet:
    case ValueType::kNumberSet:
    case ValueType::kBinarySet:
      value.ForEachSetElement(add);
      return Cat("<", text, ">");
    default:
      return Cat(ValueTypeName(value.type()), ":", value.scalar());
  }
}

}  // namespace armature::model

#endif  // ARMATURE_TESTS_UNIT_STORAGE_MODEL_PRINTED_ITEM_H_
