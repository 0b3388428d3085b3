#include "engine/access/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tests/support/matches_pattern.h"

namespace armature::access::pattern_test {

std::string Repeated(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

// The definition, letter by letter.
bool MatchesPlainly(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  const std::string_view rest = pattern.substr(1);
  if (pattern.front() == '*') {
    return MatchesPlainly(rest, text) || (!text.empty() && MatchesPlainly(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
         MatchesPlainly(rest, text.substr(1));
}

// Steps of one match. The text must not match.
uint64_t StepsOf(std::string_view pattern, std::string_view text) {
  MatchWork work;
  EXPECT_FALSE(Pattern(std::string(pattern)).Matches(text, &work));
  EXPECT_FALSE(work.is_spent());
  return MatchWork::kStepsMax - work.left();
}

TEST(Pattern, MatchesAsAPlainMatcherDoes) {
  std::mt19937 random(7);
  const auto text_of = [&random](std::string_view letters, size_t size_max) {
    std::string text(random() % (size_max + 1), ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  size_t matches = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = text_of(i % 2 == 0 ? "ab*?" : "aab*", 9);
    const std::string text = text_of("ab", 12);
    MatchWork work;
    ASSERT_EQ(Pattern(pattern).Matches(text, &work), MatchesPlainly(pattern, text)) << pattern << " " << text;
    if (MatchesPlainly(pattern, text)) ++matches;
  }
  EXPECT_GT(matches, 10'000);
}

TEST(Pattern, PartsLongerThanAWordAreFound) {
  for (const size_t size : {63, 64, 65, 127, 128, 129, 700}) {
    const std::string part = Repeated(size - 2, "a") + "?b";
    EXPECT_TRUE(MatchesPattern("*" + part + "*", Repeated(size * 2, "a") + "cb" + "d")) << size;
    EXPECT_FALSE(MatchesPattern("*" + part + "*", Repeated(size - 3, "a") + "cbd")) << size;
    EXPECT_FALSE(MatchesPattern("*" + part + "*", Repeated(size * 2, "a"))) << size;
  }
}

TEST(Pattern, BytesAboveTheAsciiLettersMatchThemselves) {
  EXPECT_TRUE(MatchesPattern("*\xc3?\xff*", "x\xc3\xa4\xff"));
  EXPECT_FALSE(MatchesPattern("*\xc3?\xfe*", "x\xc3\xa4\xff"));
}

TEST(Pattern, AMatchTakesLinearlyManySteps) {
  const std::string text = Repeated(2047, "a") + "c";
  // A search that begins anew at each letter takes 900 times as many.
  EXPECT_LE(StepsOf("*" + Repeated(900, "a") + "b", text), 4 * text.size());
  EXPECT_LE(StepsOf("*" + Repeated(900, "a") + "b*", text), 4 * text.size());
  EXPECT_LE(StepsOf(Repeated(500, "*a") + "*b*", text), 4 * text.size());
  EXPECT_LE(StepsOf(Repeated(500, "*a") + "*b", text), 4 * text.size());
  EXPECT_LE(StepsOf("*" + Repeated(200, "aaaa*") + "ab*", text), 4 * text.size());
  // A part with question marks takes a step for each 64 of its bytes.
  EXPECT_LE(StepsOf("*" + Repeated(450, "?a") + "b*", text), 16 * text.size());
  EXPECT_LE(StepsOf("*" + Repeated(1000, "?") + "b*", text), 17 * text.size());
}

// A text of the letters that the pattern has, so that searches take long.
TEST(Pattern, AMatchTakesNoMoreStepsThanItsWeight) {
  std::mt19937 random(11);
  uint64_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern(1 + random() % 40, ' ');
    for (char& c : pattern) c = std::string_view("aaaa?b*")[random() % 7];
    pattern += i % 2 == 0 ? "*" : "";
    std::string text(1 + random() % 200, 'a');
    MatchWork work;
    const Pattern compiled(pattern);
    compiled.Matches(text, &work);
    const uint64_t steps = MatchWork::kStepsMax - work.left();
    ASSERT_LE(steps, 1 + compiled.weight() * text.size()) << pattern << " " << text.size();
    most = std::max(most, steps / text.size());
  }
  EXPECT_GE(most, 6) << "some parts with question marks were searched for";
}

TEST(Pattern, TheMemoryIsThatOfTheText) {
  for (const std::string& pattern : {Repeated(500, "*?a"), Repeated(100, "*?abcdefghi"), Repeated(20, "*") + "a?",
                                     Repeated(500, "*a"), "*" + Repeated(900, "a?") + "*"}) {
    EXPECT_LE(Pattern(pattern).heap_bytes(), 5 * pattern.size() + 64) << pattern;
  }
}

TEST(Patterns, TextsWithoutWildcardsAreFoundAtOnce) {
  Patterns patterns;
  for (int i = 0; i < 1000; ++i) patterns.Add("key" + std::to_string(i));
  MatchWork work(100);
  EXPECT_TRUE(patterns.AnyMatches("key999", &work));
  EXPECT_FALSE(patterns.AnyMatches("key", &work));
  EXPECT_EQ(patterns.wildcards(), 0);
  EXPECT_FALSE(work.is_spent());
}

TEST(Patterns, NothingMatchesAfterTheWorkIsSpent) {
  const Patterns patterns({"a*", "plain", "*b*"});
  MatchWork work(20);
  EXPECT_TRUE(patterns.AnyMatches("ab", &work));
  EXPECT_FALSE(patterns.AnyMatches(Repeated(100, "c"), &work));
  EXPECT_TRUE(work.is_spent());
  EXPECT_FALSE(patterns.AnyMatches("ab", &work));
  EXPECT_FALSE(patterns.AnyMatches("plain", &work));
}

}  // namespace armature::access::pattern_test
