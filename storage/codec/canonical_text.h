#ifndef ARMATURE_STORAGE_CODEC_CANONICAL_TEXT_H_
#define ARMATURE_STORAGE_CODEC_CANONICAL_TEXT_H_

// Checks of the texts in values.
//
// Thread-safety: free functions without state.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace armature::codec {

// IsValidUtf8, for texts of all lengths.
bool IsValidLongUtf8(std::string_view text);

// True if `text` is well-formed UTF-8 (no surrogates, no overlong forms).
inline bool IsValidUtf8(std::string_view text) {
  const auto load = [](const char* bytes, auto word) {
    std::memcpy(&word, bytes, sizeof(word));
    return word;
  };
  // Most texts are short and ASCII: two words that overlap have all their bytes.
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (text.size() >= 8 && text.size() <= 16) {
    if (((load(begin, uint64_t{}) | load(end - 8, uint64_t{})) & 0x8080808080808080) == 0) return true;
  } else if (text.size() >= 4 && text.size() < 8) {
    if (((load(begin, uint32_t{}) | load(end - 4, uint32_t{})) & 0x80808080) == 0) return true;
  }
  return IsValidLongUtf8(text);
}

// True only if `text` is what Number::CanonicalText returns. Does not create a number. Texts that are compact,
// longer than kNumberDigitsMax, or have a run of kPlacingZerosMin zeros are not recognized, even if they are canonical.
bool IsShortCanonicalNumber(std::string_view text);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_CANONICAL_TEXT_H_
