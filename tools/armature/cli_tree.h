#ifndef ARMATURE_TOOLS_ARMATURE_CLI_TREE_H_
#define ARMATURE_TOOLS_ARMATURE_CLI_TREE_H_

// The commands and options of the parser, as a list for completion and manual.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace armature::cli {

struct TreeOption {
  std::vector<std::string> names;   // "--limit", "-h"; empty for an argument without a name
  std::string value;                // placeholder of its value, such as "FILE"; empty for a flag
  std::string description;          // one line or more
  std::vector<std::string> values;  // allowed values; empty: any value
  bool is_required = false;
};

struct TreeCommand {
  std::string path;  // "table create"; empty for the program itself
  std::string description;
  std::string footer;
  std::vector<TreeOption> options;
  std::vector<std::string> subcommands;
};

// The program itself, then all commands, each before its subcommands.
std::vector<TreeCommand> CommandTree(const CLI::App& app);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_CLI_TREE_H_
