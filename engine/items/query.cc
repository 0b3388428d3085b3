#include <utility>
#include <vector>

#include "engine/expr/condition_eval.h"
#include "engine/expr/key_condition.h"
#include "engine/expr/projection.h"
#include "engine/items/key_range.h"
#include "engine/items/page_reader.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::engine {
namespace {

// True if the condition selects a single sort key, equal to the start key's.
bool HasTheOnlySortKey(const ReadPlan& plan, const expr::MatchedKeyCondition& matched) {
  const std::vector<model::KeyAttribute>& sort = plan.key_schema().sort;
  if (sort.empty() || matched.sort_equal.size() != sort.size()) return false;
  const model::ItemView start_key(*plan.start_key);
  for (size_t i = 0; i < sort.size(); ++i) {
    if (start_key.Find(sort[i].name)->scalar() != matched.sort_equal[i].scalar()) return false;
  }
  return true;
}

// Narrows the plan's range to the rows behind the start key.
absl::Status ApplyStartKey(const PartitionRange& wanted, const expr::MatchedKeyCondition& matched, ReadPlan* plan) {
  if (!plan->start_key.has_value()) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const std::string key,
                       EncodeStartKey(ReadKind::kQuery, plan->table(), plan->index, model::ItemView(*plan->start_key)));
  if (!key.starts_with(wanted.partition)) {
    if (plan->key_schema().partition.size() == 1 && HasTheOnlySortKey(*plan, matched)) {
      return ValidationError("The query can return at most one row and cannot be restarted");
    }
    return ValidationError("The provided starting key is outside query boundaries based on provided conditions");
  }
  if (key < wanted.range.begin || (!wanted.range.end.empty() && key >= wanted.range.end)) {
    return ValidationError("The provided starting key does not match the range key predicate");
  }
  StartAfter(key, plan->direction, &plan->range);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<ReadPlan>> PlanQuery(Parts* parts, ReadRequest request) {
  auto plan = std::make_shared<ReadPlan>();
  plan->kind = ReadKind::kQuery;
  plan->request = std::move(request);
  plan->direction = plan->request.scan_index_forward ? store::Direction::kForward : store::Direction::kReverse;
  ARM_RETURN_IF_ERROR(CheckReadRequest(plan.get()));
  const ExpressionParameters& parameters = plan->request.expressions;
  const bool legacy = parameters.legacy.key_conditions.has_value() && !parameters.legacy.key_conditions->empty();
  if (!parameters.key_condition.has_value() && !legacy) {
    return ValidationError(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  ARM_RETURN_IF_ERROR(BindExpressionParameters(parameters, expr::kQueryKinds, &parts->parse_cache, &plan->expressions));
  ARM_RETURN_IF_ERROR(FindKeyspace(*parts->database, plan.get()));
  const model::KeySchema& schema = plan->key_schema();
  if (plan->start_key.has_value()) {
    // The shape of the start key is checked before the key condition.
    ARM_RETURN_IF_ERROR(
        EncodeStartKey(ReadKind::kQuery, plan->table(), plan->index, model::ItemView(*plan->start_key)).status());
  }
  ARM_ASSIGN_OR_RETURN(const expr::MatchedKeyCondition matched,
                       expr::MatchKeyCondition(*plan->expressions->bound.key_condition, schema));
  const PartitionRange wanted = RangeOfCondition(matched, schema);
  plan->range = wanted.range;
  ARM_RETURN_IF_ERROR(ApplyStartKey(wanted, matched, plan.get()));
  if (plan->projection() != nullptr) {
    ARM_RETURN_IF_ERROR(expr::CheckKeysAreWhole(*plan->projection(), schema, plan->index != nullptr));
  }
  if (plan->filter() != nullptr) {
    const std::string_view name = parameters.legacy.query_filter.has_value() ? "QueryFilter" : "Filter Expression";
    ARM_RETURN_IF_ERROR(expr::CheckFilterAvoidsKeys(name, *plan->filter(), schema));
  }
  ARM_RETURN_IF_ERROR(CheckSelect(plan.get()));
  return plan;
}

}  // namespace armature::engine
