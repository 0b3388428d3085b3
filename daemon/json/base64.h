#ifndef ARMATURE_DAEMON_JSON_BASE64_H_
#define ARMATURE_DAEMON_JSON_BASE64_H_

// Standard base64 with padding, from and to memory of the caller.
//
// Thread-safety: free functions without state.

#include <cstddef>
#include <string_view>

namespace armature::daemon {

// The length of the text of so many bytes.
constexpr size_t Base64Size(size_t bytes) { return (bytes + 2) / 3 * 4; }

// Writes Base64Size(bytes.size()) characters to `out` and returns their end.
char* EncodeBase64(std::string_view bytes, char* out);

// How many bytes `text` stands for, if it is base64 at all. Its length is a multiple of four.
size_t DecodedSize(std::string_view text);

// Writes DecodedSize(text) bytes to `out`. False, with `out` unspecified, if `text` is not the one form that base64 has
// for its bytes: other characters, padding elsewhere, or bits that are left over and not zero.
[[nodiscard]] bool DecodeBase64(std::string_view text, char* out);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_BASE64_H_
