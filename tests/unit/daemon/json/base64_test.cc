#include "daemon/message_json/base64.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "storage/base/strings.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::daemon::base64_test {

std::string Encoded(std::string_view bytes) {
  std::string text(Base64Size(bytes.size()), '\0');
  EXPECT_EQ(EncodeBase64(bytes, text.data()), text.data() + text.size());
  return text;
}

std::optional<std::string> Decoded(std::string_view text) {
  std::string bytes(DecodedSize(text), '\0');
  if (!DecodeBase64(text, bytes.data())) return std::nullopt;
  return bytes;
}

TEST(Base64, EncodesAndDecodesAsTheStandardSays) {
  std::mt19937_64 rng(PrintedTestSeed());
  for (size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(rng());
    const std::string text = Encoded(bytes);
    EXPECT_EQ(text, absl::Base64Escape(Av(bytes)));
    EXPECT_EQ(Decoded(text), bytes);
  }
}

TEST(Base64, RefusesWhatIsNotTheOneForm) {
  constexpr std::string_view kBad[] = {
      "a===",         "====", "=AAA", "A=AA", "AA=A", "AAA\n", "AA-A", "AA_A", "AAA\xC3", std::string_view("AA\0A", 4),
      "AB==",          // unused bits of B are not zero
      "AAB=",          // unused bits that are not zero, with one pad
      "AA==AAAA",      // padding in the middle
      "AAAAAAA=AA==",  // padding twice
      "AAAA AAAAAAA",
  };
  for (const std::string_view text : kBad) EXPECT_EQ(Decoded(text), std::nullopt) << text;
  EXPECT_EQ(Decoded("AA=="), std::string(1, '\0'));
  EXPECT_EQ(Decoded(""), "");
}

// Abseil's decoder accepts more texts, but reads those of the one form as ours does.
TEST(Base64, AcceptsWhatAbseilReadsAndEncodesToTheSameText) {
  constexpr std::string_view kLax[] = {"AA..", "AB==", "AAB=", "AA AAAA "};
  for (const std::string_view text : kLax) {
    std::string bytes;
    EXPECT_TRUE(absl::Base64Unescape(Av(text), &bytes)) << text;
    EXPECT_EQ(Decoded(text), std::nullopt) << text;
  }
  constexpr std::string_view kCharacters = "AQgwB/+=.- \n";
  std::mt19937_64 rng(PrintedTestSeed());
  size_t accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text((1 + rng() % 3) * 4, '\0');
    for (char& c : text) c = kCharacters[rng() % (rng() % 8 == 0 ? kCharacters.size() : 6)];
    if (rng() % 2 == 0) text.back() = '=';
    std::string bytes;
    const bool is_canonical = absl::Base64Unescape(text, &bytes) && absl::Base64Escape(bytes) == text;
    const std::optional<std::string> decoded = Decoded(text);
    ASSERT_EQ(decoded.has_value(), is_canonical) << text;
    if (!is_canonical) continue;
    ASSERT_EQ(*decoded, bytes) << text;
    ++accepted;
  }
  EXPECT_GT(accepted, 50'000u);
}

}  // namespace armature::daemon::base64_test
