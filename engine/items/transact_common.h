#ifndef ARMATURE_ENGINE_ITEMS_TRANSACT_COMMON_H_
#define ARMATURE_ENGINE_ITEMS_TRANSACT_COMMON_H_

// Common parts of the two kinds of transactions: shapes, item names, and cancellation.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/items/request.h"
#include "engine/parts.h"
#include "engine/read_step.h"
#include "engine/request_trace.h"
#include "storage/model/constraint_list.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/commit/lock_table.h"

namespace armature::engine {

// Capacity units of an action in a transaction, per unit of the same action alone.
inline constexpr double kTransactionUnitsFactor = 2;

// `transactItems.<n>.member.<member>`; `index` counts from 0.
std::string ActionPath(size_t index, std::string_view member);

// Checks that TransactItems is present and has 1 to 100 elements.
void CheckActionCount(bool given, size_t count, model::ConstraintList* constraints);
// Checks the table name of an action. model::CheckTableReference checks the parts of an ARN later.
void CheckActionTable(const std::optional<std::string>& name_or_arn, absl::FunctionRef<std::string()> path,
                      model::ConstraintList* constraints);

// The error of an action whose values or expressions were refused with `problem`. The nesting depth of values is judged
// after attributes without a name and after the expressions with their placeholders, but before empty keys of maps.
// `item_wire`: the item or key, as sent.
absl::Status TransactValueError(const absl::Status& problem, std::string_view item_wire,
                                const ExpressionParameters& expressions,
                                std::span<const expr::ExpressionKind> known_kinds);

// Identity of an item: table and key.
struct ItemName {
  TableId table;
  std::string_view key;
};
// Checks that no item occurs twice. Errors: ValidationException.
absl::Status CheckItemsOnce(std::vector<ItemName> items);

// Returns TransactionCanceledException. `problems` has a status for each action, at least one of them an API error.
// Other errors are returned unchanged.
absl::Status CanceledBy(const std::vector<absl::Status>& problems);
// CanceledBy with the results of `judge` for each of `count` actions, in order. OK if all are OK.
absl::Status CanceledIfAny(size_t count, absl::FunctionRef<absl::Status(size_t index)> judge);
// CanceledBy with the problem of one action among `count`.
absl::Status CanceledByOne(size_t index, absl::Status problem, size_t count);
// The row that an action is about.
struct TouchedRow {
  const store::Table& table;
  std::string_view key;
};
// Applies `admit` to the row of each action, once for consecutive actions on one table, and cancels as CanceledIfAny. A
// refusal counts for the keys of all these actions.
absl::Status CanceledIfRefused(const Parts& parts, size_t count, absl::FunctionRef<TouchedRow(size_t index)> row_of,
                               absl::FunctionRef<absl::Status(const TouchedRow&)> admit);

// Time until which a transaction waits for its row locks.
Deadline LockDeadline(const Parts& parts, const RequestContext& context);
// Translates an error of LockTable::AcquireAll for `rows` to the client's error.
absl::Status LockError(const Parts& parts, const RequestContext& context, const absl::Status& error, uint32_t stripe,
                       const std::vector<uint64_t>& rows);

// Locks the rows of a transaction, whose hashes are its `locks`, and runs kStep (RunStep) when it holds them.
// `trace`: of the wait for the locks; may be null.
template <auto kStep, class Transaction>
void LockAndRun(const std::shared_ptr<Transaction>& transaction, std::shared_ptr<RequestTrace> trace) {
  Parts* const parts = transaction->parts;
  const int64_t begin_ns = RequestTrace::Begin(trace);
  parts->locks.AcquireAll(
      transaction->locks, LockDeadline(*parts, transaction->context),
      [transaction, trace = std::move(trace), begin_ns](absl::StatusOr<store::LockTable::Guard> guard,
                                                        uint32_t stripe) {
        RequestTrace::End(trace, WaitFor::kLock, begin_ns);
        absl::Status ready = guard.status();
        if (!ready.ok()) {
          ready = LockError(*transaction->parts, transaction->context, ready, stripe, transaction->locks);
        } else {
          transaction->guard = *std::move(guard);
          ready = CheckStillWanted(transaction->context);
        }
        if (!ready.ok()) return transaction->End(ready);
        RunStep<kStep>(RunHolder, transaction, store::ReadMode::kMemoryOnly);
      },
      sizeof(Transaction) + 2 * transaction->request.message_bytes);
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_TRANSACT_COMMON_H_
