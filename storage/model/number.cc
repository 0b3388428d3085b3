#include "storage/model/number.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

// Sums have this text also if they are too small or have too many digits, as in the service.
constexpr std::string_view kOverflowText =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr std::string_view kUnderflowText =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
constexpr std::string_view kTooManyDigitsText = "Attempting to store more than 38 significant digits in a Number";

// Length of an invalid text shown in the error.
constexpr size_t kEchoMaxBytes = 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::Status NotANumber(std::string_view text) {
  constexpr std::string_view kText = "The parameter cannot be converted to a numeric value";
  if (text.empty()) return ValidationError(kText);
  return ValidationError(Cat(kText, ": ", Shown(text, kEchoMaxBytes)));
}

// The parts of a number text by the grammar, with unchecked ranges.
struct Literal {
  bool negative = false;
  std::string_view integer;
  std::string_view fraction;
  int64_t exponent = 0;
};

std::string_view TakeDigits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) ++count;
  const std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

// Takes the sign, if there is one. Returns true for '-'.
bool TakeSign(std::string_view* text) {
  if (text->empty() || (text->front() != '-' && text->front() != '+')) return false;
  const bool negative = text->front() == '-';
  text->remove_prefix(1);
  return negative;
}

// Takes the exponent behind the 'e'. Nullopt if it is missing or exceeds 64 bits.
std::optional<int64_t> TakeExponent(std::string_view* text) {
  const bool negative = TakeSign(text);
  const std::string_view digits = TakeDigits(text);
  if (digits.empty()) return std::nullopt;
  // Accumulated as a negative number, which has the wider range.
  int64_t value = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value) || __builtin_sub_overflow(value, int64_t{c - '0'}, &value)) {
      return std::nullopt;
    }
  }
  if (negative) return value;
  if (value == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return -value;
}

std::optional<Literal> CutLiteral(std::string_view text) {
  Literal literal;
  literal.negative = TakeSign(&text);
  literal.integer = TakeDigits(&text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    literal.fraction = TakeDigits(&text);
  }
  if (literal.integer.empty() && literal.fraction.empty()) return std::nullopt;
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    const std::optional<int64_t> exponent = TakeExponent(&text);
    if (!exponent.has_value()) return std::nullopt;
    literal.exponent = *exponent;
  }
  if (!text.empty()) return std::nullopt;
  return literal;
}

// The sum, clamped to 64 bits: values beyond are out of every valid range anyway.
int64_t AddClamped(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

absl::Status CheckExponent(int64_t exponent) {
  if (exponent > kNumberExponentMax) return ValidationError(kOverflowText);
  if (exponent < kNumberExponentMin) return ValidationError(kUnderflowText);
  return absl::OkStatus();
}

// The parts of a compact text. The value is `digits` * 10^`exponent`.
struct Compact {
  std::string_view sign;  // "-" or empty
  std::string_view digits;
  int exponent = 0;
};

// Length of the longest exponent of a compact text with its 'e': e-167.
constexpr size_t kExponentTextMax = 5;
// A number of 38 digits and the lowest exponent ends this many places behind the point.
constexpr int kPlacesMax = kNumberDigitsMax - 1 - kNumberExponentMin;

// Nullopt if `text` is not compact. Bounds the exponent, because the text may come from damaged bytes.
std::optional<Compact> CutCompact(std::string_view text) {
  if (!IsCompactNumber(text)) return std::nullopt;
  Compact compact;
  compact.sign = text.substr(0, text.starts_with('-') ? 1 : 0);
  text.remove_prefix(compact.sign.size());
  compact.digits = TakeDigits(&text);
  if (compact.digits.empty() || !text.starts_with('e')) return std::nullopt;
  text.remove_prefix(1);
  const std::optional<int64_t> exponent = TakeExponent(&text);
  if (!exponent.has_value() || !text.empty() || *exponent > kNumberExponentMax || *exponent < -kPlacesMax) {
    return std::nullopt;
  }
  compact.exponent = static_cast<int>(*exponent);
  if (compact.exponent < 0 && compact.digits.size() > static_cast<size_t>(-compact.exponent)) return std::nullopt;
  return compact;
}

// Maximum span of decimal places of two operands. With one place more than a Number has digits, the leading place may
// still cancel out; with two more the result never fits. One further place is for the carry.
constexpr int kSpreadMax = kNumberDigitsMax + 1;
constexpr size_t kPlaces = kSpreadMax + 1;

// One digit per decimal place, the highest place first.
using Places = std::array<uint8_t, kPlaces>;

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
    return ValidationError(kOverflowText);
  }
  return Number::FromDigits(negative, exponent, &*begin, static_cast<size_t>(end - begin));
}

// Number of digits behind the point, less the exponent, which has 32 bits.
int64_t ScaleOf(const Literal& literal) { return static_cast<int64_t>(literal.fraction.size()) - literal.exponent; }

