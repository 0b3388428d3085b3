#ifndef ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_
#define ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_

// Compression of bodies.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace armature::daemon {

enum class ContentCoding : uint8_t { kIdentity, kGzip, kDeflate };

// "gzip", "deflate"; empty for kIdentity.
std::string_view CodingName(ContentCoding coding);

// The coding of the answer among those offered by `accept_encoding` (the header's value, with weights). Gzip wins a
// tie. Malformed elements are not counted as offers.
ContentCoding ChooseCoding(std::string_view accept_encoding);

// `text` in `coding`, which must not be kIdentity; fast rather than small. Empty if memory is short.
std::string Compress(std::string_view text, ContentCoding coding);

enum class InflateResult : uint8_t { kOk, kMalformed, kTooLarge, kNoRoom };

// Decompresses `gzip`, one or more gzip members. Stops at `bytes_max`, whatever size is claimed, and as soon as
// `has_room(size of the text so far)` is false.
InflateResult InflateGzip(std::string_view gzip, size_t bytes_max, absl::FunctionRef<bool(size_t)> has_room,
                          std::string* text);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_
