#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SHELL_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SHELL_H_

// The interactive form of the command sql.

#include <cstdint>

#include "absl/status/status.h"
#include "armature/api/v1/statements.pb.h"
#include "armature/client/client.h"
#include "tools/armature/session.h"

namespace armature::cli {

// Items that a statement prints, unless the user asks for another number.
inline constexpr int64_t kShellLimit = 1000;

// Reads statements from the terminal until \q or Ctrl-D. Errors are printed, and the shell goes on. `request`: the
// settings of the statements. `limit`: as --limit; 0: kShellLimit.
absl::Status RunShell(const Session& session, client::Client client, api::v1::ExecuteStatementRequest request,
                      int64_t limit);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SHELL_H_
