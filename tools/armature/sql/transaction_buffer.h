#ifndef ARMATURE_TOOLS_ARMATURE_SQL_TRANSACTION_BUFFER_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_TRANSACTION_BUFFER_H_

// Statements between BEGIN and COMMIT, executed by one ExecuteTransaction.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/statements.pb.h"
#include "tools/armature/sql/sql_context.h"

namespace armature::cli {

// Statements of ExecuteTransaction.
inline constexpr size_t kTransactionMax = 100;

// Not thread-safe.
class TransactionBuffer {
 public:
  bool is_open() const { return is_open_; }
  size_t size() const { return statements_.size(); }

  // Errors: UsageError if a transaction is open.
  absl::StatusOr<SqlResult> Begin();
  // Adds a PartiQL statement, after the daemon has explained it, so that its faults are found now. Errors: UsageError
  // for one statement too many, and for a read among writes or the other way round; those of the daemon. The
  // transaction stays open, without the statement.
  absl::StatusOr<SqlResult> Add(const SqlContext& context, std::string_view statement,
                                const std::vector<api::v1::AttributeValue>& parameters);
  // Executes all or none. The transaction is over, whatever comes of it. Errors: UsageError if none is open; those of
  // the daemon, with the statements that are the reason.
  absl::StatusOr<SqlResult> Commit(const SqlContext& context);
  absl::StatusOr<SqlResult> Rollback();

 private:
  bool is_open_ = false;
  bool is_read_ = false;  // of the first statement
  std::vector<api::v1::ParameterizedStatement> statements_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_TRANSACTION_BUFFER_H_
