#include "storage/codec/number_codec.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "storage/codec/type_codes.h"
#include "storage/model/limits.h"

namespace armature::codec {
namespace {

constexpr int kExponentBias = 130;
constexpr uint8_t kPairMax = 99;

static_assert(model::kNumberExponentMin + kExponentBias == 0);
static_assert(model::kNumberExponentMax + kExponentBias == 0xFF);

}  // namespace

void AppendNumber(const model::Number& number, std::string* out) {
  if (number.is_zero()) {
    out->push_back(static_cast<char>(kTypeZero));
    return;
  }
  // The negative number of greater magnitude sorts first, so all bytes of negative numbers are inverted.
  const uint8_t flip = number.is_negative() ? 0xFF : 0x00;
  const auto push = [out, flip](int byte) { out->push_back(static_cast<char>(static_cast<uint8_t>(byte) ^ flip)); };
  out->push_back(static_cast<char>(number.is_negative() ? kTypeNegativeNumber : kTypePositiveNumber));
  push(number.exponent() + kExponentBias);
  const size_t count = number.digit_count();
  for (size_t i = 0; i < count; i += 2) {
    const int low = i + 1 < count ? number.digit(i + 1) : 0;
    const int pair = number.digit(i) * 10 + low;
    const int more = i + 2 < count ? 1 : 0;
    push(2 * pair + more);
  }
}

bool TakeNumber(std::string_view* in, model::Number* number) {
  const auto take = [in](uint8_t* byte) {
    if (in->empty()) return false;
    *byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    return true;
  };
  uint8_t code = 0;
  if (!take(&code)) return false;
  if (code == kTypeZero) {
    *number = model::Number();
    return true;
  }
  if (code != kTypeNegativeNumber && code != kTypePositiveNumber) return false;
  const bool negative = code == kTypeNegativeNumber;
  const uint8_t flip = negative ? 0xFF : 0x00;

  uint8_t byte = 0;
  if (!take(&byte)) return false;
  const int exponent = (byte ^ flip) - kExponentBias;

  std::array<uint8_t, model::kNumberDigitsMax> digits{};
  size_t count = 0;
  bool more = true;
  while (more) {
    if (count == digits.size() || !take(&byte)) return false;
    byte ^= flip;
    more = (byte & 1) != 0;
    const auto pair = static_cast<uint8_t>(byte >> 1);
    if (pair > kPairMax) return false;
    digits[count++] = static_cast<uint8_t>(pair / 10);
    digits[count++] = static_cast<uint8_t>(pair % 10);
  }
  // A canonical number has no leading zero, and in its last pair only the padding may be zero.
  if (digits[0] == 0) return false;
  if (digits[count - 1] == 0) --count;
  if (digits[count - 1] == 0) return false;
  *number = model::Number::FromDigits(negative, exponent, digits.data(), count);
  return true;
}

}  // namespace armature::codec
