#include "storage/model/item_view.h"

#include "storage/model/number.h"

namespace armature::model {

std::optional<ValueView> ValueView::FromWire(std::string_view wire) {
  std::string_view rest = wire;
  WireField field;
  if (!TakeField(&rest, &field) || !rest.empty()) return std::nullopt;
  if (field.number < 1 || field.number > 10) return std::nullopt;
  ValueView view;
  view.type_ = static_cast<ValueType>(field.number);
  const bool is_flag = view.type_ == ValueType::kBool || view.type_ == ValueType::kNull;
  if ((field.type == WireType::kVarint) != is_flag) return std::nullopt;
  if (!is_flag && field.type != WireType::kBytes) return std::nullopt;
  view.boolean_ = field.varint != 0;
  view.body_ = field.bytes;
  view.wire_ = wire;
  return view;
}

size_t ValueView::size() const {
  if (type_ < ValueType::kStringSet) return 0;
  size_t count = 0;
  std::string_view rest = body_;
  WireField field;
  while (!rest.empty() && TakeField(&rest, &field)) ++count;
  return count;
}

std::optional<AttributeView> ItemView::Take(std::string_view* rest) {
  if (rest->empty()) return std::nullopt;
  const std::string_view before = *rest;
  WireField entry;
  if (!TakeField(rest, &entry) || entry.number != 1 || entry.type != WireType::kBytes) {
    return std::nullopt;
  }
  WireField name;
  WireField value;
  std::string_view inside = entry.bytes;
  if (!TakeField(&inside, &name) || name.number != 1 || !TakeField(&inside, &value) || value.number != 2 ||
      value.type != WireType::kBytes) {
    return std::nullopt;
  }
  const std::optional<ValueView> view = ValueView::FromWire(value.bytes);
  if (!view.has_value()) return std::nullopt;
  return AttributeView{name.bytes, *view, before.substr(0, before.size() - rest->size())};
}

std::optional<ValueView> ItemView::Find(std::string_view name) const {
  std::string_view rest = bytes_;
  while (const std::optional<AttributeView> attribute = Take(&rest)) {
    const int order = attribute->name.compare(name);
    if (order == 0) return attribute->value;
    if (order > 0) break;
  }
  return std::nullopt;
}

size_t ApiSize(const ValueView& value) {
  // Lists and maps cost three bytes, and one for each member.
  constexpr size_t kDocumentOverhead = 3;
  size_t size = 0;
  switch (value.type()) {
    case ValueType::kString:
    case ValueType::kBinary:
      return value.scalar().size();
    case ValueType::kNumber:
      return NumberApiSize(value.scalar());
    case ValueType::kBool:
    case ValueType::kNull:
      return 1;
    case ValueType::kStringSet:
    case ValueType::kBinarySet:
      value.ForEachSetElement([&size](std::string_view element) {
        size += element.size();
        return true;
      });
      return size;
    case ValueType::kNumberSet:
      value.ForEachSetElement([&size](std::string_view element) {
        size += NumberApiSize(element);
        return true;
      });
      return size;
    case ValueType::kList:
      size = kDocumentOverhead;
      value.ForEachListElement([&size](const ValueView& element) {
        size += 1 + ApiSize(element);
        return true;
      });
      return size;
    case ValueType::kMap:
      size = kDocumentOverhead;
      value.map().ForEach([&size](const AttributeView& member) {
        size += 1 + member.name.size() + ApiSize(member.value);
        return true;
      });
      return size;
  }
  return 0;
}

size_t ApiSize(const ItemView& item) {
  size_t size = 0;
  item.ForEach([&size](const AttributeView& attribute) {
    size += attribute.name.size() + ApiSize(attribute.value);
    return true;
  });
  return size;
}

void AppendAttribute(std::string_view name, const ValueView& value, std::string* item_bytes) {
  const size_t entry = BytesFieldSize(name.size()) + BytesFieldSize(value.wire().size());
  item_bytes->push_back(static_cast<char>(WireTag(1, WireType::kBytes)));
  AppendVarint(entry, item_bytes);
  AppendBytesField(1, name, item_bytes);
  AppendBytesField(2, value.wire(), item_bytes);
}

}  // namespace armature::model
