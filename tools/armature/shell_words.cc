#include "tools/armature/shell_words.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "tools/armature/display.h"

namespace armature::cli {
namespace {

// Characters that a shell takes as they are anywhere in a word.
bool IsPlainInShell(char c) {
  constexpr std::string_view kMarks = "_-.:/=@%+,";
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || byte >= 0x80 || kMarks.find(c) != kMarks.npos;
}

// True if a backslash before this character is no character of its own in double quotes.
bool IsEscapedInQuotes(char c) { return std::string_view("\"\\$`").find(c) != std::string_view::npos; }

}  // namespace

ShellWord ReadShellWord(std::string_view typed) {
  ShellWord word;
  size_t quote_begin = 0;
  for (size_t i = 0; i < typed.size(); ++i) {
    const char c = typed[i];
    const bool has_next = i + 1 < typed.size();
    if (word.open_quote != 0 && c == word.open_quote) {
      word.open_quote = 0;
    } else if (word.open_quote == 0 && (c == '\'' || c == '"')) {
      word.open_quote = c;
      quote_begin = i;
    } else if (c == '\\' && has_next && word.open_quote != '\'' &&
               (word.open_quote == 0 || IsEscapedInQuotes(typed[i + 1]))) {
      word.text.push_back(typed[++i]);
    } else {
      word.text.push_back(c);
    }
  }
  word.is_whole_in_quotes = quote_begin == 0;
  return word;
}

std::optional<std::string> QuotedForShell(std::string_view word, char open_quote) {
  if (OneLine(word) != word) return std::nullopt;
  if (open_quote == '\'' && word.find('\'') != std::string_view::npos) return std::nullopt;
  // An exclamation mark in double quotes is history, and a backslash before it would stay.
  if (open_quote == '"' && word.find('!') != std::string_view::npos) return std::nullopt;
  std::string quoted;
  for (const char c : word) {
    const bool needs_backslash = open_quote == 0 ? !IsPlainInShell(c) : open_quote == '"' && IsEscapedInQuotes(c);
    if (needs_backslash) quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted;
}

}  // namespace armature::cli
