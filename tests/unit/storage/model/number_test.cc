#include "storage/model/number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/api_error.h"
#include "tests/unit/storage/model/naive_decimal.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::model::number_test {

constexpr std::string_view kOverflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr std::string_view kUnderflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
constexpr std::string_view kTooManyDigits = "Attempting to store more than 38 significant digits in a Number";
constexpr std::string_view kNotANumber = "The parameter cannot be converted to a numeric value";

std::string Canonical(std::string_view text) {
  const absl::StatusOr<Number> number = Number::Parse(text);
  return number.ok() ? number->ToString() : "error: " + std::string(number.status().message());
}

std::string Digits(size_t count, char digit = '1') { return std::string(count, digit); }

TEST(Number, HasOneCanonicalText) {
  const struct {
    std::string text;
    std::string canonical;
  } kCases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"-0.0", "0"},
      {"+0", "0"},
      {"0e5", "0"},
      {".0", "0"},
      {"0.", "0"},
      {"7", "7"},
      {"007", "7"},
      {"-7", "-7"},
      {"+1.5", "1.5"},
      {"1.10", "1.1"},
      {"100.000", "100"},
      {"100", "100"},
      {"1e3", "1000"},
      {"1E+3", "1000"},
      {"1.0e3", "1000"},
      {"1.23e-1", "0.123"},
      {"123.456e2", "12345.6"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"5.", "5"},
      {"5.e1", "50"},
      {"1e0000000000000000000000000003", "1000"},
      {"1e125", "1" + Digits(125, '0')},
      {"-1e125", "-1" + Digits(125, '0')},
      {"0.1e126", "1" + Digits(125, '0')},
      {"1e-130", "0." + Digits(129, '0') + "1"},
      {"10e-131", "0." + Digits(129, '0') + "1"},
      {Digits(38, '9') + "e88", Digits(38, '9') + Digits(88, '0')},
      {Digits(38), Digits(38)},
      {"0.00" + Digits(38), "0.00" + Digits(38)},
      {Digits(38) + "000", Digits(38) + "000"},
      {"000" + Digits(38) + ".000", Digits(38)},
      {"1" + Digits(36, '0') + ".1", "1" + Digits(36, '0') + ".1"},
      {"0." + Digits(300, '0') + "1e301", "1"},
      {"1" + Digits(300, '0') + "e-300", "1"},
      {"0e125", "0"},
      {"0.0e126", "0"},
      {"0e-130", "0"},
      {"-0.00e127", "0"},
      {"0000e125", "0"},
      {"0." + Digits(130, '0'), "0"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Canonical(c.text), c.canonical) << c.text;
    EXPECT_EQ(Canonical(c.canonical), c.canonical) << "canonical text is a fixed point";
  }
}

