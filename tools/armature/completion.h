#ifndef ARMATURE_TOOLS_ARMATURE_COMPLETION_H_
#define ARMATURE_TOOLS_ARMATURE_COMPLETION_H_

// Completion of command lines in the shells that people use.

#include <string>
#include <vector>

#include "tools/armature/cli_tree.h"

namespace armature::cli {

// Scripts for the shell to read: commands, options, and their values where these are fixed; else files.
std::string BashCompletion(const std::vector<TreeCommand>& commands);
std::string ZshCompletion(const std::vector<TreeCommand>& commands);
std::string FishCompletion(const std::vector<TreeCommand>& commands);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COMPLETION_H_
