#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_COMMON_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_COMMON_H_

// What the two kinds of transactions have in common: shapes, names of items, and why they are cancelled.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/items/request.h"
#include "engine/parts.h"
#include "storage/model/constraint_list.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Capacity units of an action in a transaction, per unit of the same action alone.
inline constexpr double kTransactionUnitsFactor = 2;

// `transactItems.<n>.member.<member>`; `index` counts from 0.
std::string ActionPath(size_t index, std::string_view member);

// TransactItems is there and has 1 to 100 elements.
void CheckActionCount(bool given, size_t count, model::ConstraintList* constraints);
// The name of a table inside an action. The parts of an ARN are judged by model::CheckTableReference, later.
void CheckActionTable(const std::optional<std::string>& name_or_arn, const std::string& path,
                      model::ConstraintList* constraints);

// What makes two actions one item's: table and key.
struct ItemName {
  TableId table;
  std::string_view key;
};
// No two the same. Errors: ValidationException.
absl::Status CheckItemsOnce(const std::vector<ItemName>& items);

// TransactionCanceledException: `problems` has a status for each action, of which at least one is an API error. Others
// than API errors are returned as they are.
absl::Status CanceledBy(const std::vector<absl::Status>& problems);
// The same with what `judge` says of each of `count` actions, in their order; OK if it has nothing against any.
absl::Status CanceledIfAny(size_t count, absl::FunctionRef<absl::Status(size_t index)> judge);
// The same with one problem among `count` actions.
absl::Status CanceledByOne(size_t index, absl::Status problem, size_t count);
// CanceledIfAny with whether the table of each action has capacity: `admit` is asked once for neighbours of one table.
absl::Status CanceledIfRefused(size_t count, absl::FunctionRef<const store::Table&(size_t index)> table_of,
                               absl::FunctionRef<absl::Status(const store::Table&)> admit);

// Until when a transaction waits for its items.
absl::Time LockDeadline(const Parts& parts, const RequestContext& context);
// Why the locks of `rows` were not to be had: the error of LockTable::AcquireAll as the client learns it.
absl::Status LockError(const Parts& parts, const RequestContext& context, const absl::Status& error, uint32_t stripe,
                       const std::vector<uint64_t>& rows);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_COMMON_H_
