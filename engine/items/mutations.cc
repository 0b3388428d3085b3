#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/expr/legacy_binder.h"
#include "engine/expr/update_eval.h"
#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "engine/items/row_mutation.h"
#include "engine/items/transact_common.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

void CheckWriteEnums(const WriteRequest& request, model::ConstraintList* constraints) {
  CheckCapacityReport(request.return_consumed_capacity, constraints);
  CheckCollectionReport(request.return_item_collection_metrics, constraints);
  CheckOptionalEnum(request.return_values, "returnValues", kReturnValuesValues, constraints);
  CheckOptionalEnum(request.return_values_on_condition_check_failure, "returnValuesOnConditionCheckFailure",
                    kReturnValuesOnFailureValues, constraints);
  CheckLegacyShapes(request.expressions.legacy, constraints);
}

// Checks the shape of a write: name, presence of item or key (the member `item_path`), enumerations.
absl::Status CheckWriteShape(const WriteRequest& request, std::string_view item_path) {
  return CheckShape(request.table_name, {item_path, request.item_wire.has_value()},
                    [&request](model::ConstraintList* constraints) { CheckWriteEnums(request, constraints); });
}

// The same for UpdateItem alone, which gathers in another order: the first bad enumeration, beginning with
// ConditionalOperator, then table and key.
absl::Status CheckUpdateShape(const WriteRequest& request) {
  const bool has_key = request.item_wire.has_value();
  if (request.table_name.has_value() && has_key) {
    ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
  }
  model::ConstraintList constraints;
  CheckOptionalEnum(request.expressions.legacy.conditional_operator, "conditionalOperator",
                    expr::kConditionalOperatorNames, &constraints);
  CheckWriteEnums(request, &constraints);
  constraints.KeepFirst();
  if (!request.table_name.has_value() || !has_key) {
    model::CheckTableReferenceShape(request.table_name, &constraints);
  }
  if (!has_key) constraints.AddNull("key");
  return constraints.ToStatus();
}

bool IsTooLarge(const codec::CanonicalItem& item) {
  return item.api_size > model::kItemSizeMaxBytes || item.bytes.size() > model::kItemEncodedMaxBytes;
}

absl::Status CheckReturnsAllOldOrNone(const WriteRequest& request) {
  if (request.return_values.empty() || request.return_values == "ALL_OLD" || request.return_values == "NONE") {
    return absl::OkStatus();
  }
  return ValidationError("ReturnValues can only be ALL_OLD or NONE");
}

class PutItem final : public RowMutation {
 public:
  using RowMutation::RowMutation;

  absl::Status CheckShape(ValidationLayer) const { return CheckWriteShape(request_, "item"); }

  absl::Status Check(ValidationLayer layer, expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckParameterStyles(request_.expressions));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(&*request_.item_wire, ValueTextsOf(layer)));
    request_.item_wire.reset();  // taken, or to be freed before the wait for the row and the commit
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    if (IsTooLarge(given_)) return ValidationError("Item size has exceeded the maximum allowed size");
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kPutKinds, layer, cache));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    return EncodeItemKey(table, item_or_key());
  }
  absl::Status CheckSchema(const store::Table& table) const override { return CheckIndexKeys(table, item_or_key()); }

  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>&,
                                                    codec::CanonicalItem*) const override {
    return &given_;
  }
};

// A delete, or a condition check, which has the members of a delete but does not change the item.
class DeleteItem final : public RowMutation {
 public:
  using RowMutation::RowMutation;

  absl::Status CheckShape(ValidationLayer) const { return CheckWriteShape(request_, "key"); }

  absl::Status Check(ValidationLayer layer, expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckParameterStyles(request_.expressions));
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(*request_.item_wire, ValueTextsOf(layer)));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kDeleteKinds, layer, cache));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    return EncodeKeyParameter(table, item_or_key());
  }

  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>&,
                                                    codec::CanonicalItem*) const override {
    return nullptr;
  }
};

