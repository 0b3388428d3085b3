#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_ACTIONS_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_ACTIONS_H_

// From the request of TransactWriteItems to rows to write: everything that is checked before an item is looked at.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/items/row_write.h"
#include "engine/items/transact_request.h"
#include "engine/parts.h"

namespace armature::engine {

struct TransactRows {
  std::vector<std::unique_ptr<RowWrite>> rows;  // one for each action
  // What is wrong with keys, by action: cancels the transaction, where an error of PrepareTransactRows refuses it.
  std::vector<absl::Status> key_problems;
};

// Takes the actions out of `request`. Errors, in the documented order: ValidationException, ResourceNotFoundException.
absl::Status PrepareTransactRows(Parts* parts, TransactWriteRequest* request, TransactRows* rows);

// What tells the request from others with the same token: the same for requests that mean the same, whatever the
// protocol and the order of attributes. `rows` were made of it.
std::string FingerprintOf(const TransactWriteRequest& request, const TransactRows& rows);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_ACTIONS_H_
