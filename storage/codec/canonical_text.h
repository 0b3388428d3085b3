#ifndef ARMATURE_STORAGE_CODEC_CANONICAL_TEXT_H_
#define ARMATURE_STORAGE_CODEC_CANONICAL_TEXT_H_

// Checks of the texts in values.
//
// Thread-safety: free functions without state.

#include <string_view>

namespace armature::codec {

// True if `text` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view text);

// True only if `text` is what Number::CanonicalText returns. Does not create a number. Texts that are compact,
// longer than kNumberDigitsMax, or have a run of kPlacingZerosMin zeros are not recognized, even if they are canonical.
bool IsShortCanonicalNumber(std::string_view text);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_CANONICAL_TEXT_H_
