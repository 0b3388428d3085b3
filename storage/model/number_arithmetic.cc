#include "storage/model/number_arithmetic.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "storage/base/api_error.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

// Maximum span of decimal places of two operands. With one place more than a Number has digits, the leading place may
// still cancel out; with two more the result never fits. One further place is for the carry.
constexpr int kSpreadMax = kNumberDigitsMax + 1;
constexpr size_t kPlaces = kSpreadMax + 1;

// One digit per decimal place, the highest place first.
using Places = std::array<uint8_t, kPlaces>;

// The service has one error text for all unrepresentable results.
absl::Status NotRepresentableError() {
  return ValidationError("Number overflow. Attempting to store a number with magnitude larger than supported range");
}

// Decimal exponent of the last digit.
int LowestPlace(const Number& number) { return number.exponent() - static_cast<int>(number.digit_count()) + 1; }

Number WithSign(const Number& number, bool negative) {
  std::array<uint8_t, kNumberDigitsMax> digits{};
  for (size_t i = 0; i < number.digit_count(); ++i) digits[i] = number.digit(i);
  return Number::FromDigits(negative, number.exponent(), digits.data(), number.digit_count());
}

// Places the digits of `number`; the first place stands for 10^first.
Places Align(const Number& number, int first) {
  Places places{};
  const auto offset = static_cast<size_t>(first - number.exponent());
  for (size_t i = 0; i < number.digit_count(); ++i) places[offset + i] = number.digit(i);
  return places;
}

Places AddPlaces(const Places& a, const Places& b) {
  Places sum{};
  int carry = 0;
  for (size_t i = kPlaces; i-- > 0;) {
    const int digit = a[i] + b[i] + carry;
    carry = digit >= 10 ? 1 : 0;
    sum[i] = static_cast<uint8_t>(digit - 10 * carry);
  }
  return sum;
}

// Requires a >= b.
Places SubtractPlaces(const Places& a, const Places& b) {
  Places difference{};
  int borrow = 0;
  for (size_t i = kPlaces; i-- > 0;) {
    const int digit = a[i] - b[i] - borrow;
    borrow = digit < 0 ? 1 : 0;
    difference[i] = static_cast<uint8_t>(digit + 10 * borrow);
  }
  return difference;
}

// The number with these digits; the first place stands for 10^first.
absl::StatusOr<Number> Normalize(bool negative, int first, const Places& places) {
  const auto is_digit = [](uint8_t digit) { return digit != 0; };
  const auto begin = std::find_if(places.begin(), places.end(), is_digit);
  if (begin == places.end()) return Number();
  const auto end = std::find_if(places.rbegin(), places.rend(), is_digit).base();
  const int exponent = first - static_cast<int>(begin - places.begin());
  if (end - begin > kNumberDigitsMax || exponent > kNumberExponentMax || exponent < kNumberExponentMin) {
    return NotRepresentableError();
  }
  return Number::FromDigits(negative, exponent, &*begin, static_cast<size_t>(end - begin));
}

}  // namespace

absl::StatusOr<Number> Add(const Number& a, const Number& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const int highest = std::max(a.exponent(), b.exponent());
  const int lowest = std::min(LowestPlace(a), LowestPlace(b));
  if (highest - lowest + 1 > kSpreadMax) return NotRepresentableError();
  const int first = highest + 1;  // the carry's place
  const Places a_places = Align(a, first);
  const Places b_places = Align(b, first);
  if (a.is_negative() == b.is_negative()) return Normalize(a.is_negative(), first, AddPlaces(a_places, b_places));
  // The operand of greater magnitude determines the sign.
  if (std::is_gteq(a_places <=> b_places)) {
    return Normalize(a.is_negative(), first, SubtractPlaces(a_places, b_places));
  }
  return Normalize(b.is_negative(), first, SubtractPlaces(b_places, a_places));
}

absl::StatusOr<Number> Subtract(const Number& a, const Number& b) { return Add(a, WithSign(b, !b.is_negative())); }

}  // namespace armature::model
