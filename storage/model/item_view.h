#ifndef ARMATURE_STORAGE_MODEL_ITEM_VIEW_H_
#define ARMATURE_STORAGE_MODEL_ITEM_VIEW_H_

// Reads attributes of an item in place, without decoding it.
//
// The bytes are canonical item bytes (made by codec/item_codec.h): the wire form of armature.api.v1.Item with
// attributes sorted by name, numbers normalized, sets sorted, and no other fields. Views stop at malformed bytes, so
// data damaged on disk appears as a shorter item and never causes a read out of bounds.
//
// Thread-safety: views are values without state of their own.
// Lifetime: a view points into the bytes it was created from.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "storage/model/wire.h"

namespace armature::model {

// Values equal the field numbers of armature.api.v1.AttributeValue, which are on disk: never renumber.
enum class ValueType : uint8_t {
  kString = 1,
  kNumber = 2,
  kBinary = 3,
  kBool = 4,
  kNull = 5,
  kStringSet = 6,
  kNumberSet = 7,
  kBinarySet = 8,
  kList = 9,
  kMap = 10,
};

// The API's name of a type: S N B BOOL NULL SS NS BS L M.
constexpr std::string_view ValueTypeName(ValueType type) {
  constexpr std::string_view kNames[] = {"?", "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};
  const auto index = static_cast<uint8_t>(type);
  return index <= 10 ? kNames[index] : kNames[0];
}

class ItemView;

// One attribute value.
class ValueView {
 public:
  // `wire` is the canonical wire form of an AttributeValue. Nullopt if it is not a value.
  static std::optional<ValueView> FromWire(std::string_view wire);

  ValueType type() const { return type_; }
  // The whole value in the wire form of AttributeValue.
  std::string_view wire() const { return wire_; }

  // S: UTF-8 text; N: canonical decimal text; B: the bytes. Empty for other types.
  std::string_view scalar() const { return body_; }
  // SS, NS, BS, L and M: the encoded elements or entries.
  std::string_view body() const { return body_; }
  // BOOL only.
  bool boolean() const { return boolean_; }
  // M only: its entries, which have the structure of an item.
  ItemView map() const;

  // Number of elements of a set, list or map; 0 for scalars. Cost: linear.
  size_t size() const;

  // Calls fn(std::string_view element) for each element of SS, NS or BS in canonical order, until fn returns false.
  template <class Fn>
  void ForEachSetElement(Fn fn) const {
    std::string_view rest = body_;
    WireField field;
    while (!rest.empty() && TakeField(&rest, &field) && fn(field.bytes)) {
    }
  }

  // Calls fn(ValueView element) for each element of L, in order, until fn returns false.
  template <class Fn>
  void ForEachListElement(Fn fn) const {
    std::string_view rest = body_;
    WireField field;
    while (!rest.empty() && TakeField(&rest, &field)) {
      const std::optional<ValueView> element = FromWire(field.bytes);
      if (!element.has_value() || !fn(*element)) return;
    }
  }

  // Deep equality by value. Canonical bytes make it a byte comparison.
  friend bool operator==(const ValueView& a, const ValueView& b) { return a.wire_ == b.wire_; }

 private:
  ValueView() = default;

  ValueType type_ = ValueType::kNull;
  bool boolean_ = false;
  std::string_view body_;
  std::string_view wire_;
};

// One attribute: its name, its value, and the whole entry including tag and length.
struct AttributeView {
  std::string_view name;
  ValueView value;
  std::string_view entry;
};

// One attribute whose value is not read yet.
struct RawAttribute {
  std::string_view name;
  std::string_view entry;

  // Nullopt if it is malformed.
  std::optional<ValueView> Value() const;
};

// A whole item, or the entries of a map.
class ItemView {
 public:
  ItemView() = default;
  explicit ItemView(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

  // The attribute called `name`. Stops at the first name whose first byte is greater.
  std::optional<ValueView> Find(std::string_view name) const;

  // Takes the first attribute from the front of `rest` (initially bytes()). Nullopt at the end or at malformed bytes.
  static std::optional<AttributeView> Take(std::string_view* rest);

  // Takes the first attribute from the front of `rest` without a look at its value. Returns false at the end or at
  // malformed bytes.
  static bool TakeRaw(std::string_view* rest, RawAttribute* attribute);

  // Calls fn(const AttributeView&) for each attribute in order of name, until fn returns false.
  template <class Fn>
  void ForEach(Fn fn) const {
    std::string_view rest = bytes_;
    while (const std::optional<AttributeView> attribute = Take(&rest)) {
      if (!fn(*attribute)) return;
    }
  }

 private:
  std::string_view bytes_;
};

// Searches for several attributes of an item, each of them behind the one before where their names ascend. Keeps views
// of the item and of the last name, so both must outlive it.
class AttributeFinder {
 public:
  explicit AttributeFinder(const ItemView& item) : item_(item.bytes()), behind_(item.bytes()) {}

  // As ItemView::Find, if the names of the item ascend. Otherwise an attribute may be missed.
  std::optional<ValueView> Find(std::string_view name);

 private:
  std::string_view item_;
  std::string_view behind_;  // the entries behind the last attribute that was found
  std::string_view last_;    // its name
};

inline ItemView ValueView::map() const { return ItemView(body_); }

// API size of a list or map itself, without members, and of each member beside its value.
inline constexpr size_t kDocumentApiBytes = 3;
inline constexpr size_t kMemberApiBytes = 1;

// API size of a value or an item in bytes: attribute names in UTF-8 plus values.
// Source: the developer guide, "Item sizes and formats".
size_t ApiSize(const ValueView& value);
size_t ApiSize(const ItemView& item);

// The API size of an item, and true if some of its numbers have compact texts (number.h).
struct ItemMeasure {
  size_t api_size = 0;
  bool compact_numbers = false;
};
ItemMeasure Measure(const ItemView& item);

// Appends one attribute in wire form to an item under construction; names must come in ascending order.
void AppendAttribute(std::string_view name, const ValueView& value, std::string* item_bytes);

// One attribute appended in steps: between BeginEntry and EndEntry, the caller appends the value in wire form.
// `expected_bytes`: as for BeginLength.
struct OpenEntry {
  OpenLength entry;
  OpenLength value;
};
OpenEntry BeginEntry(std::string_view name, size_t expected_bytes, std::string* item_bytes);
void EndEntry(const OpenEntry& entry, std::string* item_bytes);

// Field number of the elements in the messages of lists and sets.
inline constexpr uint32_t kElementsField = 1;

// Begins an element of a list. The caller appends the value in wire form and calls EndLength.
OpenLength BeginElement(size_t expected_bytes, std::string* list_body);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_ITEM_VIEW_H_
