#ifndef ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_COMMAND_H_
#define ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_COMMAND_H_

// The command schema.

#include <CLI/CLI.hpp>

#include "tools/armature/session.h"

namespace armature::cli {

// Like the functions of command.h.
void AddSchemaCommands(CLI::App& app, Action* action);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SCHEMA_SCHEMA_COMMAND_H_
