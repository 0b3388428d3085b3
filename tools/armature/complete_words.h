#ifndef ARMATURE_TOOLS_ARMATURE_COMPLETE_WORDS_H_
#define ARMATURE_TOOLS_ARMATURE_COMPLETE_WORDS_H_

// Completion of a command line of the tool. The scripts of the shells ask for it with each completion, by the hidden
// command complete-words, because it knows the commands and the names in the database.

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/armature/sql/completion.h"

namespace armature::cli {

// The name of the hidden command.
inline constexpr char kCompleteWords[] = "complete-words";

// The names that are not in the parser.
struct NamesForCompletion {
  SqlNames* database = nullptr;  // tables, indexes, attributes
  std::string used_table{};      // of `armature use`; empty: none
  std::vector<std::string> profiles{};
  std::function<bool(const CLI::App&)> begins_with_table{};  // see TakesTableFirst
};

struct WordCompletions {
  std::vector<std::string> words;  // whole words, sorted
  bool files = false;              // names of files fit, too
};

// The words that may stand in the place of the last one of `words`, which may be empty and need not be whole. `words`
// are those after the name of the program.
WordCompletions CompleteWords(const CLI::App& app, const std::vector<std::string>& words,
                              const NamesForCompletion& names);

// A command line whose words bash has split at ':' and '='.
struct BashWords {
  std::vector<std::string> words;  // joined again
  std::string kept;                // beginning of the last word that bash does not replace by a completion
};
BashWords JoinBashWords(const std::vector<std::string>& words);

// The options in `words` that say where the daemon is and how to reach it, for the command line that asks it. The last
// word is left out, because it may not be whole.
std::vector<std::string> ConnectionOptions(const std::vector<std::string>& words);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COMPLETE_WORDS_H_
