#include "engine/partiql/transaction_answers.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/items/message_memory.h"
#include "engine/partiql/select_run.h"
#include "storage/base/api_error.h"
#include "storage/base/held_memory.h"
#include "storage/base/status_macros.h"

namespace armature::engine::partiql {

absl::StatusOr<TransactStatementsResult> SelectedOf(TransactGetResult got,
                                                    const std::vector<std::shared_ptr<const Columns>>& columns) {
  TransactStatementsResult result;
  result.capacity = std::move(got.capacity);
  size_t bytes = 0;
  size_t memory = got.item_bytes;
  const auto take = [&](size_t item_bytes, size_t item_memory) {
    bytes += item_bytes;
    memory += item_memory;
    if (bytes > kStatementAnswerMaxBytes) return TooLargeAnswerError();
    return got.memory.Cover(memory) ? absl::OkStatus() : NoMemoryForAnswerError();
  };
  for (size_t i = 0; i < got.items.size(); ++i) {
    std::optional<std::string>& item = result.items.emplace_back();
    if (!got.items[i].has_value()) continue;
    const std::string_view source = got.items[i]->view();
    if (columns[i] == nullptr) {
      ARM_RETURN_IF_ERROR(take(source.size(), MessageMemory(source)));
      item = std::string(source);
    } else {
      const Columns::Selection selection = columns[i]->Of(source);
      // As in TransactGetItems, an item without any of the values is answered like a missing one.
      if (selection.empty()) continue;
      ARM_RETURN_IF_ERROR(take(selection.bytes(), selection.Memory()));
      item = selection.Item();
    }
  }
  result.memory = std::move(got.memory);
  return result;
}

absl::Status WithDuplicates(const absl::Status& error, const std::vector<bool>& inserts) {
  std::vector<CancellationReason> reasons = GetCancellationReasons(error);
  if (reasons.size() != inserts.size()) return StatementError(error, PlanKind::kCheck);
  for (size_t i = 0; i < reasons.size(); ++i) {
    if (!inserts[i] || reasons[i].code != "ConditionalCheckFailed") continue;
    // The item is that of the condition.
    reasons[i] = {"DuplicateItem", kDuplicateItemText, {}};
  }
  return TransactionCanceledError(reasons);
}

}  // namespace armature::engine::partiql
