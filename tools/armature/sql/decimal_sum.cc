#include "tools/armature/sql/decimal_sum.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace armature::cli {
namespace {

constexpr int64_t kLimbBase = 1'000'000'000;
constexpr int kAverageDigits = 38;
// Numbers added between two carries: a limb grows by less than 10^9 each time, and holds 9 * 10^18.
constexpr int64_t kAddedMax = 1'000'000'000;

constexpr std::array<int64_t, 9> kPowersOfTen = {1,       10,        100,        1'000,      10'000,
                                                 100'000, 1'000'000, 10'000'000, 100'000'000};

__extension__ using Wide = unsigned __int128;

// Plain text of the digits, whose last one has the place 10^`place`.
std::string PlainText(std::string digits, int place, bool is_negative) {
  if (place > 0) digits.append(static_cast<size_t>(place), '0');
  if (place < 0) {
    const auto fraction = static_cast<size_t>(-place);
    if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
    digits.insert(digits.size() - fraction, ".");
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  const size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  digits.erase(0, digits[first] == '.' ? first - 1 : first);
  return is_negative ? "-" + digits : digits;
}

// Adds one at the last digit.
void Increment(std::string* digits) {
  for (size_t i = digits->size(); i-- > 0;) {
    if ((*digits)[i] != '9') {
      ++(*digits)[i];
      return;
    }
    (*digits)[i] = '0';
  }
  digits->insert(0, "1");
}

}  // namespace

void DecimalSum::Add(const model::Number& number) {
  for (size_t i = 0; i < number.digit_count(); ++i) {
    const auto place = static_cast<size_t>(number.exponent() - static_cast<int>(i) - kFirstPlace);
    const int64_t value = number.digit(i) * kPowersOfTen[place % kLimbDigits];
    limbs_[place / kLimbDigits] += number.is_negative() ? -value : value;
  }
  if (++added_ >= kAddedMax) Normalize();
}

void DecimalSum::Normalize() {
  added_ = 0;
  for (size_t i = 0; i + 1 < kLimbs; ++i) {
    int64_t carry = limbs_[i] / kLimbBase;
    if (limbs_[i] % kLimbBase < 0) --carry;
    limbs_[i] -= carry * kLimbBase;
    limbs_[i + 1] += carry;
  }
}

std::string DecimalSum::Digits(bool* is_negative) const {
  DecimalSum sum = *this;
  sum.Normalize();
  *is_negative = sum.limbs_.back() < 0;
  if (*is_negative) {
    for (int64_t& limb : sum.limbs_) limb = -limb;
    sum.Normalize();
  }
  std::string digits;
  for (size_t i = kLimbs; i-- > 0;) digits += absl::StrFormat("%09d", sum.limbs_[i]);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

std::string DecimalSum::ToString() const {
  bool is_negative = false;
  std::string digits = Digits(&is_negative);
  return PlainText(std::move(digits), kFirstPlace, is_negative);
}

std::string DecimalSum::Average(int64_t count) const {
  bool is_negative = false;
  const std::string digits = Digits(&is_negative);
  std::string quotient;
  int place = kFirstPlace + static_cast<int>(digits.size());  // behind the last digit that was taken
  // The rest is smaller than the count: less than 2^63, and ten times as much needs more.
  Wide rest = 0;
  const auto divisor = static_cast<Wide>(count);
  for (size_t i = 0; quotient.size() < kAverageDigits; ++i) {
    if (i >= digits.size() && rest == 0) break;
    rest = rest * 10 + (i < digits.size() ? static_cast<unsigned>(digits[i] - '0') : 0U);
    --place;
    const auto digit = static_cast<char>('0' + static_cast<int>(rest / divisor));
    rest %= divisor;
    if (digit != '0' || !quotient.empty()) quotient.push_back(digit);
  }
  if (quotient.empty()) return "0";
  // The digits that are left out, less than one of the last place: those of the sum, then the rest.
  const auto taken = static_cast<size_t>(kFirstPlace + static_cast<int>(digits.size()) - place);
  const bool has_more_digits = taken < digits.size() && digits.find_first_not_of('0', taken) != std::string::npos;
  if (rest == 0 && !has_more_digits) return PlainText(std::move(quotient), place, is_negative);
  const unsigned next = taken < digits.size() ? static_cast<unsigned>(digits[taken] - '0') : 0U;
  const Wide tenfold = rest * 10 + next;
  const auto next_digit = static_cast<int>(tenfold / divisor);
  const bool has_rest = tenfold % divisor != 0 ||
                        (taken + 1 < digits.size() && digits.find_first_not_of('0', taken + 1) != std::string::npos);
  const bool is_odd = (quotient.back() - '0') % 2 == 1;
  if (next_digit > 5 || (next_digit == 5 && (has_rest || is_odd))) Increment(&quotient);
  return PlainText(std::move(quotient), place, is_negative);
}

}  // namespace armature::cli
