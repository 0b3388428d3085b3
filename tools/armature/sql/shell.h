#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SHELL_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SHELL_H_

// The interactive form of the command sql.

#include <cstdint>

#include "armature/client/client.h"
#include "tools/armature/session.h"
#include "tools/armature/sql/console.h"
#include "tools/armature/sql/interrupt.h"

namespace armature::cli {

// Items that a statement prints, unless the user asks for another number.
inline constexpr int64_t kShellLimit = 1000;

// Printed when Ctrl-C is noted.
extern const char kInterruptNotice[];

// Reads statements from the terminal until \q or Ctrl-D. Errors are printed, and the shell goes on.
void RunShell(const Session& session, client::Client client, Console::Options options, Interrupt* interrupt);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SHELL_H_
