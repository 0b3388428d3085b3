#include "daemon/message_json/base64.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace armature::daemon {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Two characters for each twelve bits: half as many look-ups as with one for six.
constexpr std::array<std::array<char, 2>, 4096> kPairs = [] {
  std::array<std::array<char, 2>, 4096> pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return pairs;
}();

// The six bits of each character, or kNone.
constexpr uint8_t kNone = 0xFF;
constexpr std::array<uint8_t, 256> kSextets = [] {
  std::array<uint8_t, 256> sextets{};
  sextets.fill(kNone);
  for (uint8_t i = 0; i < 64; ++i) sextets[static_cast<uint8_t>(kAlphabet[i])] = i;
  return sextets;
}();

uint32_t Byte(char c) { return static_cast<uint8_t>(c); }

size_t PaddingOf(std::string_view text) {
  if (!text.ends_with('=')) return 0;
  return text.ends_with("==") ? 2 : 1;
}

}  // namespace

char* EncodeBase64(std::string_view bytes, char* out) {
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t bits = Byte(bytes[i]) << 16 | Byte(bytes[i + 1]) << 8 | Byte(bytes[i + 2]);
    std::memcpy(out, kPairs[bits >> 12].data(), 2);
    std::memcpy(out + 2, kPairs[bits & 4095].data(), 2);
    out += 4;
  }
  const size_t rest = bytes.size() - i;
  if (rest == 0) return out;
  const uint32_t bits = Byte(bytes[i]) << 16 | (rest == 2 ? Byte(bytes[i + 1]) << 8 : 0);
  *out++ = kAlphabet[bits >> 18];
  *out++ = kAlphabet[bits >> 12 & 63];
  *out++ = rest == 2 ? kAlphabet[bits >> 6 & 63] : '=';
  *out++ = '=';
  return out;
}

size_t DecodedSize(std::string_view text) { return text.size() / 4 * 3 - PaddingOf(text); }

bool DecodeBase64(std::string_view text, char* out) {
  const size_t padding = PaddingOf(text);
  std::string_view whole = text.substr(0, text.size() - (padding > 0 ? 4 : 0));
  // Validity is checked once at the end: a valid sextet never has the two highest bits.
  uint32_t seen = 0;
  for (; !whole.empty(); whole.remove_prefix(4)) {
    const uint32_t a = kSextets[Byte(whole[0])];
    const uint32_t b = kSextets[Byte(whole[1])];
    const uint32_t c = kSextets[Byte(whole[2])];
    const uint32_t d = kSextets[Byte(whole[3])];
    seen |= a | b | c | d;
    *out++ = static_cast<char>(a << 2 | b >> 4);
    *out++ = static_cast<char>(b << 4 | c >> 2);
    *out++ = static_cast<char>(c << 6 | d);
  }
  if (padding > 0) {
    const std::string_view last = text.substr(text.size() - 4);
    const uint32_t a = kSextets[Byte(last[0])];
    const uint32_t b = kSextets[Byte(last[1])];
    const uint32_t c = padding == 1 ? kSextets[Byte(last[2])] : 0;
    seen |= a | b | c;
    const uint32_t left_over = padding == 1 ? c & 3 : b & 15;
    if (left_over != 0) return false;
    *out++ = static_cast<char>(a << 2 | b >> 4);
    if (padding == 1) *out = static_cast<char>(b << 4 | c >> 2);
  }
  return seen < 64;
}

}  // namespace armature::daemon
