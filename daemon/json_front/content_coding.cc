#include "daemon/json_front/content_coding.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>

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

constexpr std::string_view kGzipMagic = "\x1f\x8b";

// The weight of an entry such as "gzip;q=0.5", which the text behind its first "q=" states. 1 without one, or if it is
// no number; 0 or less: not acceptable.
double Weight(std::string_view entry) {
  const size_t found = entry.find("q=");
  if (found == std::string_view::npos) return 1;
  const std::string_view rest = entry.substr(found + 2);
  double weight = 0;
  if (!absl::SimpleAtod(Av(rest.substr(0, rest.find(';'))), &weight) || std::isnan(weight)) return 1;
  return std::min(weight, 1.0);
}

Bytef* Bytes(const char* text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text)); }

// Appends to `text`. False, with nothing appended, if there is no room for the memory that it takes then.
bool Extend(const char* bytes, size_t count, absl::FunctionRef<bool(size_t)> has_room, std::string* text) {
  const size_t size = text->size() + count;
  if (size > text->capacity()) {
    const size_t wanted = std::max(size, 2 * text->capacity());
    if (!has_room(wanted)) return false;
    text->reserve(wanted);
  }
  text->append(bytes, count);
  return true;
}

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
  struct Offer {
    ContentCoding coding;
    bool named = false;
    double weight = 0;
    size_t place = 0;  // of the entry with this weight
  };
  std::array<Offer, 2> offers = {Offer{ContentCoding::kGzip}, Offer{ContentCoding::kDeflate}};
  double others = 0;
  size_t place = 0;
  for (const absl::string_view member : absl::StrSplit(Av(accept_encoding), ',')) {
    ++place;
    const std::string_view entry = Sv(member);
    const absl::string_view name = absl::StripAsciiWhitespace(Av(entry.substr(0, entry.find(';'))));
    if (name == "*") others = std::max(others, Weight(entry));
    for (Offer& offer : offers) {
      if (!absl::EqualsIgnoreCase(name, Av(CodingName(offer.coding)))) continue;
      offer.named = true;
      const double weight = Weight(entry);
      if (weight <= offer.weight) continue;
      offer.weight = weight;
      offer.place = place;
    }
  }
  ++place;
  for (Offer& offer : offers) {
    if (offer.named) continue;
    offer.weight = others;
    offer.place = place;
  }
  const auto& [gzip, deflate] = offers;
  if (gzip.weight <= 0 && deflate.weight <= 0) return ContentCoding::kIdentity;
  if (gzip.weight != deflate.weight) return gzip.weight > deflate.weight ? gzip.coding : deflate.coding;
  return gzip.place <= deflate.place ? gzip.coding : deflate.coding;
}

std::optional<ContentCoding> CodingNamed(std::string_view name) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(Av(name));
  if (trimmed.empty() || absl::EqualsIgnoreCase(trimmed, "identity")) return ContentCoding::kIdentity;
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    if (absl::EqualsIgnoreCase(trimmed, Av(CodingName(coding)))) return coding;
  }
  return std::nullopt;
}

bool Compress(std::string_view text, ContentCoding coding, absl::FunctionRef<bool(size_t)> has_room,
              std::string* compressed) {
  compressed->clear();
  z_stream stream = {};
  const int window = coding == ContentCoding::kGzip ? kWindowBits + kGzipFormat : kWindowBits;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  stream.next_in = Bytes(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  // In pieces: the result is usually small, and its bound is larger than the text.
  std::array<char, kPieceBytes> piece;
  int status = Z_OK;
  bool fits = true;
  while (status == Z_OK && fits) {
    stream.next_out = Bytes(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, Z_FINISH);
    const size_t got = piece.size() - stream.avail_out;
    fits = Extend(piece.data(), got, has_room, compressed);
  }
  deflateEnd(&stream);
  return fits && status == Z_STREAM_END;
}

InflateResult Inflate(std::string_view compressed, ContentCoding coding, size_t bytes_max,
                      absl::FunctionRef<bool(size_t)> has_room, std::string* text) {
  text->clear();
  z_stream stream = {};
  const bool is_gzip = coding == ContentCoding::kGzip;
  if (inflateInit2(&stream, is_gzip ? kWindowBits + kGzipFormat : kWindowBits) != Z_OK) return InflateResult::kNoRoom;
  stream.next_in = Bytes(compressed.data());
  stream.avail_in = static_cast<uInt>(compressed.size());
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
    if (!Extend(piece.data(), got, has_room, text)) {
      result = InflateResult::kNoRoom;
      break;
    }
    if (status == Z_STREAM_END) {
      const std::string_view rest = compressed.substr(compressed.size() - stream.avail_in);
      if (is_gzip && rest.starts_with(kGzipMagic) && inflateReset(&stream) == Z_OK) continue;  // another member
      if (rest.empty() || is_gzip) result = InflateResult::kOk;
      break;
    }
    if (status != Z_OK) break;  // includes a missing end
  }
  inflateEnd(&stream);
  return result;
}

}  // namespace armature::daemon
