#include "storage/codec/canonical_text.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "storage/model/limits.h"
#include "storage/model/number.h"

namespace armature::codec {
namespace {

uint32_t LoadFour(const uint8_t* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// True if the `size` bytes, less than eight, are ASCII.
bool AreFewAscii(const uint8_t* bytes, size_t size) {
  // The two words overlap.
  if (size >= 4) return ((LoadFour(bytes) | LoadFour(bytes + size - 4)) & 0x80808080U) == 0;
  uint8_t all = 0;
  for (size_t i = 0; i < size; ++i) all |= bytes[i];
  return all < 0x80;
}

}  // namespace

bool IsShortCanonicalNumber(std::string_view text) {
  if (text.empty() || text.size() > model::kNumberDigitsMax || model::HasRunOfZeros(text)) return false;
  const bool negative = text.front() == '-';
  size_t i = negative ? 1 : 0;
  const size_t begin = i;
  const auto skip_digits = [&] {
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  };
  skip_digits();
  if (i == begin || (text[begin] == '0' && i - begin > 1)) return false;
  if (i == text.size()) return !(negative && text[begin] == '0');
  if (text[i] != '.') return false;
  ++i;
  const size_t fraction = i;
  skip_digits();
  return i == text.size() && i > fraction && text.back() != '0';
}

bool IsValidLongUtf8(std::string_view text) {
  const auto* next = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = next + text.size();
  const auto continues = [](uint8_t byte) { return (byte & 0xC0) == 0x80; };
  while (next != end) {
    if (end - next >= 8) {
      uint64_t eight = 0;
      std::memcpy(&eight, next, sizeof(eight));
      if ((eight & 0x8080808080808080) == 0) {
        next += 8;
        continue;
      }
    } else if (AreFewAscii(next, static_cast<size_t>(end - next))) {
      return true;
    }
    const uint8_t lead = *next++;
    if (lead < 0x80) continue;
    // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
    uint8_t low = 0x80;
    uint8_t high = 0xBF;
    int trailing = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
      trailing = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      trailing = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      trailing = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (end - next < trailing || *next < low || *next > high) return false;
    for (int i = 1; i < trailing; ++i) {
      if (!continues(next[i])) return false;
    }
    next += trailing;
  }
  return true;
}

}  // namespace armature::codec
