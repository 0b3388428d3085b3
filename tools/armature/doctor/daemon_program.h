#ifndef ARMATURE_TOOLS_ARMATURE_DOCTOR_DAEMON_PROGRAM_H_
#define ARMATURE_TOOLS_ARMATURE_DOCTOR_DAEMON_PROGRAM_H_

// The check of a configuration file that the daemon makes itself: only the daemon knows all its flags.

#include <string>

#include "absl/status/statusor.h"

namespace armature::cli {

// The fault in a configuration file, as `armatured --config=FILE --print_config` tells it on one line; empty: none. The
// program is the one beside this program, or else that of PATH. Errors: NotFound without a program; Unavailable if it
// does not end within 10 s.
absl::StatusOr<std::string> FindConfigFault(const std::string& config);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DOCTOR_DAEMON_PROGRAM_H_
