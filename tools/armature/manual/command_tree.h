#ifndef ARMATURE_TOOLS_ARMATURE_MANUAL_COMMAND_TREE_H_
#define ARMATURE_TOOLS_ARMATURE_MANUAL_COMMAND_TREE_H_

// The commands of the parser, for pages about them.
//
// Thread-safety: free functions without state.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace armature::cli {

// A command of the parser.
struct KnownCommand {
  std::string path;  // "table create"; empty for the program itself
  const CLI::App* app;
};

// The program, then all commands, each before its subcommands. Hidden ones are left out.
std::vector<KnownCommand> CommandsOf(const CLI::App& app);

// True if it has subcommands, and does nothing itself.
bool IsGroup(const CLI::App& command);

// "--limit", "-h"; none for an argument without a name.
std::vector<std::string> OptionNamesOf(const CLI::Option& option);

// The word for the value of an option: "json|table", "NAME", "VALUE". Empty for a flag.
std::string ValueNameOf(const CLI::Option& option);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_MANUAL_COMMAND_TREE_H_
