#ifndef ARMATURE_TOOLS_ARMATURE_SQL_DECIMAL_SUM_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_DECIMAL_SUM_H_

// Exact sums of numbers of the database.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "storage/model/number.h"

namespace armature::cli {

// A sum of any numbers, without rounding: it has all digits between the largest and the smallest place that a number
// can have. Room for 10^18 numbers. Not thread-safe.
class DecimalSum {
 public:
  void Add(const model::Number& number);

  // The sum as plain decimal text, with all digits: more than 38 if it has more.
  std::string ToString() const;

  // The sum divided by `count`, which is at least 1: exact if the quotient has at most 38 significant digits, else
  // rounded to 38, a tie to the even digit.
  std::string Average(int64_t count) const;

 private:
  // Places: 10^-171 is the first one of the first limb. The smallest digit of a number is 10^-167 (1E-130 with 38
  // digits), the largest 10^125; 27 more places take the carries of 10^18 numbers and a sign.
  static constexpr int kLimbDigits = 9;
  static constexpr int kFirstPlace = -171;
  static constexpr size_t kLimbs = 36;
  using Limbs = std::array<int64_t, kLimbs>;

  // Base 10^9. Each limb is small enough that additions do not overflow before Normalize.
  void Normalize();
  // Digits of the magnitude, the highest place first, without leading zeros.
  std::string Digits(bool* is_negative) const;

  Limbs limbs_{};
  int64_t added_ = 0;  // numbers since the last Normalize
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_DECIMAL_SUM_H_
