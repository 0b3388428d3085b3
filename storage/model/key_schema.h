#ifndef ARMATURE_STORAGE_MODEL_KEY_SCHEMA_H_
#define ARMATURE_STORAGE_MODEL_KEY_SCHEMA_H_

// Keys of tables and indexes: an ordered list of partition attributes and one of sort attributes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/item_view.h"

namespace armature::model {

// The types a key attribute may have. Values are on disk: never renumber.
enum class ScalarType : uint8_t { kString = 1, kNumber = 2, kBinary = 3 };

constexpr ValueType ToValueType(ScalarType type) { return static_cast<ValueType>(static_cast<uint8_t>(type)); }
constexpr std::string_view ScalarTypeName(ScalarType type) { return ValueTypeName(ToValueType(type)); }

struct KeyAttribute {
  std::string name;
  ScalarType type = ScalarType::kString;
  friend bool operator==(const KeyAttribute&, const KeyAttribute&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("name", self.name);
    visit("type", self.type);
  }
};

// A table has one partition attribute and at most one sort attribute. A local index has one of each. A global index has
// one to four partition attributes and none to four sort attributes.
struct KeySchema {
  std::vector<KeyAttribute> partition;
  std::vector<KeyAttribute> sort;

  bool Contains(std::string_view name) const { return Find(name) != nullptr; }
  // The key attribute called `name`, or null.
  const KeyAttribute* Find(std::string_view name) const;
  size_t size() const { return partition.size() + sort.size(); }
  friend bool operator==(const KeySchema&, const KeySchema&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("partition", self.partition);
    visit("sort", self.sort);
  }
};

// Key attribute names of an index and its table, without duplicates, in byte order: the attributes of a
// LastEvaluatedKey.
std::vector<std::string> UnionOfKeyNames(const KeySchema& a, const KeySchema& b);

// An item with only the attributes `sorted_names` of `item`, in canonical bytes. Absent attributes are left out.
std::string PickAttributes(const ItemView& item, const std::vector<std::string>& sorted_names);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_KEY_SCHEMA_H_
