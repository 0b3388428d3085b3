#ifndef ARMATURE_STORAGE_CODEC_TYPE_CODES_H_
#define ARMATURE_STORAGE_CODEC_TYPE_CODES_H_

// The register of type codes: the first byte of every key component.
//
// The values are on disk: never renumber. docs/FORMAT.md, "Key components", holds the same register with the status of
// each code. The codes define the order between types, and gaps leave room on both sides of each type.

#include <cstdint>

namespace armature::codec {

inline constexpr uint8_t kTypeNegativeNumber = 0x20;
inline constexpr uint8_t kTypeZero = 0x21;
inline constexpr uint8_t kTypePositiveNumber = 0x22;
inline constexpr uint8_t kTypeString = 0x30;
inline constexpr uint8_t kTypeBinary = 0x38;

// A zero byte inside a string or binary body is followed by one of these.
inline constexpr uint8_t kBodyEnd = 0x01;
inline constexpr uint8_t kBodyZero = 0xFF;

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_TYPE_CODES_H_
