#ifndef ARMATURE_TOOLS_ARMATURE_ERROR_HINTS_H_
#define ARMATURE_TOOLS_ARMATURE_ERROR_HINTS_H_

// Advice beside the error of a command, for people.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "tools/armature/session.h"

namespace armature::cli {

// Sentences that help after `status`, the error of a command of `app`: names of tables that exist, keys with their
// types, options that would do it. Empty if there is nothing to say. May ask the daemon, for two seconds at most each
// time, and leaves out what it does not tell.
std::vector<std::string> HintsFor(const Session& session, const CLI::App& app, const absl::Status& status);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ERROR_HINTS_H_
