#ifndef ARMATURE_TOOLS_ARMATURE_SQL_BULK_WRITE_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_BULK_WRITE_H_

// UPDATE and DELETE of all items that meet a condition:
//
//   UPDATE table SET|REMOVE ... [WHERE condition] [DRY RUN] [WITH RATELIMIT n]
//   DELETE FROM table [WHERE condition] [DRY RUN] [WITH RATELIMIT n]
//
// Actions and condition are PartiQL, and remain text.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/sql/error_place.h"
#include "tools/armature/sql/sql_context.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {

struct BulkStatement {
  bool is_update = false;
  std::string table;
  TextPlace target;                // the table
  TextPlace actions;               // of UPDATE: SET and REMOVE
  size_t action_parameters = 0;    // question marks in them
  std::optional<TextPlace> where;  // the condition, without WHERE
  size_t where_parameters = 0;     // question marks in it
  std::optional<TextPlace> returning;
  std::optional<TextPlace> options;  // DRY RUN and WITH RATELIMIT
  bool is_dry_run = false;
  std::optional<int64_t> rate;  // items per second
};

// Nullopt for a statement that is neither UPDATE nor DELETE of a table. Errors: SqlError for options of ours that are
// not well formed. Cost: linear; no recursion.
absl::StatusOr<std::optional<BulkStatement>> ParseBulk(const std::vector<SqlToken>& tokens);

// True if the daemon has refused a statement because it does not name the whole key of one item.
bool LacksWholeKey(const absl::Status& status);

// Reads the keys of the items that meet the condition, asks with their number, and writes each item that still meets
// the condition; or explains that. With --yes nothing is counted first. An interrupt ends it between batches of items;
// the result says how far it came. Errors: UsageError if the statement has more or fewer question marks than there are
// parameters; ABORTED if items could not be written, after all others; those of Session::Confirm and of the daemon.
absl::StatusOr<SqlResult> RunBulk(const SqlContext& context, std::string_view text, const BulkStatement& statement);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_BULK_WRITE_H_
