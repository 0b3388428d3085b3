#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SQL_RUNNER_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SQL_RUNNER_H_

// Execution of any statement: PartiQL by the daemon, the SQL of docs/reference/shell.md by operations that the daemon
// has.

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/sql/sql_context.h"
#include "tools/armature/sql/sql_token.h"
#include "tools/armature/sql/transaction_buffer.h"

namespace armature::cli {

// Holds the transaction that is open. Not thread-safe.
class SqlRunner {
 public:
  // Executes one statement, without a semicolon at its end, or explains it. Errors: SqlError for a statement that the
  // client refuses, CANCELLED if it was interrupted, those of the daemon. PlaceOf finds their place in `statement`.
  absl::StatusOr<SqlResult> Run(const SqlContext& context, std::string_view statement);

  bool is_in_transaction() const { return transaction_.is_open(); }
  // Errors: UsageError if a transaction is open, whose statements will not be executed.
  absl::Status CheckEnd() const;

 private:
  absl::StatusOr<SqlResult> RunOwn(const SqlContext& context, std::string_view statement,
                                   const std::vector<SqlToken>& tokens);
  absl::StatusOr<SqlResult> RunWrite(const SqlContext& context, std::string_view statement,
                                     const std::vector<SqlToken>& tokens);
  absl::StatusOr<SqlResult> AddToTransaction(const SqlContext& context, std::string_view statement,
                                             const std::vector<SqlToken>& tokens);

  TransactionBuffer transaction_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SQL_RUNNER_H_