TEST(Number, RefusesWithTheDocumentedText) {
  const auto not_a_number = [](std::string_view text) { return std::string(kNotANumber) + ": " + std::string(text); };
  const struct {
    std::string text;
    std::string message;
  } kCases[] = {
      {"", std::string(kNotANumber)},
      {" ", not_a_number(" ")},
      {" 1", not_a_number(" 1")},
      {"1 ", not_a_number("1 ")},
      {"dog", not_a_number("dog")},
      {"NaN", not_a_number("NaN")},
      {"Infinity", not_a_number("Infinity")},
      {"+", not_a_number("+")},
      {"--1", not_a_number("--1")},
      {".", not_a_number(".")},
      {"-.", not_a_number("-.")},
      {"1.2.3", not_a_number("1.2.3")},
      {"1,000", not_a_number("1,000")},
      {"0x10", not_a_number("0x10")},
      {"1e", not_a_number("1e")},
      {"1e+", not_a_number("1e+")},
      {"1e1.5", not_a_number("1e1.5")},
      {"e5", not_a_number("e5")},
      {"1e126", std::string(kOverflow)},
      {"-1e126", std::string(kOverflow)},
      {"10e125", std::string(kOverflow)},
      {"1e99999999999", std::string(kOverflow)},
      {"1e9223372036854775807", std::string(kOverflow)},
      {"1e9223372036854775808", not_a_number("1e9223372036854775808")},
      {"1e-9223372036854775808", std::string(kUnderflow)},
      {"0.1e-9223372036854775808", std::string(kUnderflow)},
      {"11e9223372036854775807", std::string(kOverflow)},
      {"1e-9223372036854775809", not_a_number("1e-9223372036854775809")},
      {"0e126", std::string(kOverflow)},
      {"-0.0e127", std::string(kOverflow)},
      {"0e9223372036854775807", std::string(kOverflow)},
      {"0e-131", std::string(kUnderflow)},
      {"0.0e-130", std::string(kUnderflow)},
      {"0." + Digits(131, '0'), std::string(kUnderflow)},
      {"0.0e-9223372036854775808", std::string(kUnderflow)},
      {"0e9223372036854775808", not_a_number("0e9223372036854775808")},
      {"1e-131", std::string(kUnderflow)},
      {"-0.1e-130", std::string(kUnderflow)},
      {Digits(39), std::string(kTooManyDigits)},
      {"1" + Digits(37, '0') + ".1", std::string(kTooManyDigits)},
      {Digits(39) + "e100", std::string(kOverflow)},
      {Digits(39) + "e-200", std::string(kUnderflow)},
      {std::string("1\0", 2), not_a_number(std::string_view("1\0", 2))},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<Number> number = Number::Parse(c.text);
    ASSERT_FALSE(number.ok()) << c.text;
    EXPECT_EQ(number.status().message(), c.message) << c.text;
    EXPECT_EQ(GetApiError(number.status())->type, ApiErrorType::kValidation);
  }
}

TEST(Number, WithAScaleOf32BitsHasTheRangeOfSuchDecimals) {
  const auto not_a_number = [](std::string_view text) { return std::string(kNotANumber) + ": " + std::string(text); };
  const struct {
    std::string text;
    std::string message;
  } kCases[] = {
      {"", std::string(kNotANumber)},
      {"dog", not_a_number("dog")},
      {"1e126", std::string(kOverflow)},
      {"1e2147483646", std::string(kOverflow)},
      {"12e2147483645", std::string(kOverflow)},
      {"0012e2147483645", std::string(kOverflow)},
      {"1e2147483647", std::string(kUnderflow)},
      {"12e2147483646", std::string(kUnderflow)},
      {"1.5e2147483647", std::string(kUnderflow)},
      {"0.1e2147483647", std::string(kOverflow)},
      {"0e2147483647", std::string(kUnderflow)},
      {"0.0e2147483647", std::string(kOverflow)},
      {"1e2147483648", not_a_number("1e2147483648")},
      {"0e2147483648", not_a_number("0e2147483648")},
      {"0.1e2147483648", not_a_number("0.1e2147483648")},
      {"1e-131", std::string(kUnderflow)},
      {"1e-2147483647", std::string(kUnderflow)},
      {"0.1e-2147483646", std::string(kUnderflow)},
      {"0.1e-2147483647", not_a_number("0.1e-2147483647")},
      {"1e-2147483648", not_a_number("1e-2147483648")},
      {"1e99999999999", not_a_number("1e99999999999")},
      {"1e9223372036854775807", not_a_number("1e9223372036854775807")},
      {"1e-9223372036854775808", not_a_number("1e-9223372036854775808")},
      {Digits(39), std::string(kTooManyDigits)},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<Number> number = Number::ParseScaled(c.text);
    ASSERT_FALSE(number.ok()) << c.text;
    EXPECT_EQ(number.status().message(), c.message) << c.text;
  }
  for (const std::string_view text : {"0", "-1.50", "1e125", "1e-130", "0.00e127", "00012.5e0000000000001"}) {
    EXPECT_EQ(*Number::ParseScaled(text), *Number::Parse(text)) << text;
  }
}

