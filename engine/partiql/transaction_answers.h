#ifndef ARMATURE_ENGINE_PARTIQL_TRANSACTION_ANSWERS_H_
#define ARMATURE_ENGINE_PARTIQL_TRANSACTION_ANSWERS_H_

// Answers of ExecuteTransaction, made of those of TransactGetItems and TransactWriteItems.

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/items/request.h"
#include "engine/partiql/columns.h"
#include "engine/partiql/statements.h"

namespace armature::engine::partiql {

// The answer of reads. `columns`: of each statement; null: all of its item. Takes the memory of each item before it is
// made. Errors: ServiceUnavailable without memory; TooLargeAnswerError.
absl::StatusOr<TransactStatementsResult> SelectedOf(TransactGetResult got,
                                                    const std::vector<std::shared_ptr<const Columns>>& columns);

// `error` of writes as the error of statements: an INSERT fails because of a duplicate, not because of the condition
// that finds it. `inserts`: which statements are INSERTs.
absl::Status WithDuplicates(const absl::Status& error, const std::vector<bool>& inserts);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_TRANSACTION_ANSWERS_H_
