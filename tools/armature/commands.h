#ifndef ARMATURE_TOOLS_ARMATURE_COMMANDS_H_
#define ARMATURE_TOOLS_ARMATURE_COMMANDS_H_

// The groups of commands, and what runs them. One file for each group.

#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/armature/session.h"

namespace armature::cli {

// Each adds its commands to `app`. When the command line names one of them, it sets *action, which
// must live as long as `app`.
void AddTableCommands(CLI::App& app, Action* action);        // table create, update, describe, list, delete
void AddItemCommands(CLI::App& app, Action* action);         // item put, get, delete
void AddReadCommands(CLI::App& app, Action* action);         // query, scan
void AddStatusCommands(CLI::App& app, Action* action);       // index status, server info
void AddCredentialsCommands(CLI::App& app, Action* action);  // credentials new
void AddAdviseCommand(CLI::App& app, Action* action);        // advise
void AddVerifyCommand(CLI::App& app, Action* action);        // verify
void AddLoadCommand(CLI::App& app, Action* action);          // load
void AddOverviewCommand(CLI::App& app, Action* action);      // status
// completion, man. They tell of all commands that `app` has when they run.
void AddManualCommands(CLI::App& app, Action* action);
void AddExportCommand(CLI::App& app, Action* action);    // export
void AddImportCommand(CLI::App& app, Action* action);    // import
void AddBackupCommands(CLI::App& app, Action* action);   // backup create, cancel, list, verify, delete, restore ...
void AddInspectCommands(CLI::App& app, Action* action);  // inspect directory, catalog, rows, log, meta, key

// The rest of the group "table": tag, untag, tags, ttl.
void AddTableSettingCommands(CLI::App& group, Action* action);

// The whole tool. `arguments` are those after the program's name. Answers the exit code, see
// ExitCode.
int RunCli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COMMANDS_H_
