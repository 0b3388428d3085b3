#ifndef ARMATURE_TOOLS_ARMATURE_SQL_TABLE_RUN_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_TABLE_RUN_H_

// Execution of statements about tables.

#include "absl/status/statusor.h"
#include "tools/armature/sql/sql_context.h"
#include "tools/armature/sql/table_statement.h"

namespace armature::cli {

// Executes the statement by CreateTable, UpdateTable, UpdateTimeToLive, DeleteTable and the operations that describe
// tables, and waits for a new table, until its changes are done, or until the session's deadline; or explains it. DROP
// asks first. Errors: SqlError; those of Session::Confirm and of the daemon. After an error a statement with several
// settings may have changed some of them.
absl::StatusOr<SqlResult> RunTableStatement(const SqlContext& context, const TableStatement& statement);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_TABLE_RUN_H_
