#include "storage/model/item_view.h"

#include "storage/model/number.h"

namespace armature::model {
namespace {

constexpr char kEntryTag = static_cast<char>(WireTag(1, WireType::kBytes));  // Item.attributes, Map.entries
constexpr char kNameTag = static_cast<char>(WireTag(1, WireType::kBytes));
constexpr char kValueTag = static_cast<char>(WireTag(2, WireType::kBytes));

// Opens the length-delimited field at `*at`: moves `*at` to its body. False if there is no field with this tag that
// ends at `end` or before. Canonical bytes have one-byte tags only. This is the innermost loop of all reads of items.
bool OpenField(char tag, const char** at, const char* end, size_t* length) {
  const char* const next = *at;
  if (end - next < 2 || *next != tag) return false;
  const auto first = static_cast<uint8_t>(next[1]);
  if (first < 0x80) {
    *length = first;
    *at = next + 2;
  } else if (end - next >= 3 && static_cast<uint8_t>(next[2]) < 0x80) {
    *length = (first & 0x7FU) | static_cast<size_t>(next[2]) << 7;
    *at = next + 3;
  } else {
    std::string_view rest(next + 1, static_cast<size_t>(end - next - 1));
    uint64_t value = 0;
    if (!TakeVarint(&rest, &value)) return false;
    *length = static_cast<size_t>(value);
    *at = rest.data();
  }
  return *length <= static_cast<size_t>(end - *at);
}

// Takes such a field from the front of `in`.
bool TakeTagged(char tag, std::string_view* in, std::string_view* bytes) {
  const char* at = in->data();
  const char* const end = at + in->size();
  size_t length = 0;
  if (!OpenField(tag, &at, end, &length)) return false;
  *bytes = {at, length};
  *in = {at + length, static_cast<size_t>(end - at) - length};
  return true;
}

// Takes the entry at the front of `rest` and its name. `value_field` receives the rest of the entry.
bool TakeEntry(std::string_view* rest, std::string_view* name, std::string_view* value_field) {
  return TakeTagged(kEntryTag, rest, value_field) && TakeTagged(kNameTag, value_field, name);
}

std::optional<ValueView> ValueOfEntry(std::string_view value_field) {
  std::string_view value;
  if (!TakeTagged(kValueTag, &value_field, &value)) return std::nullopt;
  return ValueView::FromWire(value);
}

// The value of the attribute `name` among `entries`. `behind` receives the entries behind it.
std::optional<ValueView> FindIn(std::string_view entries, std::string_view name, std::string_view* behind) {
  const char* at = entries.data();
  const char* const end = at + entries.size();
  while (at != end) {
    size_t entry = 0;
    size_t length = 0;
    // Most entries have two lengths of one byte each.
    if (end - at >= 4 && at[0] == kEntryTag && at[2] == kNameTag && ((at[1] | at[3]) & 0x80) == 0) {
      entry = static_cast<size_t>(at[1]) - 2;
      length = static_cast<size_t>(at[3]);
      at += 4;
      if (entry > static_cast<size_t>(end - at) || length > entry) return std::nullopt;
    } else {
      if (!OpenField(kEntryTag, &at, end, &entry)) return std::nullopt;
      const char* const begin = at;
      if (!OpenField(kNameTag, &at, at + entry, &length)) return std::nullopt;
      entry -= static_cast<size_t>(at - begin);
    }
    const std::string_view found(at, length);
    if (found == name) {
      *behind = {at + entry, static_cast<size_t>(end - at) - entry};
      return ValueOfEntry({at + length, entry - length});
    }
    // Most names differ in their first bytes, and the order of those is enough.
    if (!found.empty() && !name.empty() && static_cast<uint8_t>(found[0]) > static_cast<uint8_t>(name[0])) break;
    at += entry;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ValueView> ItemView::Find(std::string_view name) const {
  std::string_view behind;
  return FindIn(bytes_, name, &behind);
}

std::optional<ValueView> AttributeFinder::Find(std::string_view name) {
  std::string_view behind;
  std::optional<ValueView> value = FindIn(name > last_ ? behind_ : item_, name, &behind);
  if (value.has_value()) {
    last_ = name;
    behind_ = behind;
  }
  return value;
}

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
  std::string_view rest = wire;
  rest.remove_prefix(1);
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
  return AttributeView{name, *view, {before.data(), before.size() - rest->size()}};
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
      size = kDocumentApiBytes;
      value.ForEachListElement([&](const ValueView& element) {
        size += kMemberApiBytes + MeasureValue(element, compact_numbers);
        return true;
      });
      return size;
    case ValueType::kMap:
      size = kDocumentApiBytes;
      value.map().ForEach([&](const AttributeView& member) {
        size += kMemberApiBytes + member.name.size() + MeasureValue(member.value, compact_numbers);
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
