#include "storage/model/item_view.h"

#include <algorithm>

#include "storage/model/number.h"

namespace armature::model {
namespace {

constexpr char kEntryTag = static_cast<char>(WireTag(1, WireType::kBytes));  // Item.attributes, Map.entries
constexpr char kNameTag = static_cast<char>(WireTag(1, WireType::kBytes));
constexpr char kValueTag = static_cast<char>(WireTag(2, WireType::kBytes));

// Takes a length-delimited field with tag `tag`. Canonical bytes have one-byte tags only. This is the innermost loop of
// all reads of items.
bool TakeTagged(char tag, std::string_view* in, std::string_view* bytes) {
  if (in->empty() || in->front() != tag) return false;
  in->remove_prefix(1);
  return TakeLengthDelimited(in, bytes);
}

// Takes the entry at the front of `rest` and its name. `value_field` receives the rest of the entry.
bool TakeEntry(std::string_view* rest, std::string_view* name, std::string_view* value_field) {
  return TakeTagged(kEntryTag, rest, value_field) && TakeTagged(kNameTag, value_field, name);
}

// Same result as a.compare(b), faster for typical names, which are short and differ in the first bytes. A call of
// memcmp would cost more.
int CompareNames(std::string_view a, std::string_view b) {
  constexpr size_t kQuickBytes = 16;
  const size_t quick = std::min({a.size(), b.size(), kQuickBytes});
  for (size_t i = 0; i < quick; ++i) {
    if (a[i] != b[i]) return static_cast<uint8_t>(a[i]) < static_cast<uint8_t>(b[i]) ? -1 : 1;
  }
  return a.substr(quick).compare(b.substr(quick));
}

std::optional<ValueView> ValueOfEntry(std::string_view value_field) {
  std::string_view value;
  if (!TakeTagged(kValueTag, &value_field, &value)) return std::nullopt;
  return ValueView::FromWire(value);
}

}  // namespace

std::optional<ValueView> ValueView::FromWire(std::string_view wire) {
  if (wire.empty()) return std::nullopt;
  // Every member of AttributeValue has a one-byte tag.
  const auto tag = static_cast<uint8_t>(wire.front());
  const uint8_t number = tag >> 3;
  if (number < 1 || number > 10) return std::nullopt;
  ValueView view;
  view.type_ = static_cast<ValueType>(number);
  view.wire_ = wire;
  const bool is_flag = view.type_ == ValueType::kBool || view.type_ == ValueType::kNull;
  if (tag != WireTag(number, is_flag ? WireType::kVarint : WireType::kBytes)) return std::nullopt;
  std::string_view rest = wire.substr(1);
  if (is_flag) {
    uint64_t flag = 0;
    if (!TakeVarint(&rest, &flag)) return std::nullopt;
    view.boolean_ = flag != 0;
  } else if (!TakeLengthDelimited(&rest, &view.body_)) {
    return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
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
  const std::string_view before = *rest;
  std::string_view name;
  std::string_view value_field;
  if (!TakeEntry(rest, &name, &value_field)) return std::nullopt;
  const std::optional<ValueView> view = ValueOfEntry(value_field);
  if (!view.has_value()) return std::nullopt;
  return AttributeView{name, *view, before.substr(0, before.size() - rest->size())};
}

bool ItemView::TakeRaw(std::string_view* rest, RawAttribute* attribute) {
  const char* const begin = rest->data();
  std::string_view value_field;
  if (!TakeEntry(rest, &attribute->name, &value_field)) return false;
  attribute->entry = {begin, static_cast<size_t>(rest->data() - begin)};
  return true;
}

std::optional<ValueView> RawAttribute::Value() const {
  return ValueOfEntry(entry.substr(static_cast<size_t>(name.data() + name.size() - entry.data())));
}

std::optional<ValueView> ItemView::Find(std::string_view name) const {
  std::string_view rest = bytes_;
  std::string_view found;
  std::string_view value_field;
  while (TakeEntry(&rest, &found, &value_field)) {
    const int order = CompareNames(found, name);
    if (order == 0) return ValueOfEntry(value_field);
    if (order > 0) break;
  }
  return std::nullopt;
}

namespace {

size_t AddNumber(std::string_view text, bool* compact_numbers) {
  *compact_numbers = *compact_numbers || IsCompactNumber(text);
  return NumberApiSize(text);
}

// Returns the API size. Sets `compact_numbers` if there is a compact number.
size_t MeasureValue(const ValueView& value, bool* compact_numbers) {
  size_t size = 0;
  switch (value.type()) {
    case ValueType::kString:
    case ValueType::kBinary:
      return value.scalar().size();
    case ValueType::kNumber:
      return AddNumber(value.scalar(), compact_numbers);
    case ValueType::kBool:
    case ValueType::kNull:
      return 1;
    case ValueType::kStringSet:
    case ValueType::kNumberSet:
    case ValueType::kBinarySet:
      value.ForEachSetElement([&, is_number = value.type() == ValueType::kNumberSet](std::string_view element) {
        size += is_number ? AddNumber(element, compact_numbers) : element.size();
        return true;
      });
      return size;
    case ValueType::kList:
      size = kDocumentApiBytes;  // and one byte per member
      value.ForEachListElement([&](const ValueView& element) {
        size += 1 + MeasureValue(element, compact_numbers);
        return true;
      });
      return size;
    case ValueType::kMap:
      size = kDocumentApiBytes;  // and one byte per member
      value.map().ForEach([&](const AttributeView& member) {
        size += 1 + member.name.size() + MeasureValue(member.value, compact_numbers);
        return true;
      });
      return size;
  }
  return 0;
}

}  // namespace

size_t ApiSize(const ValueView& value) {
  bool compact_numbers = false;
  return MeasureValue(value, &compact_numbers);
}

size_t ApiSize(const ItemView& item) { return Measure(item).api_size; }

ItemMeasure Measure(const ItemView& item) {
  ItemMeasure measure;
  item.ForEach([&measure](const AttributeView& attribute) {
    measure.api_size += attribute.name.size() + MeasureValue(attribute.value, &measure.compact_numbers);
    return true;
  });
  return measure;
}

void AppendAttribute(std::string_view name, const ValueView& value, std::string* item_bytes) {
  const size_t entry = BytesFieldSize(name.size()) + BytesFieldSize(value.wire().size());
  item_bytes->push_back(static_cast<char>(WireTag(1, WireType::kBytes)));
  AppendVarint(entry, item_bytes);
  AppendBytesField(1, name, item_bytes);
  AppendBytesField(2, value.wire(), item_bytes);
}

OpenEntry BeginEntry(std::string_view name, size_t expected_bytes, std::string* item_bytes) {
  OpenEntry open;
  item_bytes->push_back(kEntryTag);
  open.entry = BeginLength(BytesFieldSize(name.size()) + BytesFieldSize(expected_bytes), item_bytes);
  AppendBytesField(1, name, item_bytes);
  item_bytes->push_back(kValueTag);
  open.value = BeginLength(expected_bytes, item_bytes);
  return open;
}

void EndEntry(const OpenEntry& entry, std::string* item_bytes) {
  EndLength(entry.value, item_bytes);
  EndLength(entry.entry, item_bytes);
}

OpenLength BeginElement(size_t expected_bytes, std::string* list_body) {
  list_body->push_back(static_cast<char>(WireTag(kElementsField, WireType::kBytes)));
  return BeginLength(expected_bytes, list_body);
}

}  // namespace armature::model
