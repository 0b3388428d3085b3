#ifndef ARMATURE_TESTS_UNIT_ENGINE_ITEM_MODEL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_ITEM_MODEL_H_

// Tables and indexes in a simple form: a map of decoded items, and indexes recomputed from all items.

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/model/item_view.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/model/naive_decimal.h"

namespace armature::engine {

// A value of type S, N or B. Numbers are plain decimals without redundant zeros.
struct Scalar {
  char type = 'S';
  std::string text;

  friend bool operator==(const Scalar&, const Scalar&) = default;
  friend std::weak_ordering operator<=>(const Scalar& a, const Scalar& b) {
    if (a.type != b.type) return a.type <=> b.type;
    if (a.type != 'N') return a.text.compare(b.text) <=> 0;  // bytes compare unsigned
    return model::NaiveDecimal::Compare(model::NaiveDecimal::OfPlain(a.text), model::NaiveDecimal::OfPlain(b.text)) <=>
           0;
  }

  std::string Wire() const { return type == 'S' ? codec::S(text) : type == 'N' ? codec::N(text) : codec::B(text); }

  // One byte, one for every two significant digits on each side of the point, one for a minus sign.
  size_t ApiSize() const {
    if (type != 'N') return text.size();
    std::string digits = text;
    size_t size = 1;
    if (digits[0] == '-') {
      digits.erase(0, 1);
      ++size;
    }
    const size_t point = std::min(digits.find('.'), digits.size());
    std::string integer = digits.substr(0, point);
    std::string fraction = point < digits.size() ? digits.substr(point + 1) : "";
    while (integer.starts_with('0')) integer.erase(0, 1);
    if (integer.empty()) {
      while (fraction.starts_with('0')) fraction.erase(0, 1);
    }
    if (fraction.empty()) {
      while (integer.ends_with('0')) integer.pop_back();
    }
    return size + (integer.size() + 1) / 2 + (fraction.size() + 1) / 2;
  }
};

using ModelItem = std::map<std::string, Scalar>;
using Tuple = std::vector<Scalar>;

inline size_t ApiSizeOf(const ModelItem& item) {
  size_t size = 0;
  for (const auto& [name, value] : item) size += name.size() + value.ApiSize();
  return size;
}

inline std::string WireOf(const ModelItem& item) {
  codec::Attributes attributes;
  for (const auto& [name, value] : item) attributes.emplace_back(name, value.Wire());
  return codec::Item(attributes);
}

inline ModelItem Decode(std::string_view item_bytes) {
  ModelItem item;
  model::ItemView(item_bytes).ForEach([&item](const model::AttributeView& attribute) {
    item[std::string(attribute.name)] = {model::ValueTypeName(attribute.value.type())[0],
                                         std::string(attribute.value.scalar())};
    return true;
  });
  return item;
}

inline std::string Printed(const ModelItem& item) {
  std::string text;
  for (const auto& [name, value] : item) {
    text += name + "=" + value.type + ":" + (value.type == 'B' ? codec::ToHex(value.text) : value.text) + " ";
  }
  return text;
}

// The reason why an index attribute keeps an item out of an index.
struct ModelKeyFault {
  enum class Kind { kType, kEmpty, kTooLong };
  Kind kind = Kind::kType;
  std::string attribute;  // the first attribute of a group that is too long
};

// A table or one of its indexes.
struct ModelKeyspace {
  std::optional<std::string> index_name;  // nullopt: the table
  std::vector<std::string> partition;
  std::vector<std::string> sort;
  std::optional<std::set<std::string>> projected;  // nullopt: all attributes
  bool global = false;
  std::map<std::string, char> types;  // of the key attributes: S, N or B
  bool filling = false;               // a global index under construction

  // All faults: wrong types, empty strings and binaries, and groups of attributes that are too long.
  std::vector<ModelKeyFault> FaultsOf(const ModelItem& item) const {
    std::vector<ModelKeyFault> faults;
    const auto look = [&](const std::vector<std::string>& group, size_t bytes_max) {
      size_t bytes = 0;
      for (const std::string& name : group) {
        if (!item.contains(name)) continue;
        const Scalar& value = item.at(name);
        if (value.type != types.at(name)) {
          faults.push_back({ModelKeyFault::Kind::kType, name});
        } else if (value.type != 'N') {
          if (value.text.empty()) faults.push_back({ModelKeyFault::Kind::kEmpty, name});
          bytes += value.text.size();
        }
      }
      if (bytes > bytes_max) faults.push_back({ModelKeyFault::Kind::kTooLong, group.front()});
    };
    look(partition, 2048);
    look(sort, 1024);
    return faults;
  }

  // The entry of `item` in this keyspace; nullopt if a key attribute is missing or unfit.
  std::optional<ModelItem> EntryOf(const ModelItem& item) const {
    for (const std::vector<std::string>* names : {&partition, &sort}) {
      for (const std::string& name : *names) {
        if (!item.contains(name)) return std::nullopt;
      }
    }
    if (!FaultsOf(item).empty()) return std::nullopt;
    if (!projected.has_value()) return item;
    ModelItem entry;
    for (const auto& [name, value] : item) {
      if (projected->contains(name)) entry[name] = value;
    }
    return entry;
  }
};

inline Tuple Pick(const ModelItem& item, const std::vector<std::string>& names) {
  Tuple tuple;
  for (const std::string& name : names) tuple.push_back(item.at(name));
  return tuple;
}

// A key condition: equalities, then at most one comparison of the next sort attribute.
struct ModelCondition {
  Tuple partition;
  Tuple sort_equal;
  std::string op;  // empty, or one of < <= > >= = begins_with BETWEEN
  Scalar first;
  Scalar second;

  bool Holds(const ModelKeyspace& keyspace, const ModelItem& entry) const {
    if (Pick(entry, keyspace.partition) != partition) return false;
    for (size_t i = 0; i < sort_equal.size(); ++i) {
      if (entry.at(keyspace.sort[i]) != sort_equal[i]) return false;
    }
    if (op.empty()) return true;
    const Scalar& value = entry.at(keyspace.sort[sort_equal.size()]);
    if (op == "<") return value < first;
    if (op == "<=") return value <= first;
    if (op == ">") return value > first;
    if (op == ">=") return value >= first;
    if (op == "=") return value == first;
    if (op == "begins_with") return value.text.starts_with(first.text);
    return value >= first && value <= second;
  }
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_ITEM_MODEL_H_
