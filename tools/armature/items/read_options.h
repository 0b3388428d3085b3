#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_READ_OPTIONS_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_READ_OPTIONS_H_

// Options of the short commands about the form of items in answers.

#include <cstddef>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "tools/armature/items/item_printer.h"
#include "tools/armature/session.h"

namespace armature::cli {

struct ShownItems {
  bool is_typed = false;
  bool is_wide = false;
};

// Adds --typed and --wide.
void AddShownItems(CLI::App& command, ShownItems* shown);

// The style for a list of items; a single item sets is_single. Errors: UsageError.
absl::StatusOr<ItemStyle> StyleOf(const Session& session, const ShownItems& shown);

// Says on a terminal how many columns of a table had no room.
void TellHiddenColumns(const Session& session, size_t hidden);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_READ_OPTIONS_H_
