#ifndef ARMATURE_DAEMON_JSON_BASE64_H_
#define ARMATURE_DAEMON_JSON_BASE64_H_

// Standard base64 with padding, to and from the caller's memory.
//
// Thread-safety: free functions without state.

#include <cstddef>
#include <string_view>

namespace armature::daemon {

// Length of the base64 text of `bytes` bytes.
constexpr size_t Base64Size(size_t bytes) { return (bytes + 2) / 3 * 4; }

// Writes Base64Size(bytes.size()) characters to `out` and returns their end.
char* EncodeBase64(std::string_view bytes, char* out);

// Number of bytes that `text` encodes, if it is base64. Its length must be a multiple of four.
size_t DecodedSize(std::string_view text);

// Writes DecodedSize(text) bytes to `out`. False, with `out` unspecified, if `text` is not canonical base64: other
// characters, misplaced padding, or unused bits that are not zero.
[[nodiscard]] bool DecodeBase64(std::string_view text, char* out);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_BASE64_H_
