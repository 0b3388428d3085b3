#ifndef ARMATURE_STORAGE_MODEL_NUMBER_H_
#define ARMATURE_STORAGE_MODEL_NUMBER_H_

// Decimal numbers with 38 significant digits, exact as in the API.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/model/limits.h"

namespace armature::model {

// A number in canonical form: sign, decimal exponent of the leading digit, up to 38 digits without leading
// or trailing zeros. Zero has no digits, no sign and exponent 0. Equal values have equal representations.
//
// Range: zero, or a magnitude from 1E-130 to 9.99...E+125 (38 digits).
// Thread-safety: thread-compatible value.
class Number {
 public:
  Number() = default;

  // Parses `[+-]? ( digits [ "." digits* ] | "." digits ) ( [eE] [+-]? digits )?`; no blanks, no hex.
  //
  // Errors: ValidationException with the documented texts. Overflow and underflow are checked before the number of
  // digits. Zero must not be written with a last digit outside the range: 0e125 and 0.0e126 are valid, 0e126 is not.
  // Exponents have up to 64 bits.
  static absl::StatusOr<Number> Parse(std::string_view text);

  // Parses as a reader does whose decimals have a scale of 32 bits. It differs from Parse in this: a text whose
  // exponent, or place of the last digit, is beyond 32 bits is not a number, and a leading digit above the place of
  // 2^31 counts as an underflow.
  static absl::StatusOr<Number> ParseScaled(std::string_view text);

  // For decoders. Digits have values 0..9, the first and the last are not 0, at most 38. `count` 0 makes zero. The
  // caller has checked the ranges.
  static Number FromDigits(bool negative, int exponent, const uint8_t* digits, size_t count);

  bool is_zero() const { return count_ == 0; }
  bool is_negative() const { return negative_; }
  // Decimal exponent of the leading digit: 0 for 7, 2 for 123, -1 for 0.5.
  int exponent() const { return exponent_; }
  size_t digit_count() const { return count_; }
  // Value 0..9 of digit i, counted from the leading digit.
  uint8_t digit(size_t i) const { return digits_[i]; }

  // Plain text: decimal, as the API returns it: no exponent, no superfluous zeros. At most 170 bytes.
  std::string ToString() const;
  void AppendTo(std::string* out) const;
  // Canonical text; see below. At most 60 bytes.
  std::string CanonicalText() const;

  // Numeric order.
  friend std::strong_ordering operator<=>(const Number& a, const Number& b);
  friend bool operator==(const Number& a, const Number& b) = default;

 private:
  bool negative_ = false;
  uint8_t count_ = 0;
  int16_t exponent_ = 0;
  std::array<uint8_t, kNumberDigitsMax> digits_{};
};

// Canonical texts are how numbers are held and stored: equal numbers have equal texts, and a text is at most
// 12 times as long as the number's API size. A canonical text is the plain text, unless kPlacingZerosMin or more zeros
// in that only place the decimal point. Then it is compact: the digits as an integer, `e`, and the exponent of the last
// digit: 1e125, -25e-30.

// True if the canonical text is compact.
bool IsCompactNumber(std::string_view canonical_text);

// The plain text of the number with this canonical text, and its size. Texts that are not compact are unchanged.
size_t PlainNumberSize(std::string_view canonical_text);
void AppendPlainNumber(std::string_view canonical_text, std::string* out);

// True if `bytes` has a run of kPlacingZerosMin characters '0'. Every plain text that is not canonical has one. Cost:
// looks at every twentieth byte.
bool HasRunOfZeros(std::string_view bytes);

// Compares two numbers by their canonical texts. Other texts have an unspecified order. Creates numbers only for
// compact texts.
std::strong_ordering CompareCanonicalNumbers(std::string_view a, std::string_view b);

// API size of a number, from its canonical text: one byte, plus one per two significant digits on each side of the
// decimal point, plus one if negative.
size_t NumberApiSize(std::string_view canonical_text);

// a + b and a - b, as updates compute them. Results are never rounded.
//
// Errors: ValidationException, with the documented overflow text, for a result with more than kNumberDigitsMax digits
// or a magnitude above or below the range of Number.
// Thread-safety: pure functions. Cost: about forty steps at most, whatever the exponents; allocates only for errors.
absl::StatusOr<Number> Add(const Number& a, const Number& b);
absl::StatusOr<Number> Subtract(const Number& a, const Number& b);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_NUMBER_H_
