#ifndef ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_
#define ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_

// Compression of bodies.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace armature::daemon {

enum class ContentCoding : uint8_t { kIdentity, kGzip, kDeflate };

// "gzip", "deflate"; empty for kIdentity.
std::string_view CodingName(ContentCoding coding);

// The coding of the answer among those offered by `accept_encoding` (the value of the first such header, with weights).
// Follows the service, as captured in August 2026, where it differs from the standard: the first coding listed wins a
// tie, the best of repeated names counts, "*" comes after the codings that are named, and a weight that is no number
// is 1.
ContentCoding ChooseCoding(std::string_view accept_encoding);

// The coding that a request's header Content-Encoding names; nullopt for one that is not served.
std::optional<ContentCoding> CodingNamed(std::string_view name);

// Writes `text` in `coding`, which must not be kIdentity; fast rather than small. False if there is no memory for it,
// before the result would take memory for which `has_room` is false.
bool Compress(std::string_view text, ContentCoding coding, absl::FunctionRef<bool(size_t)> has_room,
              std::string* compressed);

enum class InflateResult : uint8_t { kOk, kMalformed, kTooLarge, kNoRoom };

// Decompresses `compressed`, which has `coding`: one or more gzip members, or one zlib stream; never kIdentity. Stops
// at `bytes_max`, whatever size is claimed, and before the text would take memory for which `has_room` is false. As in
// the service, bytes behind a gzip member that do not begin another one are ignored, and bytes behind a zlib stream are
// malformed.
InflateResult Inflate(std::string_view compressed, ContentCoding coding, size_t bytes_max,
                      absl::FunctionRef<bool(size_t)> has_room, std::string* text);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_
