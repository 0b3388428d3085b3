#ifndef ARMATURE_STORAGE_BASE_TRANSACTION_ERROR_H_
#define ARMATURE_STORAGE_BASE_TRANSACTION_ERROR_H_

// Errors of transactions, and of requests that conflict with one.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace armature {

// Result of one action of a cancelled transaction.
struct CancellationReason {
  std::string code = "None";  // as documented: "None", "ConditionalCheckFailed", "TransactionConflict", ...
  std::string message;        // empty with "None"
  std::string item;           // wire form of the stored item; empty if not requested or if no item exists
};

// TransactionCanceledException with one reason per action, in order.
absl::Status TransactionCanceledError(const std::vector<CancellationReason>& reasons);
// The reasons in `status`; empty if it has none.
std::vector<CancellationReason> GetCancellationReasons(const absl::Status& status);

// The item is locked by a transaction.
absl::Status TransactionConflictError();
// A transaction with the same token is in progress.
absl::Status TransactionInProgressError();
// The token was used for a different request.
absl::Status IdempotentParameterMismatchError();

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_TRANSACTION_ERROR_H_
