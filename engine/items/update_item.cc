#include <optional>
#include <string>
#include <utility>

#include "engine/expr/update_eval.h"
#include "engine/items/item_key.h"
#include "engine/items/row_mutation.h"
#include "engine/items/update_keys.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

// An update with any kind of parameters. An update without actions creates a missing item with only its key.
class UpdateItem final : public RowMutation {
 public:
  explicit UpdateItem(WriteRequest request) : RowMutation(std::move(request)) {}

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "key"));
    ARM_ASSIGN_OR_RETURN(key_, codec::CanonicalizeItem(*request_.item_wire));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kUpdateKinds, cache));
    if (request_.return_values.starts_with("UPDATED_")) updated_parts_ = expr::UpdatedParts(update());
    return absl::OkStatus();
  }

  model::ItemView item_or_key() const override { return model::ItemView(key_.bytes); }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    ARM_ASSIGN_OR_RETURN(std::string key, EncodeKeyParameter(table, model::ItemView(key_.bytes)));
    ARM_RETURN_IF_ERROR(CheckUpdateTargets(table, update()));
    return key;
  }

  absl::StatusOr<std::optional<codec::CanonicalItem>> Apply(
      const std::optional<model::ItemView>& before) const override {
    ARM_ASSIGN_OR_RETURN(std::optional<std::string> after,
                         expr::ApplyUpdate(update(), before, model::ItemView(key_.bytes)));
    if (!after.has_value()) return std::nullopt;
    codec::CanonicalItem item;
    item.bytes = *std::move(after);
    item.api_size = model::ApiSize(model::ItemView(item.bytes));
    return item;
  }

  absl::Status CheckResult(const store::Table& table, const codec::CanonicalItem& after, bool created) const override {
    ARM_RETURN_IF_ERROR(CheckUpdatedIndexKeys(table, update(), created, model::ItemView(after.bytes)));
    if (after.api_size > model::kItemSizeMaxBytes) return ValidationError(TooLargeText());
    return absl::OkStatus();
  }

  std::string_view TooLargeText() const override { return "Item size to update has exceeded the maximum allowed size"; }

  std::string UpdatedPart(const model::ItemView& item) const override { return expr::Project(updated_parts_, item); }

 private:
  const expr::Update& update() const {
    return expressions_ != nullptr && expressions_->bound.update.has_value() ? *expressions_->bound.update : none_;
  }

  const expr::Update none_;
  codec::CanonicalItem key_;
  expr::Projection updated_parts_;  // only if the answer shows them
};

}  // namespace

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeUpdateItem(WriteRequest request, expr::ParseCache* cache) {
  auto mutation = std::make_unique<UpdateItem>(std::move(request));
  ARM_RETURN_IF_ERROR(mutation->Check(cache));
  return std::unique_ptr<const RowMutation>(std::move(mutation));
}

}  // namespace armature::engine
