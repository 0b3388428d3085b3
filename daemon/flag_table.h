#ifndef ARMATURE_DAEMON_FLAG_TABLE_H_
#define ARMATURE_DAEMON_FLAG_TABLE_H_

// All flags of armatured.

#include <span>
#include <string_view>

#include "daemon/flag_row.h"

namespace armature::daemon {

// Flags about the command line itself, which a file of flags may not set.
inline constexpr std::string_view kCommandLineGroup = "Configuration";

// In the order of help. Rows of a group are next to each other.
std::span<const FlagRow> FlagTable();

// Null if there is no such flag.
const FlagRow* FindFlag(std::string_view name);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_FLAG_TABLE_H_
