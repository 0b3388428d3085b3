#include "tools/armature/shell_words.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace armature::cli::shell_words_test {

TEST(ReadShellWord, TakesOffQuotesAndBackslashes) {
  EXPECT_EQ(ReadShellWord("plain").text, "plain");
  EXPECT_EQ(ReadShellWord(R"(no\ te)").text, "no te");
  EXPECT_EQ(ReadShellWord(R"('no te'"s $x")").text, "no tes $x");
  EXPECT_EQ(ReadShellWord(R"("a\"b\c")").text, R"(a"b\c)");
  EXPECT_EQ(ReadShellWord(R"('a\'b)").text, R"(a\b)");
  EXPECT_EQ(ReadShellWord(R"(end\)").text, R"(end\)");
  EXPECT_EQ(ReadShellWord("").text, "");
}

TEST(ReadShellWord, KnowsTheOpenQuote) {
  EXPECT_EQ(ReadShellWord("'no t").open_quote, '\'');
  EXPECT_EQ(ReadShellWord("\"no t").open_quote, '"');
  EXPECT_EQ(ReadShellWord("'no t'").open_quote, 0);
  EXPECT_TRUE(ReadShellWord("'no t").is_whole_in_quotes);
  EXPECT_FALSE(ReadShellWord("no' t").is_whole_in_quotes);
}

TEST(QuotedForShell, EscapesWhatAShellWouldTake) {
  EXPECT_EQ(QuotedForShell("note-1.a:b=c", 0), "note-1.a:b=c");
  EXPECT_EQ(QuotedForShell("n\u00f6te", 0), "n\u00f6te");
  EXPECT_EQ(QuotedForShell("$(touch x) `id` *'\";&|<>", 0), R"(\$\(touch\ x\)\ \`id\`\ \*\'\"\;\&\|\<\>)");
  EXPECT_EQ(QuotedForShell("a $b `c` \"d\" \\ *", '"'), R"(a \$b \`c\` \"d\" \\ *)");
  EXPECT_EQ(QuotedForShell("a $b `c` \\", '\''), R"(a $b `c` \)");
}

TEST(QuotedForShell, LeavesOutWhatCannotStandInTheQuotes) {
  EXPECT_EQ(QuotedForShell("it's", '\''), std::nullopt);
  EXPECT_EQ(QuotedForShell("no!", '"'), std::nullopt);
  EXPECT_EQ(QuotedForShell("a\x1b[31m", 0), std::nullopt);
  EXPECT_EQ(QuotedForShell("a\nb", 0), std::nullopt);
}

TEST(QuotedForShell, IsReadAgain) {
  for (const char quote : {'\0', '\'', '"'}) {
    const std::string word = "a b$c`d`\\e*?[f]{g}~#h";
    const std::optional<std::string> quoted = QuotedForShell(word, quote);
    ASSERT_TRUE(quoted.has_value());
    const std::string typed = quote == 0 ? *quoted : std::string(1, quote) + *quoted + std::string(1, quote);
    EXPECT_EQ(ReadShellWord(typed).text, word);
    EXPECT_EQ(ReadShellWord(typed).open_quote, 0);
  }
}

}  // namespace armature::cli::shell_words_test
