#include "engine/partiql/plan_facts.h"

#include <optional>
#include <string>
#include <vector>

#include "engine/items/access_facts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/item_view.h"

namespace armature::engine::partiql {
namespace {

using access::ConditionKey;
using access::Facts;

// Each condition of the WHERE clause is in the key or in the filter of a read.
absl::StatusOr<Facts> FactsOfQueries(const store::Database& database, const Plan& plan) {
  ARM_ASSIGN_OR_RETURN(Facts facts, FactsOf(database, /*is_scan=*/false, plan.RequestOf(0)));
  if (plan.queries.size() == 1) return facts;
  Facts others;
  ForEachPath(*plan.statement->where, [&others](const expr::DocumentPath& path) {
    others[ConditionKey::kAttributes].push_back(path.attribute());
  });
  for (const KeyedRead& query : plan.queries) {
    const std::optional<model::ValueView> value = model::ValueView::FromWire(*query.key.partition.front());
    if (!value.has_value()) return ValidationError("The value of a key attribute cannot be read");
    others[ConditionKey::kLeadingKeys].push_back(LeadingKeyText(*value));
  }
  MergeFacts(others, &facts);
  return facts;
}

WriteKind KindOf(PlanKind kind) {
  switch (kind) {
    case PlanKind::kPut:
      return WriteKind::kPut;
    case PlanKind::kUpdate:
      return WriteKind::kUpdate;
    default:
      return WriteKind::kDelete;
  }
}

absl::StatusOr<Facts> FactsOfRequests(const store::Database& database, const Plan& plan) {
  if (plan.get.has_value()) return FactsOf(database, *plan.get);
  if (plan.write.has_value()) return FactsOf(database, KindOf(plan.kind), *plan.write);
  if (plan.is_full_scan()) return FactsOf(database, /*is_scan=*/true, plan.RequestOf(0));
  return FactsOfQueries(database, plan);
}

}  // namespace

absl::StatusOr<Facts> FactsOfPlan(const store::Database& database, const Plan& plan, std::string_view transaction) {
  ARM_ASSIGN_OR_RETURN(Facts facts, FactsOfRequests(database, plan));
  if (!plan.write.has_value()) facts[ConditionKey::kFullTableScan] = {plan.is_full_scan() ? "true" : "false"};
  if (!transaction.empty()) facts[ConditionKey::kEnclosingOperation] = {std::string(transaction)};
  return facts;
}

}  // namespace armature::engine::partiql
