#ifndef ARMATURE_TESTS_UNIT_STORAGE_MODEL_NAIVE_DECIMAL_H_
#define ARMATURE_TESTS_UNIT_STORAGE_MODEL_NAIVE_DECIMAL_H_

// Decimal numbers in a simple form, as the expected results for model::Number and its encodings.
//
// A number is a sign and a row of digits of fixed width, with the decimal point at a fixed place. Numbers therefore
// compare as texts, and the plain form is the row without its outer zeros.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace armature::model {

struct NaiveDecimal {
  static constexpr size_t kIntegerWidth = 140;
  static constexpr size_t kFractionWidth = 220;

  bool negative = false;
  std::string row = std::string(kIntegerWidth + kFractionWidth, '0');

  // `digits`, with the decimal point after the first one, times 10^exponent.
  static NaiveDecimal Make(bool negative, std::string_view digits, int exponent) {
    NaiveDecimal decimal;
    for (size_t i = 0; i < digits.size(); ++i) {
      const auto place = static_cast<size_t>(static_cast<int>(kIntegerWidth) - 1 - exponent) + i;
      decimal.row[place] = digits[i];
    }
    decimal.negative = negative && decimal.row.find_first_not_of('0') != std::string::npos;
    return decimal;
  }

  // The inverse of Plain().
  static NaiveDecimal OfPlain(std::string_view plain) {
    const bool negative = plain.starts_with('-');
    if (negative) plain.remove_prefix(1);
    const size_t point = std::min(plain.find('.'), plain.size());
    std::string digits(plain);
    if (point < digits.size()) digits.erase(point, 1);
    return Make(negative, digits, static_cast<int>(point) - 1);
  }

  // Negative, 0 or positive.
  static int Compare(const NaiveDecimal& a, const NaiveDecimal& b) {
    if (a.negative != b.negative) return a.negative ? -1 : 1;
    const int magnitudes = a.row.compare(b.row);
    return a.negative ? -magnitudes : magnitudes;
  }

  std::string Plain() const {
    std::string integer = row.substr(0, kIntegerWidth);
    std::string fraction = row.substr(kIntegerWidth);
    integer.erase(0, std::min(integer.find_first_not_of('0'), kIntegerWidth - 1));
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return (negative ? "-" : "") + integer + (fraction.empty() ? "" : "." + fraction);
  }
};

// A random number and one of its many texts.
struct RandomNumber {
  NaiveDecimal value;
  std::string text;
};

template <class Rng>
RandomNumber MakeRandomNumber(Rng& rng) {
  const auto below = [&rng](int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng); };
  // Often few digits and small exponents, so that equal and nearly equal numbers are frequent.
  const bool wide = below(2) == 0;
  const int count = 1 + below(wide ? 38 : 3);
  const int exponent = wide ? below(256) - 130 : below(5) - 2;
  const bool negative = below(2) == 0;
  std::string digits;
  for (int i = 0; i < count; ++i) {
    digits.push_back(static_cast<char>('0' + (below(3) == 0 ? 0 : below(10))));
  }
  if (digits[0] == '0' && below(20) != 0) digits[0] = '1';
  if (digits[0] == '0') digits = "0";  // zero, or the exponent would be wrong
  const bool zero = digits == "0";

  RandomNumber number;
  number.value = NaiveDecimal::Make(negative, digits, exponent);
  if (negative) number.text = "-";
  if (!negative && below(4) == 0) number.text = "+";
  // Leading zeros, the decimal point at any place, trailing zeros, and the exponent that compensates.
  const size_t point = zero ? 1 : static_cast<size_t>(below(count + 1));
  number.text += std::string(static_cast<size_t>(below(3)), '0') + digits.substr(0, point);
  if (point < digits.size()) {
    number.text += "." + digits.substr(point);
    if (below(3) == 0) number.text += std::string(static_cast<size_t>(below(4)), '0');
  }
  const int written = exponent - static_cast<int>(point) + 1;
  if (written != 0 || below(4) == 0) {
    number.text += below(2) == 0 ? "e" : "E";
    if (written > 0 && below(2) == 0) number.text += "+";
    number.text += std::to_string(written);
  }
  return number;
}

}  // namespace armature::model

#endif  // ARMATURE_TESTS_UNIT_STORAGE_MODEL_NAIVE_DECIMAL_H_
