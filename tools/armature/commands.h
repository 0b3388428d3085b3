#ifndef ARMATURE_TOOLS_ARMATURE_COMMANDS_H_
#define ARMATURE_TOOLS_ARMATURE_COMMANDS_H_

// All commands, and the program that runs them.

#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/armature/session.h"

namespace armature::cli {

// Each function adds its commands to `app`. A command on the command line sets *action. Lifetime: `action` must outlive
// `app`.
void AddTableCommands(CLI::App& app, Action* action);
void AddItemCommands(CLI::App& app, Action* action);    // also query and scan
void AddStatusCommands(CLI::App& app, Action* action);  // index, server
void AddCredentialsCommands(CLI::App& app, Action* action);
void AddAdviseCommand(CLI::App& app, Action* action);
void AddVerifyCommand(CLI::App& app, Action* action);
void AddLoadCommand(CLI::App& app, Action* action);
void AddOverviewCommand(CLI::App& app, Action* action);  // status
void AddManualCommands(CLI::App& app, Action* action);   // completion and man, of all commands of `app`
void AddExportCommand(CLI::App& app, Action* action);
void AddImportCommand(CLI::App& app, Action* action);
void AddBackupCommands(CLI::App& app, Action* action);
void AddInspectCommands(CLI::App& app, Action* action);

// Runs the whole tool. `arguments`: those after the program name. Returns the exit code, see ExitCode.
int RunCli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COMMANDS_H_
