#include "tools/armature/sql/decimal_sum.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace armature::cli::decimal_sum_test {

model::Number Number(std::string_view text) {
  const absl::StatusOr<model::Number> number = model::Number::Parse(text);
  EXPECT_TRUE(number.ok()) << text;
  return *number;
}

DecimalSum SumOf(const std::vector<std::string>& numbers) {
  DecimalSum sum;
  for (const std::string& number : numbers) sum.Add(Number(number));
  return sum;
}

TEST(DecimalSum, IsExact) {
  EXPECT_EQ(DecimalSum().ToString(), "0");
  EXPECT_EQ(SumOf({"0.1", "0.2"}).ToString(), "0.3");
  EXPECT_EQ(SumOf({"1", "-1"}).ToString(), "0");
  EXPECT_EQ(SumOf({"-0.5", "0.25"}).ToString(), "-0.25");
  EXPECT_EQ(SumOf({"999999999", "1"}).ToString(), "1000000000");
  EXPECT_EQ(SumOf({"-1000000000", "1"}).ToString(), "-999999999");
  EXPECT_EQ(SumOf({"12.50", "7.50"}).ToString(), "20");
}

TEST(DecimalSum, HasMoreDigitsThanANumber) {
  EXPECT_EQ(SumOf({"1e125", "1e-130"}).ToString(), "1" + std::string(125, '0') + "." + std::string(129, '0') + "1");
  EXPECT_EQ(SumOf({"1e-130", "-1e-130"}).ToString(), "0");
  const std::string nines = std::string(38, '9');
  EXPECT_EQ(SumOf({nines + "e88", nines + "e88"}).ToString(), "1" + std::string(37, '9') + "8" + std::string(88, '0'));
  // The smallest place of all: 38 digits that begin at 10^-130.
  EXPECT_EQ(SumOf({"1." + std::string(36, '0') + "1e-130"}).ToString(),
            "0." + std::string(129, '0') + "1" + std::string(36, '0') + "1");
}

TEST(DecimalSum, AveragesAreRoundedToTheEvenDigit) {
  EXPECT_EQ(SumOf({"1", "2"}).Average(2), "1.5");
  EXPECT_EQ(SumOf({"1"}).Average(3), "0." + std::string(38, '3'));
  EXPECT_EQ(SumOf({"2"}).Average(3), "0." + std::string(37, '6') + "7");
  EXPECT_EQ(SumOf({"-2"}).Average(3), "-0." + std::string(37, '6') + "7");
  EXPECT_EQ(SumOf({"5", "-5"}).Average(2), "0");
  EXPECT_EQ(SumOf({"100"}).Average(4), "25");
  // 39 digits with a 5 at the end: a tie goes to the even digit.
  const std::string even = "1" + std::string(36, '0') + "2";
  const std::string odd = "1" + std::string(36, '0') + "3";
  EXPECT_EQ(SumOf({even, "0.5"}).Average(1), even);
  EXPECT_EQ(SumOf({odd, "0.5"}).Average(1), "1" + std::string(36, '0') + "4");
  EXPECT_EQ(SumOf({even, "0.5", "1e-130"}).Average(1), odd);
  EXPECT_EQ(SumOf({std::string(38, '9'), "0.5"}).Average(1), "1" + std::string(38, '0'));
  EXPECT_EQ(SumOf({"1e-130"}).Average(1), "0." + std::string(129, '0') + "1");
  EXPECT_EQ(SumOf({"1e125"}).Average(INT64_MAX).substr(0, 10), "1084202172");
}

// Sums and averages of integers, against the processor's.
TEST(DecimalSum, AgreesWithIntegers) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::uniform_int_distribution<int64_t> values(-1'000'000'000'000, 1'000'000'000'000);
    DecimalSum sum;
    int64_t expected = 0;
    const int64_t count = 1 + static_cast<int64_t>(random() % 50);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t value = values(random);
      expected += value;
      sum.Add(Number(std::to_string(value)));
    }
    EXPECT_EQ(sum.ToString(), std::to_string(expected));
    // An eighth has three more digits, so the quotient is exact.
    const std::string average = sum.Average(8);
    EXPECT_EQ(SumOf(std::vector<std::string>(8, average)).ToString(), std::to_string(expected));
  }
}

}  // namespace armature::cli::decimal_sum_test