TEST(Number, RepeatsOnlyTheHeadOfALongText) {
  // Two-byte characters at odd offsets, so that a cut at a fixed size would split one.
  std::string text = "x";
  for (int i = 0; i < 5000; ++i) text += "\xC3\xA9";
  const std::string message = Canonical(text);
  EXPECT_LT(message.size(), 1200u);
  EXPECT_TRUE(message.ends_with("\xC3\xA9...")) << message.substr(1000);
}

TEST(Number, OfManyMegabytesIsJudgedQuickly) {
  EXPECT_EQ(Canonical("1" + Digits(16 << 20, '0')), "error: " + std::string(kOverflow));
  EXPECT_EQ(Canonical("0." + Digits(16 << 20, '0') + "1"), "error: " + std::string(kUnderflow));
  EXPECT_EQ(Canonical("1." + Digits(16 << 20)), "error: " + std::string(kTooManyDigits));
  EXPECT_EQ(Canonical(Digits(16 << 20, '0')), "0");
}

TEST(Number, ComparesByValue) {
  // In ascending order, all different.
  const char* const kAscending[] = {
      "-1e125",         "-2", "-1.5", "-1.25", "-1", "-0.9", "-1e-130", "0",  "1e-130", "2e-130", "0.09",    "0.1",
      "0.11",           "1",  "1.01", "1.1",   "9",  "9.9",  "10",      "99", "100",    "100.1",  "9.9e124", "1e125",
      "1.000000001e125"};
  std::vector<Number> numbers;
  for (const char* text : kAscending) numbers.push_back(*Number::Parse(text));
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = 0; j < numbers.size(); ++j) {
      EXPECT_EQ(numbers[i] <=> numbers[j], i <=> j) << kAscending[i] << " " << kAscending[j];
      EXPECT_EQ(numbers[i] == numbers[j], i == j);
      EXPECT_EQ(CompareCanonicalNumbers(numbers[i].ToString(), numbers[j].ToString()), i <=> j);
    }
  }
}

TEST(Number, CountsItsSizeAsTheApi) {
  const struct {
    const char* text;
    size_t size;
  } kCases[] = {
      {"0", 1},
      {"1", 2},
      {"-1", 3},
      {"12", 2},
      {"123", 3},
      {"123456", 4},
      {"3.14159", 5},
      {"42.12", 3},
      {"100", 2},
      {"1E125", 2},
      {"-1E-130", 3},
      {"0.001", 2},
      {"0.0105", 3},
      {"100.5", 4},
      {"1200", 2},
      {"1.5", 3},
      {"-1.5", 4},
      {"0.5", 2},
      {"11111111111111111111111111111111111111", 20},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(NumberApiSize(Number::Parse(c.text)->ToString()), c.size) << c.text;
  }
  // Damaged bytes.
  for (const char* text : {"", "-", ".", "-.", "abc", "...", "0.0"}) {
    NumberApiSize(text);
    for (const char* other : {"", "-", ".", "-.", "1"}) CompareCanonicalNumbers(text, other);
  }
}

TEST(Number, CanonicalTextsHaveAnExponentInsteadOfManyZeros) {
  const struct {
    std::string text;
    std::string canonical;
  } kCases[] = {
      {"0", "0"},
      {"0e125", "0"},
      {"123.45", "123.45"},
      {"1e19", "1" + Digits(19, '0')},
      {"1e20", "1e20"},
      {"-120e19", "-12e20"},
      {"9223372036854775807", "9223372036854775807"},
      {"1" + Digits(20, '0') + "1", "1" + Digits(20, '0') + "1"},
      {"1" + Digits(20, '0') + ".5", "1" + Digits(20, '0') + ".5"},
      {"1e-20", "0." + Digits(19, '0') + "1"},
      {"1e-21", "1e-21"},
      {"-0." + Digits(20, '0') + "25", "-25e-22"},
      {"1e125", "1e125"},
      {"-1e-130", "-1e-130"},
      {Digits(38) + "e87", Digits(38) + "e87"},
      {"-" + Digits(38) + "e-167", "-" + Digits(38) + "e-167"},
  };
  for (const auto& c : kCases) {
    const Number number = *Number::Parse(c.text);
    EXPECT_EQ(number.CanonicalText(), c.canonical);
    EXPECT_EQ(IsCompactNumber(c.canonical), c.canonical.find('e') != std::string::npos);
    std::string plain = "before ";
    AppendPlainNumber(c.canonical, &plain);
    EXPECT_EQ(plain, "before " + number.ToString());
  }
}

