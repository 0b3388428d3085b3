#include "engine/items/transact_common.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/capacity.h"
#include "engine/expr/binder.h"
#include "engine/items/expressions.h"
#include "engine/items/validation_layer.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/item_errors.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"
#include "storage/model/wire.h"

namespace armature::engine {
namespace {

std::string_view CodeOf(ApiErrorType type) {
  switch (type) {
    case ApiErrorType::kConditionalCheckFailed:
      return "ConditionalCheckFailed";
    case ApiErrorType::kItemCollectionSizeLimitExceeded:
      return "ItemCollectionSizeLimitExceeded";
    case ApiErrorType::kTransactionConflict:
      return "TransactionConflict";
    case ApiErrorType::kProvisionedThroughputExceeded:
      return "ProvisionedThroughputExceeded";
    case ApiErrorType::kThrottling:
      return "ThrottlingError";
    default:
      return "ValidationError";
  }
}

bool IsEmptyNameError(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->message == model::kEmptyNameText;
}

// True if an attribute of the item has no name. Malformed bytes count as the end.
bool HasEmptyName(std::string_view item_wire) {
  model::WireField entry;
  while (model::TakeField(&item_wire, &entry)) {
    std::string_view body = entry.bytes;
    std::string_view name;
    model::WireField field;
    while (model::TakeField(&body, &field)) {
      if (field.number == 1) name = field.bytes;
    }
    if (name.empty()) return true;
  }
  return false;
}

}  // namespace

absl::Status TransactValueError(const absl::Status& problem, std::string_view item_wire,
                                const ExpressionParameters& expressions,
                                std::span<const expr::ExpressionKind> known_kinds) {
  constexpr ValidationLayer kLayer = ValidationLayer::kTransaction;
  const bool item_is_deep = NestsBeyond(item_wire, model::kNestingDepthMax - 1);
  if (!IsNestingError(problem) && !(IsEmptyNameError(problem) && item_is_deep)) return problem;
  if (HasEmptyName(item_wire)) return model::EmptyAttributeNameError();
  ARM_RETURN_IF_ERROR(expr::CheckSyntax(expressions, WordingOf(kLayer)));
  const absl::Status bound = BindRequestExpressions(expressions, known_kinds, kLayer, nullptr).status();
  if (!bound.ok() && !IsNestingError(bound)) return bound;
  return item_is_deep ? model::NestingError() : problem;
}

std::string ActionPath(size_t index, std::string_view member) {
  return Cat("transactItems.", index + 1, ".member.", member);
}

void CheckActionCount(bool given, size_t count, model::ConstraintList* constraints) {
  if (!given) return constraints->AddNull("transactItems");
  constraints->CheckLengthMin("'[]'", count, "transactItems", 1);
  constraints->CheckLengthMax("'[...]'", count, "transactItems", model::kTransactActionsMax);
}

void CheckActionTable(const std::optional<std::string>& name_or_arn, absl::FunctionRef<std::string()> path,
                      model::ConstraintList* constraints) {
  if (!name_or_arn.has_value()) return constraints->AddNull(path());
  if (model::IsArn(*name_or_arn) || model::IsName(*name_or_arn, model::kTableNameMinChars)) return;
  model::CheckTableNameShape(*name_or_arn, path(), constraints);
}

absl::Status CheckItemsOnce(std::vector<ItemName> items) {
  const auto name = [](const ItemName& item) { return std::pair(item.table, item.key); };
  std::sort(items.begin(), items.end(), [&](const ItemName& a, const ItemName& b) { return name(a) < name(b); });
  const auto same = [&](const ItemName& a, const ItemName& b) { return name(a) == name(b); };
  if (std::adjacent_find(items.begin(), items.end(), same) == items.end()) return absl::OkStatus();
  return ValidationError("Transaction request cannot include multiple operations on one item");
}

absl::Status CanceledBy(const std::vector<absl::Status>& problems) {
  std::vector<CancellationReason> reasons;
  for (const absl::Status& problem : problems) {
    CancellationReason& reason = reasons.emplace_back();
    if (problem.ok()) continue;
    std::optional<ApiError> error = GetApiError(problem);
    if (!error.has_value()) return problem;
    reason.code = std::string(CodeOf(error->type));
    reason.message = std::move(error->message);
    reason.item = std::move(error->item);
    // The service ends this text with a full stop in a reason, and without one in a single error.
    if (error->type == ApiErrorType::kTransactionConflict) reason.message += '.';
  }
  return TransactionCanceledError(reasons);
}

absl::Status CanceledIfAny(size_t count, absl::FunctionRef<absl::Status(size_t index)> judge) {
  std::vector<absl::Status> problems;
  for (size_t i = 0; i < count; ++i) {
    absl::Status problem = judge(i);
    if (problem.ok()) continue;
    problems.resize(count);
    problems[i] = std::move(problem);
  }
  return problems.empty() ? absl::OkStatus() : CanceledBy(problems);
}

absl::Status CanceledIfRefused(const Parts& parts, size_t count, absl::FunctionRef<TouchedRow(size_t index)> row_of,
                               absl::FunctionRef<absl::Status(const TouchedRow&)> admit) {
  const store::Table* last = nullptr;
  absl::Status of_last;
  return CanceledIfAny(count, [&](size_t i) {
    const TouchedRow row = row_of(i);
    if (&row.table != last) {
      of_last = admit(row);
    } else if (!of_last.ok()) {
      NoteThrottled(parts, row.table, nullptr, row.key);
    }
    last = &row.table;
    return of_last;
  });
}

absl::Status CanceledByOne(size_t index, absl::Status problem, size_t count) {
  std::vector<absl::Status> problems(count);
  problems[index] = std::move(problem);
  return CanceledBy(problems);
}

Deadline LockDeadline(const Parts& parts, const RequestContext& context) {
  return std::min(context.deadline, Deadline::After(parts.options.transaction_wait));
}

absl::Status LockError(const Parts& parts, const RequestContext& context, const absl::Status& error, uint32_t stripe,
                       const std::vector<uint64_t>& rows) {
  if (!absl::IsDeadlineExceeded(error) || context.deadline.has_passed()) return error;
  std::vector<absl::Status> problems(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (parts.locks.StripeOf(rows[i]) == stripe) problems[i] = TransactionConflictError();
  }
  return CanceledBy(problems);
}

}  // namespace armature::engine
