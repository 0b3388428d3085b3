#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_ACTIONS_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_ACTIONS_H_

// Converts a TransactWriteItems request to rows to write. Makes all checks that need no item.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/items/row_write.h"
#include "engine/items/transact_request.h"
#include "engine/parts.h"

namespace armature::engine {

struct TransactRows {
  std::vector<std::unique_ptr<RowWrite>> rows;  // one per action
  // Key errors by action. They cancel the transaction, whereas an error of PrepareTransactRows refuses it.
  std::vector<absl::Status> key_problems;
};

// Moves the actions out of `request`. Errors, in the documented order: ValidationException, ResourceNotFoundException.
absl::Status PrepareTransactRows(Parts* parts, TransactWriteRequest* request, TransactRows* rows);

// Fingerprint of a request with a token. Requests with the same meaning have the same fingerprint, regardless of
// protocol and attribute order. `rows` were made from `request`.
std::string FingerprintOf(const TransactWriteRequest& request, const TransactRows& rows);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_ACTIONS_H_
