#ifndef ARMATURE_STORAGE_CODEC_TYPE_CODES_H_
#define ARMATURE_STORAGE_CODEC_TYPE_CODES_H_

// The register of type codes: the first byte of every key component.
//
// Values are on disk: never renumber. docs/FORMAT.md, "Key components", holds the same register
// with the status of each code. The gaps leave room on both sides of each type, because the codes
// decide the order between types.

#include <cstdint>

namespace armature::codec {

inline constexpr uint8_t kTypeNegativeNumber = 0x20;
inline constexpr uint8_t kTypeZero = 0x21;
inline constexpr uint8_t kTypePositiveNumber = 0x22;
inline constexpr uint8_t kTypeString = 0x30;
inline constexpr uint8_t kTypeBinary = 0x38;

// Inside a string or binary body a zero byte is followed by one of these.
inline constexpr uint8_t kBodyEnd = 0x01;
inline constexpr uint8_t kBodyZero = 0xFF;

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_TYPE_CODES_H_
