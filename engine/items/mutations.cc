#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/expr/update_eval.h"
#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "engine/items/row_mutation.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

// Checks common to all writes that need no table: name, presence of item or key (the member `item_path`), enumerations,
// parameter styles.
absl::Status CheckWriteRequest(const WriteRequest& request, std::string_view item_path) {
  ARM_RETURN_IF_ERROR(CheckShape(
      request.table_name, {item_path, request.item_wire.has_value()}, [&request](model::ConstraintList* constraints) {
        CheckCapacityReport(request.return_consumed_capacity, constraints);
        CheckCollectionReport(request.return_item_collection_metrics, constraints);
        CheckOptionalEnum(request.return_values, "returnValues", kReturnValuesValues, constraints);
        CheckOptionalEnum(request.return_values_on_condition_check_failure, "returnValuesOnConditionCheckFailure",
                          kReturnValuesOnFailureValues, constraints);
        CheckLegacyShapes(request.expressions.legacy, constraints);
      }));
  return CheckParameterStyles(request.expressions);
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

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "item"));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(*request_.item_wire));
    request_.item_wire.reset();  // gives its memory back before the wait for the row and the commit
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    if (IsTooLarge(given_)) return ValidationError("Item size has exceeded the maximum allowed size");
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kPutKinds, cache));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    ARM_ASSIGN_OR_RETURN(std::string key, EncodeItemKey(table, item_or_key()));
    ARM_RETURN_IF_ERROR(CheckIndexKeys(table, item_or_key()));
    return key;
  }

  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>&,
                                                    codec::CanonicalItem*) const override {
    return &given_;
  }
};

// A delete, or a condition check, which has the members of a delete but does not change the item.
class DeleteItem final : public RowMutation {
 public:
  using RowMutation::RowMutation;

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "key"));
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(*request_.item_wire));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kDeleteKinds, cache));
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

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "key"));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(*request_.item_wire));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kUpdateKinds, cache));
    if (request_.return_values.starts_with("UPDATED_")) updated_parts_ = expr::UpdatedParts(update());
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    ARM_ASSIGN_OR_RETURN(std::string key, EncodeKeyParameter(table, item_or_key()));
    ARM_RETURN_IF_ERROR(CheckUpdateTargets(table, update()));
    return key;
  }

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

  const expr::Update none_ = {};
  expr::Projection updated_parts_;  // only if the answer shows them
};

template <class Mutation>
absl::StatusOr<std::unique_ptr<const RowMutation>> Make(WriteKind kind, WriteRequest request, expr::ParseCache* cache) {
  auto mutation = std::make_unique<Mutation>(kind, std::move(request));
  ARM_RETURN_IF_ERROR(mutation->Check(cache));
  return std::unique_ptr<const RowMutation>(std::move(mutation));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeMutation(WriteKind kind, WriteRequest request,
                                                                expr::ParseCache* cache) {
  switch (kind) {
    case WriteKind::kPut:
      return Make<PutItem>(kind, std::move(request), cache);
    case WriteKind::kUpdate:
      return Make<UpdateItem>(kind, std::move(request), cache);
    default:
      return Make<DeleteItem>(kind, std::move(request), cache);
  }
}

}  // namespace armature::engine