bool HasScaleOf32Bits(const Literal& literal) {
  const auto is_int32 = [](int64_t value) { return value == static_cast<int32_t>(value); };
  return is_int32(literal.exponent) && is_int32(ScaleOf(literal));
}

// True if the place of the leading digit, counted from 1 before the point, does not fit into 32 bits. For zero it is
// that of the last digit. Requires a scale of 32 bits.
bool LeadsBeyond32Bits(const Literal& literal) {
  constexpr int64_t kPlaceMax = std::numeric_limits<int32_t>::max();
  const auto written = static_cast<int64_t>(literal.integer.size() + literal.fraction.size());
  if (written - ScaleOf(literal) <= kPlaceMax) return false;
  const std::string digits = Cat(literal.integer, literal.fraction);
  const auto zeros = static_cast<int64_t>(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return written - zeros - ScaleOf(literal) > kPlaceMax;
}

absl::StatusOr<Number> ToNumber(const Literal& literal) {
  // Digits have positions 0 .. total-1 from the left, across the decimal point.
  const size_t integer_size = literal.integer.size();
  const size_t total = integer_size + literal.fraction.size();
  const auto digit_at = [&](size_t i) {
    return i < integer_size ? literal.integer[i] : literal.fraction[i - integer_size];
  };
  size_t first = 0;
  while (first < total && digit_at(first) == '0') ++first;
  if (first == total) {
    // Zero has the range of the number 1 in the place of its last digit.
    ARM_RETURN_IF_ERROR(CheckExponent(AddClamped(literal.exponent, -static_cast<int64_t>(literal.fraction.size()))));
    return Number();
  }
  size_t last = total - 1;
  while (digit_at(last) == '0') --last;

  const int64_t exponent =
      AddClamped(literal.exponent, static_cast<int64_t>(integer_size) - 1 - static_cast<int64_t>(first));
  ARM_RETURN_IF_ERROR(CheckExponent(exponent));
  const size_t count = last - first + 1;
  if (count > kNumberDigitsMax) return ValidationError(kTooManyDigitsText);

  std::array<uint8_t, kNumberDigitsMax> digits{};
  for (size_t i = 0; i < count; ++i) digits[i] = static_cast<uint8_t>(digit_at(first + i) - '0');
  return Number::FromDigits(literal.negative, static_cast<int>(exponent), digits.data(), count);
}

}  // namespace

absl::StatusOr<Number> Number::Parse(std::string_view text) {
  const std::optional<Literal> literal = CutLiteral(text);
  return literal.has_value() ? ToNumber(*literal) : NotANumber(text);
}

absl::StatusOr<Number> Number::ParseScaled(std::string_view text) {
  const std::optional<Literal> literal = CutLiteral(text);
  if (!literal.has_value() || !HasScaleOf32Bits(*literal)) return NotANumber(text);
  if (LeadsBeyond32Bits(*literal)) return ValidationError(kUnderflowText);
  return ToNumber(*literal);
}

Number Number::FromDigits(bool negative, int exponent, const uint8_t* digits, size_t count) {
  Number number;
  if (count == 0) return number;
  number.negative_ = negative;
  number.exponent_ = static_cast<int16_t>(exponent);
  number.count_ = static_cast<uint8_t>(count);
  std::copy_n(digits, count, number.digits_.begin());
  return number;
}

std::string Number::ToString() const {
  std::string text;
  AppendTo(&text);
  return text;
}

void Number::AppendTo(std::string* out) const {
  if (count_ == 0) {
    out->push_back('0');
    return;
  }
  if (negative_) out->push_back('-');
  if (exponent_ < 0) {
    out->append("0.");
    out->append(static_cast<size_t>(-exponent_ - 1), '0');
  }
  // Number of digits before the decimal point; 0 if the number is below one.
  const size_t integer_digits = exponent_ < 0 ? 0 : static_cast<size_t>(exponent_) + 1;
  for (size_t i = 0; i < count_; ++i) {
    if (i == integer_digits && i > 0) out->push_back('.');
    out->push_back(static_cast<char>('0' + digits_[i]));
  }
  if (integer_digits > count_) out->append(integer_digits - count_, '0');
}

std::string Number::CanonicalText() const {
  const int last = LowestPlace(*this);  // exponent of the last digit
  const int zeros = exponent_ < 0 ? -exponent_ - 1 : last;
  if (count_ == 0 || zeros < static_cast<int>(kPlacingZerosMin)) return ToString();
  std::string text(negative_ ? "-" : "");
  for (size_t i = 0; i < count_; ++i) text.push_back(static_cast<char>('0' + digits_[i]));
  return Cat(text, "e", last);
}

