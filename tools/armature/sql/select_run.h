#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SELECT_RUN_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SELECT_RUN_H_

// Execution of a SELECT whose groups, order or names the client computes.

#include <string_view>

#include "absl/status/statusor.h"
#include "tools/armature/sql/select_statement.h"
#include "tools/armature/sql/sql_context.h"

namespace armature::cli {

// Reads the items of the PartiQL SELECT that remains without the clauses of ours, and computes the rows. An order that
// the daemon can read in is left to it. COUNT(*) alone counts without a bound; without a condition it is a Scan that
// returns counts. Errors: SqlError; UsageError if it would have to read more than settings.computed_max items; those of
// the daemon.
absl::StatusOr<SqlResult> RunSelect(const SqlContext& context, std::string_view text, const SelectStatement& statement);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SELECT_RUN_H_