TEST(Number, TextsThatAreNotCompactAreUnchanged) {
  for (const char* text : {"", "e", "1e", "e20", "-e20", "1e+", "1e126", "1e-168", "1e9999", "1e2a", "1.5e20", "12e-1x",
                           "1e99999999999999999999", "123456e-5", "some", "1E20"}) {
    std::string plain;
    AppendPlainNumber(text, &plain);
    EXPECT_EQ(plain, text);
    EXPECT_EQ(PlainNumberSize(text), plain.size());
    NumberApiSize(text);
    for (const char* other : {"", "1e20", "7", "e"}) CompareCanonicalNumbers(text, other);
  }
}

TEST(Number, RunsOfZerosAreFoundAnywhere) {
  for (size_t before = 0; before < 45; ++before) {
    for (size_t zeros = 0; zeros < 45; ++zeros) {
      const std::string text = Digits(before, 'x') + Digits(zeros, '0') + "x0" + Digits(19, '0').substr(before % 19);
      EXPECT_EQ(HasRunOfZeros(text), zeros >= 20 || before % 19 == 0) << before << " " << zeros;
    }
  }
  EXPECT_FALSE(HasRunOfZeros(""));
}

TEST(Number, AgreesWithNaiveDecimals) {
  std::mt19937_64 rng(PrintedTestSeed());
  RandomNumber before = MakeRandomNumber(rng);
  Number before_number = *Number::Parse(before.text);
  int equal = 0;
  int compact = 0;
  for (int i = 0; i < 100'000; ++i) {
    const RandomNumber next = MakeRandomNumber(rng);
    const absl::StatusOr<Number> number = Number::Parse(next.text);
    ASSERT_TRUE(number.ok()) << next.text << " " << number.status();
    ASSERT_EQ(number->ToString(), next.value.Plain()) << next.text;
    ASSERT_EQ(*Number::Parse(number->ToString()), *number);
    ASSERT_LE(number->ToString().size(), 170u);

    const int naive = NaiveDecimal::Compare(before.value, next.value);
    ASSERT_EQ(before_number <=> *number, naive <=> 0) << before.text << " " << next.text;
    const std::string canonical = number->CanonicalText();
    ASSERT_EQ(CompareCanonicalNumbers(before_number.CanonicalText(), canonical), naive <=> 0)
        << before.text << " " << next.text;
    ASSERT_EQ(before_number.CanonicalText() == canonical, naive == 0) << before.text << " " << next.text;
    std::string plain;
    AppendPlainNumber(canonical, &plain);
    ASSERT_EQ(plain, number->ToString());
    ASSERT_EQ(PlainNumberSize(canonical), plain.size());
    ASSERT_EQ(NumberApiSize(canonical), NumberApiSize(plain)) << canonical;
    ASSERT_EQ(canonical == plain, !IsCompactNumber(canonical));
    ASSERT_TRUE(canonical == plain || HasRunOfZeros(plain)) << plain;
    ASSERT_LE(canonical.size(), 12 * NumberApiSize(canonical)) << canonical;
    compact += canonical == plain ? 0 : 1;
    ASSERT_EQ(before_number == *number, naive == 0) << before.text << " " << next.text;
    equal += naive == 0 ? 1 : 0;

    std::vector<uint8_t> digits;
    for (size_t d = 0; d < number->digit_count(); ++d) digits.push_back(number->digit(d));
    ASSERT_EQ(Number::FromDigits(number->is_negative(), number->exponent(), digits.data(), digits.size()), *number);
    before = next;
    before_number = *number;
  }
  EXPECT_GT(equal, 10) << "the numbers are too far apart to test equality";
  EXPECT_GT(compact, 1000);
}

}  // namespace armature::model::number_test
