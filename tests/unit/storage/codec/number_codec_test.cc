#include "storage/codec/key_codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/model/naive_decimal.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::codec::number_codec_test {

using model::Number;

std::string Encode(std::string_view text) {
  std::string bytes;
  AppendNumber(*Number::Parse(text), &bytes);
  return bytes;
}

TEST(NumberCodec, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("number.golden", 3)) {
    EXPECT_EQ(Number::Parse(vector[0])->ToString(), vector[1]);
    EXPECT_EQ(ToHex(Encode(vector[0])), vector[2]) << vector[0];
    const std::string bytes = FromHex(vector[2]) + "rest";
    std::string_view in = bytes;
    Number number;
    ASSERT_TRUE(TakeNumber(&in, &number)) << vector[0];
    EXPECT_EQ(number.ToString(), vector[1]);
    EXPECT_EQ(in, "rest");
  }
}

TEST(NumberCodec, RefusesWhatIsNotCanonical) {
  const struct {
    const char* hex;
    const char* why;
  } kCases[] = {
      {"", "nothing"},
      {"30", "another type"},
      {"22", "no exponent"},
      {"2282", "no digits"},
      {"22828d", "more digits promised"},
      {"2282c8", "a pair of 100"},
      {"228200", "zero digits"},
      {"228202", "leading zero"},
      {"22828d00", "trailing pair of zeros"},
      {"207dff", "zero digits, negative"},
      {"207d72ff", "trailing pair of zeros, negative"},
  };
  for (const auto& c : kCases) {
    const std::string bytes = FromHex(c.hex);
    std::string_view in = bytes;
    Number number;
    EXPECT_FALSE(TakeNumber(&in, &number)) << c.why;
  }
  // A number has at most 19 digit pairs.
  std::string bytes = FromHex("2282");
  for (int i = 0; i < 19; ++i) bytes += '\x17';
  bytes += '\x16';
  std::string_view in = bytes;
  Number number;
  EXPECT_FALSE(TakeNumber(&in, &number));
}

TEST(NumberCodec, DamagedBytesAreRefusedOrCanonical) {
  for (const char* text : {"0", "7", "-7", "100", "-1.5", "123456789", "-12345678901234567890123456789012345678"}) {
    ForEachDamage(Encode(text), [](std::string_view damaged) {
      std::string_view in = damaged;
      Number number;
      if (!TakeNumber(&in, &number)) return;
      const std::string_view taken = damaged.substr(0, damaged.size() - in.size());
      ASSERT_EQ(ToHex(Encode(number.ToString())), ToHex(taken));
    });
  }
}

TEST(NumberCodec, BytesOrderAsNumbers) {
  std::mt19937_64 rng(PrintedTestSeed());
  model::RandomNumber before = model::MakeRandomNumber(rng);
  std::string before_bytes = Encode(before.text);
  for (int i = 0; i < 100'000; ++i) {
    const model::RandomNumber next = model::MakeRandomNumber(rng);
    const std::string bytes = Encode(next.text);
    ASSERT_LE(bytes.size(), 21u);
    ASSERT_EQ(model::NaiveDecimal::Compare(before.value, next.value) <=> 0, before_bytes.compare(bytes) <=> 0)
        << before.text << " " << next.text;
    std::string_view in = bytes;
    Number number;
    ASSERT_TRUE(TakeNumber(&in, &number));
    ASSERT_TRUE(in.empty());
    ASSERT_EQ(number.ToString(), next.value.Plain());
    before = next;
    before_bytes = bytes;
  }
}

}  // namespace armature::codec::number_codec_test
