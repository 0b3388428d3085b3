#include "daemon/json_front/content_coding.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr int kWindowBits = 15;
constexpr int kGzipFormat = 16;  // added to the window's bits
constexpr int kMemoryLevel = 8;
constexpr size_t kPieceBytes = 64 << 10;

// The weight in "gzip;q=0.5"; 1 without one, 0 if it is malformed.
double Weight(std::string_view parameters) {
  const std::string_view text = Sv(absl::StripAsciiWhitespace(Av(parameters)));
  if (text.empty()) return 1;
  double weight = 0;
  if (!absl::StartsWithIgnoreCase(Av(text), "q=") || !absl::SimpleAtod(Av(text.substr(2)), &weight)) return 0;
  return weight >= 0 && weight <= 1 ? weight : 0;
}

Bytef* Bytes(const char* text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text)); }

}  // namespace

std::string_view CodingName(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kGzip:
      return "gzip";
    case ContentCoding::kDeflate:
      return "deflate";
    case ContentCoding::kIdentity:
      return {};
  }
  return {};
}

ContentCoding ChooseCoding(std::string_view accept_encoding) {
  double gzip = -1;
  double deflate = -1;
  double others = 0;
  for (const absl::string_view member : absl::StrSplit(Av(accept_encoding), ',')) {
    const std::string_view whole = Sv(member);
    const size_t semicolon = std::min(whole.find(';'), whole.size());
    const absl::string_view name = absl::StripAsciiWhitespace(Av(whole.substr(0, semicolon)));
    const double weight = semicolon == whole.size() ? 1 : Weight(whole.substr(semicolon + 1));
    if (absl::EqualsIgnoreCase(name, "gzip")) gzip = weight;
    if (absl::EqualsIgnoreCase(name, "deflate")) deflate = weight;
    if (name == "*") others = weight;
  }
  // A coding that is not named has the weight of "*".
  if (gzip < 0) gzip = others;
  if (deflate < 0) deflate = others;
  if (gzip <= 0 && deflate <= 0) return ContentCoding::kIdentity;
  return gzip >= deflate ? ContentCoding::kGzip : ContentCoding::kDeflate;
}

std::string Compress(std::string_view text, ContentCoding coding) {
  z_stream stream = {};
  const int window = coding == ContentCoding::kGzip ? kWindowBits + kGzipFormat : kWindowBits;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string compressed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = Bytes(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = Bytes(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const bool ended = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  compressed.resize(ended ? stream.total_out : 0);
  deflateEnd(&stream);
  return compressed;
}

InflateResult InflateGzip(std::string_view gzip, size_t bytes_max, absl::FunctionRef<bool(size_t)> has_room,
                          std::string* text) {
  text->clear();
  z_stream stream = {};
  if (inflateInit2(&stream, kWindowBits + kGzipFormat) != Z_OK) return InflateResult::kTooLarge;
  stream.next_in = Bytes(gzip.data());
  stream.avail_in = static_cast<uInt>(gzip.size());
  std::array<char, kPieceBytes> piece;
  InflateResult result = InflateResult::kMalformed;
  for (;;) {
    stream.next_out = Bytes(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    const size_t got = piece.size() - stream.avail_out;
    if (text->size() + got > bytes_max) {
      result = InflateResult::kTooLarge;
      break;
    }
    text->append(piece.data(), got);
    if (!has_room(text->capacity())) {
      result = InflateResult::kNoRoom;
      break;
    }
    if (status == Z_STREAM_END && stream.avail_in == 0) {
      result = InflateResult::kOk;
      break;
    }
    if (status == Z_STREAM_END && inflateReset(&stream) == Z_OK) continue;  // another member
    if (status != Z_OK) break;                                              // includes a missing end
  }
  inflateEnd(&stream);
  return result;
}

}  // namespace armature::daemon
