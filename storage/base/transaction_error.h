#ifndef ARMATURE_STORAGE_BASE_TRANSACTION_ERROR_H_
#define ARMATURE_STORAGE_BASE_TRANSACTION_ERROR_H_

// Errors of transactions, and of what meets one.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace armature {

// What became of one action of a cancelled transaction.
struct CancellationReason {
  std::string code = "None";  // as documented: "None", "ConditionalCheckFailed", "TransactionConflict", ...
  std::string message;        // empty with "None"
  std::string item;           // wire form of the stored item; empty if it was not asked for or does not exist
};

// TransactionCanceledException with a reason for each action, in their order.
absl::Status TransactionCanceledError(const std::vector<CancellationReason>& reasons);
// The reasons in `status`; empty if it has none.
std::vector<CancellationReason> GetCancellationReasons(const absl::Status& status);

// A write of an item that a transaction holds.
absl::Status TransactionConflictError();
// A transaction with the same token is under way.
absl::Status TransactionInProgressError();
// The token was used for another request.
absl::Status IdempotentParameterMismatchError();

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_TRANSACTION_ERROR_H_
