#ifndef ARMATURE_TOOLS_ARMATURE_COMMANDS_H_
#define ARMATURE_TOOLS_ARMATURE_COMMANDS_H_

// The functions that add the commands to the parser, one file for each group.

#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/armature/session.h"

namespace armature::cli {

// Each function adds its commands to `app`. A command on the command line sets *action. Lifetime: `action` must outlive
// `app`.
void AddTableCommands(CLI::App& app,
                      Action* action);  // table create, update, delete, tag, untag, tags, ttl, describe, list
void AddItemCommands(CLI::App& app, Action* action);         // item put, get, update, delete
void AddReadCommands(CLI::App& app, Action* action);         // query, scan
void AddStatusCommands(CLI::App& app, Action* action);       // index status, violations; server info
void AddCredentialsCommands(CLI::App& app, Action* action);  // credentials new
void AddAdviseCommand(CLI::App& app, Action* action);        // advise
void AddVerifyCommand(CLI::App& app, Action* action);        // verify
void AddLoadCommand(CLI::App& app, Action* action);          // load
void AddOverviewCommand(CLI::App& app, Action* action);      // status
// completion, man. They run on all commands of `app`.
void AddManualCommands(CLI::App& app, Action* action);
void AddExportCommand(CLI::App& app, Action* action);    // export
void AddImportCommand(CLI::App& app, Action* action);    // import
void AddBackupCommands(CLI::App& app, Action* action);   // backup create, cancel, list, verify, delete, restore ...
void AddInspectCommands(CLI::App& app, Action* action);  // inspect directory, catalog, rows, log, meta, key

// Runs the whole tool. `arguments`: those after the program name. Returns the exit code, see ExitCode.
int RunCli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COMMANDS_H_
