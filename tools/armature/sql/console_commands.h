#ifndef ARMATURE_TOOLS_ARMATURE_SQL_CONSOLE_COMMANDS_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_CONSOLE_COMMANDS_H_

// The work of the commands \d, \copy and \e.

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "armature/client/client.h"
#include "tools/armature/sql/sql_context.h"

namespace armature::cli {

// A table with a line for each table, or for the table and each of its indexes. Errors: those of the daemon.
absl::StatusOr<std::string> DescribedTables(const client::Client& client, const std::function<bool()>& is_interrupted);
absl::StatusOr<std::string> DescribedTable(const client::Client& client, const std::string& name);

// The arguments of \copy.
struct CopyArguments {
  std::string table;
  bool is_to = false;  // from the table to the file
  std::string path;
};

// Parses: TABLE to|from FILE, where FILE and TABLE may stand in quotes. Errors: UsageError, also for the name of a
// compressed file to write: nothing is compressed.
absl::StatusOr<CopyArguments> ParseCopy(std::string_view arguments);

// Copies all items, and returns what was done. A file whose name ends with .csv has comma-separated values, any other
// one JSON lines. A target that exists is replaced at the end, and is as it was after an error. Errors: InputError for
// files, CANCELLED, those of the daemon.
absl::StatusOr<std::string> RunCopy(const SqlContext& context, const CopyArguments& copy);

// Runs the user's editor on the file, or on a temporary one with `text` for an empty path. Returns the text of the file
// after it. Errors: InputError.
absl::StatusOr<std::string> EditText(const std::string& path, std::string_view text);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_CONSOLE_COMMANDS_H_
