#ifndef ARMATURE_TOOLS_ARMATURE_UNKNOWN_WORD_H_
#define ARMATURE_TOOLS_ARMATURE_UNKNOWN_WORD_H_

// The error message for a mistyped command or option.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace armature::cli {

// "unknown command 'tabel'; did you mean 'table'?", or the like for a long option, of the first word among `arguments`
// that `app` does not know; empty if it knows all. For arguments that the parser has refused: its own messages name
// a word only after all other faults, and never the nearest known one.
std::string UnknownWord(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_UNKNOWN_WORD_H_
