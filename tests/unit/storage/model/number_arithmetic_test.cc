#include "storage/model/number.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/base/api_error.h"

namespace armature::model::number_arithmetic_test {

constexpr std::string_view kOverflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";

Number Of(std::string_view text) { return *Number::Parse(text); }

std::string Printed(const absl::StatusOr<Number>& number) {
  return number.ok() ? number->ToString() : "error: " + std::string(number.status().message());
}

std::string Digits(size_t count, char digit) { return std::string(count, digit); }

struct SumCase {
  std::string a;
  std::string b;
  std::string sum;  // a text that Number parses
};

TEST(NumberArithmetic, AddsExactly) {
  const SumCase kCases[] = {
      {"0", "0", "0"},
      {"0", "-5.5", "-5.5"},
      {"1", "1", "2"},
      {"5", "5", "10"},
      {"999", "1", "1000"},
      {"0.1", "0.2", "0.3"},
      {"1.5", "-1.5", "0"},
      {"-1", "-9.99", "-10.99"},
      {"100", "-1", "99"},
      {"1", "-100", "-99"},
      {"1000", "-999.9", "0.1"},
      {"123.456", "-0.456", "123"},
      {"1e20", "1e-17", "100000000000000000000.00000000000000001"},
      {Digits(38, '9'), "1", "1e38"},
      {Digits(38, '9'), "-1", Digits(37, '9') + "8"},
      {"1e38", "-1", Digits(38, '9')},
      {"1e37", "1", "1" + Digits(36, '0') + "1"},
      {"9e125", "9e124", "9.9e125"},
      {"1e-130", "1e-130", "2e-130"},
      {"9e-130", "1e-130", "1e-129"},
      {"1.1e-129", "-1e-130", "1e-129"},
      {"1e-130", "-1e-130", "0"},
      {"1e125", "-1e125", "0"},
      // The leading digits cancel, and the sum needs fewer digits.
      {"1" + Digits(37, '0'), "-" + Digits(37, '9') + ".9", "0.1"},
      {"1." + Digits(36, '0') + "1", "-1", "1e-37"},
      {"5e-1", Digits(37, '9') + ".5", "1e37"},
  };
  for (const SumCase& c : kCases) {
    const std::string sum = Of(c.sum).ToString();
    EXPECT_EQ(Printed(Add(Of(c.a), Of(c.b))), sum) << c.a << " + " << c.b;
    EXPECT_EQ(Printed(Add(Of(c.b), Of(c.a))), sum) << c.b << " + " << c.a;
    const std::string negated = Of(c.b).is_zero() ? "0" : (c.b.starts_with('-') ? c.b.substr(1) : "-" + c.b);
    EXPECT_EQ(Printed(Subtract(Of(c.a), Of(negated))), sum) << c.a << " - " << negated;
  }
}

TEST(NumberArithmetic, RefusesWhatANumberCannotHold) {
  const struct {
    std::string a;
    std::string b;
  } kCases[] = {
      {"1e50", "1"},
      {"1e38", "1"},
      {"1e125", "1e-130"},
      {"1e-130", "-1e125"},
      {Digits(38, '9'), "0.1"},
      {Digits(38, '9'), Digits(37, '9') + "8"},        // 39 digits, the last one not zero
      {"1e38", "-0.1"},                                // 999... with 39 digits
      {"9e125", "1e125"},                              // 1e126
      {"9." + Digits(37, '9') + "e125", "1e88"},       // carries into 1e126
      {"-5e125", "-5e125"},                            //
      {"1.1e-130", "-1e-130"},                         // 1e-131
      {"1." + Digits(36, '0') + "1e-130", "-1e-130"},  // 1e-167
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<Number> sum = Add(Of(c.a), Of(c.b));
    EXPECT_EQ(Printed(sum), "error: " + std::string(kOverflow)) << c.a << " + " << c.b;
    if (sum.ok()) continue;
    EXPECT_EQ(GetApiError(sum.status())->type, ApiErrorType::kValidation);
    EXPECT_EQ(Printed(Add(Of(c.b), Of(c.a))), "error: " + std::string(kOverflow)) << c.b << " + " << c.a;
  }
}

TEST(NumberArithmetic, ResultsAreCanonical) {
  const Number zero = *Subtract(Of("-7.25"), Of("-7.25"));
  EXPECT_EQ(zero, Number());
  EXPECT_FALSE(zero.is_negative());
  EXPECT_EQ(*Add(Of("99.5"), Of("0.5")), Of("100"));
  EXPECT_EQ(*Subtract(Number(), Of("0.001")), Of("-1e-3"));
}

}  // namespace armature::model::number_arithmetic_test
