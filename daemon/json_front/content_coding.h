#ifndef ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_
#define ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_

// Compressed bodies.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace armature::daemon {

enum class ContentCoding : uint8_t { kIdentity, kGzip, kDeflate };

// "gzip", "deflate"; empty for kIdentity.
std::string_view CodingName(ContentCoding coding);

// The coding to answer with, of those that `accept_encoding` (the header's value, with weights) offers. Of equal ones
// gzip. Malformed members count as not offered.
ContentCoding ChooseCoding(std::string_view accept_encoding);

// `text` in `coding`, which is not kIdentity; fast rather than small. Empty if there is no memory for it.
std::string Compress(std::string_view text, ContentCoding coding);

enum class InflateResult : uint8_t { kOk, kMalformed, kTooLarge };

// What `gzip`, one or more members of that format, contains. Stops at `bytes_max`, whatever is promised.
InflateResult InflateGzip(std::string_view gzip, size_t bytes_max, std::string* text);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_CONTENT_CODING_H_
