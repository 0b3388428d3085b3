#ifndef ARMATURE_STORAGE_MODEL_VALUE_H_
#define ARMATURE_STORAGE_MODEL_VALUE_H_

// The ten types of an attribute value.

#include <cstdint>
#include <string_view>

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

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_VALUE_H_
