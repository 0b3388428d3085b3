#ifndef ARMATURE_TOOLS_ARMATURE_CLI_TREE_H_
#define ARMATURE_TOOLS_ARMATURE_CLI_TREE_H_

// What can be typed, read off the parser itself, so that completion and manual never lag behind it.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace armature::cli {

struct TreeOption {
  std::vector<std::string> names;   // "--limit", "-h"; empty for an argument without a name
  std::string value;                // what stands behind it, such as "FILE"; empty for a flag
  std::string description;          // one line or more
  std::vector<std::string> values;  // all that may stand there; empty: anything
  bool is_required = false;
};

struct TreeCommand {
  std::string path;  // "table create"; empty for the program itself
  std::string description;
  std::string footer;
  std::vector<TreeOption> options;
  std::vector<std::string> subcommands;
};

// The program first, then all commands, each before those below it.
std::vector<TreeCommand> CommandTree(const CLI::App& app);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_CLI_TREE_H_
