#ifndef ARMATURE_TOOLS_ARMATURE_TABLES_USED_TABLE_H_
#define ARMATURE_TOOLS_ARMATURE_TABLES_USED_TABLE_H_

// The table that `armature use` has remembered for an endpoint, for commands that name none.
//
// Each endpoint has a file with the name of its table, in $XDG_STATE_HOME/armature/used-table or
// ~/.local/state/armature/used-table.

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/armature/session.h"

namespace armature::cli {

// The remembered table of the session's endpoint; absent if there is none, or no state directory. The daemon is not
// asked: the table may be gone.
std::optional<std::string> UsedTable(const Session& session);

// Remembers the table; an empty name forgets it. Errors: InputError if the file cannot be written.
absl::Status SetUsedTable(const Session& session, std::string_view table);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TABLES_USED_TABLE_H_
