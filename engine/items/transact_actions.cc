#include "engine/items/transact_actions.h"

#include <xxhash.h>

#include <map>
#include <utility>

#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "engine/items/transact_common.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"
#include "storage/store/commit/idempotency.h"

namespace armature::engine {
namespace {

std::string_view MemberOf(TransactKind kind) {
  switch (kind) {
    case TransactKind::kConditionCheck:
      return "conditionCheck";
    case TransactKind::kPut:
      return "put";
    case TransactKind::kDelete:
      return "delete";
    case TransactKind::kUpdate:
      return "update";
  }
  return {};
}

void CheckAction(const TransactAction& action, size_t index, model::ConstraintList* constraints) {
  const auto path = [&](std::string_view member) { return ActionPath(index, Cat(MemberOf(action.kind), ".", member)); };
  const WriteRequest& write = action.write;
  if (!write.item_wire.has_value()) {
    constraints->AddNull(path(action.kind == TransactKind::kPut ? "item" : "key"));
  }
  CheckActionTable(write.table_name, path("tableName"), constraints);
  if (action.kind == TransactKind::kConditionCheck && !write.expressions.condition.has_value()) {
    constraints->AddNull(path("conditionExpression"));
  }
  if (action.kind == TransactKind::kUpdate && !write.expressions.update.has_value()) {
    constraints->AddNull(path("updateExpression"));
  }
  CheckOptionalEnum(write.return_values_on_condition_check_failure, path("returnValuesOnConditionCheckFailure"),
                    kReturnValuesOnFailureValues, constraints);
}

absl::Status CheckTransactShape(const TransactWriteRequest& request) {
  model::ConstraintList constraints;
  CheckOptionalEnum(request.return_consumed_capacity, "returnConsumedCapacity", kReturnConsumedCapacityValues,
                    &constraints);
  CheckOptionalEnum(request.return_item_collection_metrics, "returnItemCollectionMetrics",
                    kReturnItemCollectionMetricsValues, &constraints);
  CheckActionCount(request.given, request.actions.size(), &constraints);
  if (request.client_request_token.has_value()) {
    const std::string& token = *request.client_request_token;
    const std::string printed = model::PrintedValue(model::Shown(token));
    const size_t length = model::CharacterCount(token);
    constraints.CheckLengthMin(printed, length, "clientRequestToken", 1);
    constraints.CheckLengthMax(printed, length, "clientRequestToken", model::kClientTokenMaxChars);
  }
  if (request.actions.size() <= model::kTransactActionsMax) {
    for (size_t i = 0; i < request.actions.size(); ++i) {
      if (request.actions[i].given == 1) CheckAction(request.actions[i], i, &constraints);
    }
  }
  return constraints.ToStatus();
}

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeMutation(TransactAction action, expr::ParseCache* cache) {
  if (action.given != 1) {
    return ValidationError("TransactItems can only contain one of Check, Put, Update or Delete");
  }
  ExpressionParameters& expressions = action.write.expressions;
  if (action.kind != TransactKind::kUpdate) expressions.update.reset();
  // Without an expression, placeholders are not an error here.
  if (!expressions.update.has_value() && !expressions.condition.has_value()) expressions = {};
  switch (action.kind) {
    case TransactKind::kPut:
      return MakePutItem(std::move(action.write), cache);
    case TransactKind::kUpdate:
      return MakeUpdateItem(std::move(action.write), cache);
    case TransactKind::kDelete:
      return MakeDeleteItem(std::move(action.write), cache);
    case TransactKind::kConditionCheck:
      break;
  }
  return MakeConditionCheck(std::move(action.write), cache);
}

// Number of bytes that the transaction size limit counts.
size_t PayloadBytes(const RowMutation& mutation) {
  size_t bytes = mutation.item_or_key().bytes().size();
  const ExpressionParameters& expressions = mutation.request().expressions;
  for (const auto* const text : {&expressions.update, &expressions.condition, &expressions.values_wire}) {
    bytes += text->has_value() ? (*text)->size() : 0;
  }
  return bytes;
}

absl::Status MakeRows(Parts* parts, TransactWriteRequest* request, TransactRows* rows) {
  size_t bytes = 0;
  for (TransactAction& action : request->actions) {
    auto row = std::make_unique<RowWrite>();
    ARM_ASSIGN_OR_RETURN(row->mutation, MakeMutation(std::move(action), &parts->parse_cache));
    bytes += PayloadBytes(*row->mutation);
    rows->rows.push_back(std::move(row));
  }
  if (bytes > model::kTransactMaxBytes) {
    return ValidationError(Cat("Transaction request size cannot exceed ", model::kTransactMaxBytes, " bytes"));
  }
  return absl::OkStatus();
}

// Unambiguous serialization of actions: different actions have different bytes.
class Fingerprint {
 public:
  void Add(std::string_view part) { bytes_ += Cat(part.size(), ":", part); }
  void AddOptional(const std::optional<std::string>& part) {
    if (part.has_value()) {
      Add(*part);
    } else {
      bytes_ += '-';
    }
  }
  std::string Finish() const {
    static_assert(sizeof(XXH128_canonical_t) == store::TokenRecord::kFingerprintBytes);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes_.data(), bytes_.size()));
    return {reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest)};
  }

 private:
  std::string bytes_;
};

}  // namespace

absl::Status PrepareTransactRows(Parts* parts, TransactWriteRequest* request, TransactRows* rows) {
  ARM_RETURN_IF_ERROR(CheckTransactShape(*request));
  ARM_RETURN_IF_ERROR(MakeRows(parts, request, rows));
  for (const auto& row : rows->rows) {
    ARM_ASSIGN_OR_RETURN(row->pinned, FindTable(*parts->database, *row->mutation->request().table_name));
  }
  std::vector<ItemName> names;
  for (const auto& row : rows->rows) {
    ARM_RETURN_IF_ERROR(CheckNoEmptyKeys(row->table(), row->mutation->item_or_key()));
    absl::StatusOr<std::string> key = row->mutation->EncodeKey(row->table());
    rows->key_problems.push_back(key.status());
    if (!key.ok()) continue;
    row->key = *std::move(key);
    names.push_back({row->table().descriptor.id, row->key});
  }
  return CheckItemsOnce(names);
}

std::string FingerprintOf(const TransactWriteRequest& request, const TransactRows& rows) {
  Fingerprint all;
  all.Add(request.return_consumed_capacity);
  all.Add(request.return_item_collection_metrics);
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const RowMutation& mutation = *rows.rows[i]->mutation;
    const WriteRequest& write = mutation.request();
    all.Add(SingleOperation(request.actions[i].kind));
    all.Add(model::TableNamePart(*write.table_name));
    all.Add(mutation.item_or_key().bytes());
    all.AddOptional(write.expressions.update);
    all.AddOptional(write.expressions.condition);
    all.Add(write.return_values_on_condition_check_failure);
    const RequestExpressions* const expressions = mutation.expressions();
    all.Add(expressions == nullptr ? std::string_view() : std::string_view(expressions->values));
    std::map<std::string_view, std::string_view> names;
    if (write.expressions.names.has_value()) {
      for (const auto& [placeholder, name] : *write.expressions.names) names.emplace(placeholder, name);
    }
    all.Add(std::to_string(names.size()));
    for (const auto& [placeholder, name] : names) {
      all.Add(placeholder);
      all.Add(name);
    }
  }
  return all.Finish();
}

}  // namespace armature::engine