std::strong_ordering operator<=>(const Number& a, const Number& b) {
  const auto sign = [](const Number& n) { return n.is_zero() ? 0 : (n.negative_ ? -1 : 1); };
  const int sign_a = sign(a);
  if (const auto order = sign_a <=> sign(b); std::is_neq(order) || sign_a == 0) return order;
  // Unused digits are zero, so magnitudes compare as whole arrays.
  auto order = a.exponent_ <=> b.exponent_;
  if (std::is_eq(order)) order = a.digits_ <=> b.digits_;
  if (sign_a > 0) return order;
  // The negative number of greater magnitude is less.
  if (std::is_lt(order)) return std::strong_ordering::greater;
  return std::is_gt(order) ? std::strong_ordering::less : order;
}

bool IsCompactNumber(std::string_view canonical_text) {
  const size_t searched = std::min(canonical_text.size(), kExponentTextMax);
  return canonical_text.substr(canonical_text.size() - searched).find('e') != std::string_view::npos;
}

size_t PlainNumberSize(std::string_view canonical_text) {
  const std::optional<Compact> compact = CutCompact(canonical_text);
  if (!compact.has_value()) return canonical_text.size();
  if (compact->exponent < 0) return compact->sign.size() + 2 + static_cast<size_t>(-compact->exponent);
  return compact->sign.size() + compact->digits.size() + static_cast<size_t>(compact->exponent);
}

void AppendPlainNumber(std::string_view canonical_text, std::string* out) {
  const std::optional<Compact> compact = CutCompact(canonical_text);
  if (!compact.has_value()) {
    out->append(canonical_text);
    return;
  }
  out->append(compact->sign);
  if (compact->exponent < 0) {
    out->append("0.").append(static_cast<size_t>(-compact->exponent) - compact->digits.size(), '0');
    out->append(compact->digits);
  } else {
    out->append(compact->digits).append(static_cast<size_t>(compact->exponent), '0');
  }
}

bool HasRunOfZeros(std::string_view bytes) {
  // Every run covers one of these places.
  for (size_t i = kPlacingZerosMin - 1; i < bytes.size(); i += kPlacingZerosMin) {
    if (bytes[i] != '0') continue;
    const size_t before = bytes.substr(0, i).find_last_not_of('0');
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const size_t end = std::min(bytes.find_first_not_of('0', i), bytes.size());
    if (end - begin >= kPlacingZerosMin) return true;
  }
  return false;
}

std::strong_ordering CompareCanonicalNumbers(std::string_view a, std::string_view b) {
  if (IsCompactNumber(a) || IsCompactNumber(b)) {
    const absl::StatusOr<Number> left = Number::Parse(a);
    const absl::StatusOr<Number> right = Number::Parse(b);
    if (left.ok() && right.ok()) return *left <=> *right;
  }
  const bool negative = a.starts_with('-');
  if (negative != b.starts_with('-')) return negative ? std::strong_ordering::less : std::strong_ordering::greater;
  if (negative) {
    // The negative number of greater magnitude is less.
    std::swap(a, b);
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  // Canonical texts have no superfluous zeros: the text with more digits before the point is greater, and with equally
  // many the points are at the same position.
  const auto integer_digits = [](std::string_view text) { return std::min(text.find('.'), text.size()); };
  const auto order = integer_digits(a) <=> integer_digits(b);
  return std::is_eq(order) ? a.compare(b) <=> 0 : order;
}

size_t NumberApiSize(std::string_view canonical_text) {
  size_t size = 1;
  if (!canonical_text.empty() && canonical_text.front() == '-') {
    ++size;
    canonical_text.remove_prefix(1);
  }
  // Most numbers are integers as they are written.
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (std::all_of(canonical_text.begin(), canonical_text.end(), is_digit) && !canonical_text.starts_with('0')) {
    while (canonical_text.ends_with('0')) canonical_text.remove_suffix(1);
    return size + (canonical_text.size() + 1) / 2;
  }
  if (IsCompactNumber(canonical_text)) {
    // The digits, all on one side of the point.
    canonical_text = canonical_text.substr(0, canonical_text.find('e'));
  }
  const size_t point = canonical_text.find('.');
  std::string_view integer = canonical_text.substr(0, point);
  std::string_view fraction;
  if (point != std::string_view::npos) fraction = canonical_text.substr(point + 1);
  // Zeros that only place the decimal point are not counted.
  integer.remove_prefix(std::min(integer.find_first_not_of('0'), integer.size()));
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  if (fraction.empty()) integer = integer.substr(0, integer.find_last_not_of('0') + 1);
  if (integer.empty()) {
    fraction.remove_prefix(std::min(fraction.find_first_not_of('0'), fraction.size()));
  }
  return size + (integer.size() + 1) / 2 + (fraction.size() + 1) / 2;
}

absl::StatusOr<Number> Add(const Number& a, const Number& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const int highest = std::max(a.exponent(), b.exponent());
  const int lowest = std::min(LowestPlace(a), LowestPlace(b));
  if (highest - lowest + 1 > kSpreadMax) return ValidationError(kOverflowText);
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
