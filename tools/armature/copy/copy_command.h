#ifndef ARMATURE_TOOLS_ARMATURE_COPY_COPY_COMMAND_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_COPY_COMMAND_H_

#include <CLI/CLI.hpp>

#include "tools/armature/session.h"

namespace armature::cli {

// Adds `copy`. Lifetime: `action` must outlive `app`.
void AddCopyCommand(CLI::App& app, Action* action);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_COPY_COMMAND_H_
