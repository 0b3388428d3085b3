#ifndef ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_ARGUMENTS_H_
#define ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_ARGUMENTS_H_

// Tables of all commands, however they are named: by --table-name, as a word (`describe orders`), or by `armature use`.

#include <map>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/session.h"

namespace armature::cli {

// True if the words of the command begin with its table unless --table-name names it: `load TABLE FILE`. For commands
// that a TableArguments was made for.
bool TakesTableFirst(const CLI::App& command);

// Applies to each command that has an option --table-name or an argument TABLE.
//
// Lifetime: must not outlive the parser. Not thread-safe.
class TableArguments {
 public:
  // Gives an argument TABLE to each command with --table-name that has no arguments, and a mark to arguments that may
  // begin with the table. The table is not required by the parser any more, but by Fill.
  explicit TableArguments(CLI::App& app);

  // Fills in a missing table of the parsed command: the first of its words if it has more than it needs
  // (`load orders FILE`) and it is no file, else the table in use. The table in use is also meant by `.` and `./INDEX`
  // in each place of a table, and if the word in the place of the table is a key or a condition (`get K9`, `query
  // status=open`). Errors: UsageError if something required stays missing, for `.` without a table in use or with a
  // command that never takes it, and for `del T` if there is a table T. Throws CLI::ParseError for words that an
  // argument does not take.
  absl::Status Fill(const Session& session) const;

 private:
  struct Place {
    CLI::Option* table = nullptr;
    CLI::Option* long_form = nullptr;  // another option for the table; null: none
    bool is_argument = false;          // `table` is an argument TABLE
    CLI::Option* rest = nullptr;       // the argument behind an argument TABLE; null: none
    bool is_rest_required = false;
    CLI::Option* words = nullptr;  // the argument of the command that may begin with the table; null: none
    bool is_required = false;
    bool may_be_used = false;      // the table in use may be meant
    bool asks_before_key = false;  // a single word that names a table is not taken for a key of the table in use
  };

  void Visit(CLI::App& command, const std::string& path);
  // Makes the word in the place of the table the first one of the rest, with the table in use: `get KEY`, and words
  // that cannot name a table.
  static absl::Status FillRest(const Place& place, const std::optional<std::string>& used, const Session& session);
  // True if the first of the words is the table. With a table in use, a file that exists is none.
  static absl::StatusOr<bool> BeginsWithTable(const Place& place, const std::optional<std::string>& used,
                                              const Session& session);
  // Makes the first of the words the table, if it is one.
  static absl::Status FillFromWords(const Place& place, const std::optional<std::string>& used, const Session& session);
  // Replaces `.` and `./INDEX`.
  static absl::Status FillDot(const Place& place, const std::optional<std::string>& used, CLI::Option* option);

  CLI::App& app_;
  std::map<const CLI::App*, Place> places_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_ARGUMENTS_H_
