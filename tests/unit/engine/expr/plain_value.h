#ifndef ARMATURE_TESTS_UNIT_ENGINE_EXPR_PLAIN_VALUE_H_
#define ARMATURE_TESTS_UNIT_ENGINE_EXPR_PLAIN_VALUE_H_

// Random attribute values as plain data, the expected results for code that reads canonical bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/random.h"
#include "tests/unit/engine/expr/expr_test_util.h"
#include "tests/unit/storage/model/naive_decimal.h"

namespace armature::expr::testing {

using test::Random;

// Only the members of the value's type are set.
struct Plain {
  model::ValueType type = model::ValueType::kNull;
  std::string text;               // S, B
  size_t utf16_units = 0;         // S: counted while it was built
  int64_t thousandths = 0;        // N
  bool flag = false;              // BOOL
  std::set<std::string> strings;  // SS, BS
  std::set<int64_t> numbers;      // NS, in thousandths
  std::vector<Plain> list;
  std::map<std::string, Plain> map;

  friend bool operator==(const Plain&, const Plain&) = default;
};
using PlainItem = std::map<std::string, Plain>;

// The canonical text of a number.
inline std::string NumberText(int64_t thousandths) {
  const std::string digits = std::to_string(std::abs(thousandths));
  return model::NaiveDecimal::Make(thousandths < 0, digits, static_cast<int>(digits.size()) - 4).Plain();
}

inline Wire ToWire(const Plain& value);

inline std::map<std::string, Wire> ToWires(const PlainItem& item) {
  std::map<std::string, Wire> wires;
  for (const auto& [name, value] : item) wires[name] = ToWire(value);
  return wires;
}

inline Wire ToWire(const Plain& value) {
  const std::vector<std::string> strings(value.strings.begin(), value.strings.end());
  switch (value.type) {
    case model::ValueType::kString:
      return S(value.text);
    case model::ValueType::kNumber:
      return N(NumberText(value.thousandths));
    case model::ValueType::kBinary:
      return B(value.text);
    case model::ValueType::kBool:
      return Bool(value.flag);
    case model::ValueType::kNull:
      return Null();
    case model::ValueType::kStringSet:
      return SS(strings);
    case model::ValueType::kBinarySet:
      return BS(strings);
    case model::ValueType::kNumberSet: {
      std::vector<std::string> texts;
      for (const int64_t number : value.numbers) texts.push_back(NumberText(number));
      return NS(texts);
    }
    case model::ValueType::kList: {
      std::vector<Wire> elements;
      for (const Plain& element : value.list) elements.push_back(ToWire(element));
      return L(elements);
    }
    case model::ValueType::kMap:
      return M(ToWires(value.map));
  }
  return {};
}

inline constexpr model::ValueType kAllTypes[] = {
    model::ValueType::kString, model::ValueType::kNumber,    model::ValueType::kBinary,    model::ValueType::kBool,
    model::ValueType::kNull,   model::ValueType::kStringSet, model::ValueType::kNumberSet, model::ValueType::kBinarySet,
    model::ValueType::kList,   model::ValueType::kMap};
inline constexpr model::ValueType kOrderedTypes[] = {model::ValueType::kString, model::ValueType::kNumber,
                                                     model::ValueType::kBinary};
inline constexpr std::string_view kPlainNames[] = {"a", "b", "c", "d", "e"};

// Makes few different values, so that equal values and substrings are frequent.
inline Plain RandomOf(model::ValueType type, int depth, Random* random);

inline Plain RandomValue(int depth, Random* random) {
  return RandomOf(depth > 0 ? random->Pick(kAllTypes) : kAllTypes[random->Below(8)], depth, random);
}

inline Plain RandomString(Random* random) {
  struct Piece {
    std::string_view text;
    size_t units;
  };
  constexpr Piece kPieces[] = {{"x", 1}, {"y", 1}, {"\xc3\xa9", 1}, {"\xe2\x82\xac", 1}, {"\xf0\x9d\x84\x9e", 2}};
  Plain value;
  value.type = model::ValueType::kString;
  for (int count = random->Below(4); count > 0; --count) {
    const Piece& piece = random->Pick(kPieces);
    value.text += piece.text;
    value.utf16_units += piece.units;
  }
  return value;
}

inline Plain RandomOf(model::ValueType type, int depth, Random* random) {
  constexpr int64_t kNumbers[] = {-1000, -10, 0, 500, 1000, 2000, 2500, 3000, 10000};
  constexpr char kBytes[] = {'\x00', 'x', '\x7f', '\x80', '\xff'};
  if (type == model::ValueType::kString) return RandomString(random);
  Plain value;
  value.type = type;
  value.thousandths = type == model::ValueType::kNumber ? random->Pick(kNumbers) : 0;
  value.flag = type == model::ValueType::kBool && random->OneIn(2);
  const int count = random->Below(4);
  if (type == model::ValueType::kBinary) {
    for (int i = 0; i < count; ++i) value.text += random->Pick(kBytes);
  }
  for (int i = 0; i < std::max(count, 1); ++i) {
    if (type == model::ValueType::kStringSet) value.strings.insert(RandomString(random).text);
    if (type == model::ValueType::kBinarySet) {
      value.strings.insert(RandomOf(model::ValueType::kBinary, 0, random).text);
    }
    if (type == model::ValueType::kNumberSet) value.numbers.insert(random->Pick(kNumbers));
  }
  for (int i = 0; i < count; ++i) {
    if (type == model::ValueType::kList) value.list.push_back(RandomValue(depth - 1, random));
    if (type == model::ValueType::kMap) {
      value.map[std::string(random->Pick(kPlainNames))] = RandomValue(depth - 1, random);
    }
  }
  return value;
}

inline PlainItem RandomItem(Random* random) {
  PlainItem item;
  for (int count = 1 + random->Below(6); count > 0; --count) {
    item[std::string(random->Pick(kPlainNames))] = RandomValue(3, random);
  }
  return item;
}

}  // namespace armature::expr::testing

#endif  // ARMATURE_TESTS_UNIT_ENGINE_EXPR_PLAIN_VALUE_H_
