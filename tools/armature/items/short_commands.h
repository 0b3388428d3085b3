#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_SHORT_COMMANDS_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_SHORT_COMMANDS_H_

// The short commands for items, whose arguments are words and plain JSON.

#include <CLI/CLI.hpp>

#include "tools/armature/session.h"

namespace armature::cli {

void AddShortWriteCommands(CLI::App& app, Action* action);  // put, get, del, update
void AddCountCommand(CLI::App& app, Action* action);
void AddTruncateCommand(CLI::App& app, Action* action);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_SHORT_COMMANDS_H_
