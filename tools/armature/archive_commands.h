#ifndef ARMATURE_TOOLS_ARMATURE_ARCHIVE_COMMANDS_H_
#define ARMATURE_TOOLS_ARMATURE_ARCHIVE_COMMANDS_H_

// The commands of continuous archives: list, verify and restore, without the daemon, and restore-table.

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/armature/command.h"

namespace armature::cli {

// Adds the group `archive` to `app`. Lifetime: `action` must outlive `app`.
void AddArchiveCommands(CLI::App& app, Action* action);

// A moment as people write it, in milliseconds since 1970: RFC 3339, or a date and a time in UTC with a blank between
// them, with or without "UTC" behind. Nullopt: it is something else.
std::optional<int64_t> ParseMoment(std::string_view text);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ARCHIVE_COMMANDS_H_
