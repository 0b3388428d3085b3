#ifndef ARMATURE_TOOLS_ARMATURE_SHELL_WORDS_H_
#define ARMATURE_TOOLS_ARMATURE_SHELL_WORDS_H_

// Words of a command line as bash has them: with quotes and backslashes.
//
// Thread-safety: free functions without state.

#include <optional>
#include <string>
#include <string_view>

namespace armature::cli {

// A word as it was typed.
struct ShellWord {
  std::string text;                // without quotes and backslashes
  char open_quote = 0;             // the quote that is not closed yet; 0: none
  bool is_whole_in_quotes = true;  // the open quote, if there is one, begins the word
};

// Takes off quotes and backslashes. Expands nothing: `$HOME` stays as it is.
ShellWord ReadShellWord(std::string_view typed);

// The word as bash takes it behind `open_quote` (0: without quotes), without the quotes themselves. Nullopt for a word
// with control characters, which nobody can type, and for one with the open quote in it.
std::optional<std::string> QuotedForShell(std::string_view word, char open_quote);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SHELL_WORDS_H_