// An update with any kind of parameters. An update without actions creates a missing item with only its key.
class UpdateItem final : public RowMutation {
 public:
  using RowMutation::RowMutation;

  absl::Status CheckShape(ValidationLayer layer) const {
    return layer == ValidationLayer::kEnveloped ? CheckUpdateShape(request_) : CheckWriteShape(request_, "key");
  }

  absl::Status Check(ValidationLayer layer, expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckParameterStyles(request_.expressions));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(*request_.item_wire, ValueTextsOf(layer)));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kUpdateKinds, layer, cache));
    if (layer == ValidationLayer::kTransaction) ARM_RETURN_IF_ERROR(CheckTargetNames());
    if (request_.return_values.starts_with("UPDATED_")) updated_parts_ = expr::UpdatedParts(update());
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    return EncodeKeyParameter(table, item_or_key());
  }
  absl::Status CheckSchema(const store::Table& table) const override { return CheckUpdateTargets(table, update()); }

  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>& before,
                                                    codec::CanonicalItem* made) const override {
    ARM_ASSIGN_OR_RETURN(std::optional<std::string> after, expr::ApplyUpdate(update(), before, item_or_key()));
    if (!after.has_value()) return nullptr;
    made->bytes = *std::move(after);
    const model::ItemMeasure measure = model::Measure(made->view());
    made->api_size = measure.api_size;
    made->compact_numbers = measure.compact_numbers;
    return made;
  }

  absl::Status CheckResult(const store::Table& table, const codec::CanonicalItem& after, bool created) const override {
    ARM_RETURN_IF_ERROR(CheckUpdatedIndexKeys(table, update(), created, after.view()));
    if (IsTooLarge(after)) return ValidationError(TooLargeText());
    return absl::OkStatus();
  }

  std::string_view TooLargeText() const override { return expr::kUpdateTooLarge; }

  std::string UpdatedPart(const model::ItemView& item) const override { return expr::Project(updated_parts_, item); }

 private:
  const expr::Update& update() const {
    return expressions_ != nullptr && expressions_->bound.update.has_value() ? *expressions_->bound.update : none_;
  }

  // A path that begins with an empty name can only come from a placeholder.
  absl::Status CheckTargetNames() const {
    for (const expr::DocumentPath* path : expr::TargetsOf(update())) {
      if (path->attribute().empty()) return EmptyNameInTransactionError();
    }
    return absl::OkStatus();
  }

  const expr::Update none_ = {};
  expr::Projection updated_parts_;  // only if the answer shows them
};

template <class Mutation>
absl::StatusOr<std::unique_ptr<const RowMutation>> Make(WriteKind kind, WriteRequest&& request, ValidationLayer layer,
                                                        expr::ParseCache* cache) {
  auto mutation = std::make_unique<Mutation>(kind, std::move(request));
  ARM_RETURN_IF_ERROR(mutation->CheckShape(layer));
  const absl::Status checked = mutation->Check(layer, cache);
  if (checked.ok()) return std::unique_ptr<const RowMutation>(std::move(mutation));
  if (layer == ValidationLayer::kEnveloped) return Enveloped(checked);
  if (layer == ValidationLayer::kTransaction) {
    const WriteRequest& kept = mutation->request();
    // A put that has let go of its item has found no empty names in it.
    const std::string_view wire = kept.item_wire.has_value() ? std::string_view(*kept.item_wire) : std::string_view();
    return TransactValueError(checked, wire, kept.expressions);
  }
  return checked;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeMutation(WriteKind kind, WriteRequest&& request,
                                                                ValidationLayer layer, expr::ParseCache* cache) {
  switch (kind) {
    case WriteKind::kPut:
      return Make<PutItem>(kind, std::move(request), layer, cache);
    case WriteKind::kUpdate:
      return Make<UpdateItem>(kind, std::move(request), layer, cache);
    default:
      return Make<DeleteItem>(kind, std::move(request), layer, cache);
  }
}

}  // namespace armature::engine
