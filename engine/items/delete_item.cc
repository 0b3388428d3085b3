#include "engine/items/item_key.h"
#include "engine/items/row_mutation.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::engine {
namespace {

class DeleteItem : public RowMutation {
 public:
  explicit DeleteItem(WriteRequest request) : RowMutation(std::move(request)) {}

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "key"));
    if (!request_.return_values.empty() && request_.return_values != "ALL_OLD" && request_.return_values != "NONE") {
      return ValidationError("ReturnValues can only be ALL_OLD or NONE");
    }
    ARM_ASSIGN_OR_RETURN(key_, codec::CanonicalizeItem(*request_.item_wire));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kDeleteKinds, cache));
    return absl::OkStatus();
  }

  model::ItemView item_or_key() const override { return model::ItemView(key_.bytes); }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    return EncodeKeyParameter(table, model::ItemView(key_.bytes));
  }

  absl::StatusOr<std::optional<codec::CanonicalItem>> Apply(const std::optional<model::ItemView>&) const override {
    return std::nullopt;
  }

 private:
  codec::CanonicalItem key_;
};

// Has the members of a delete but does not change the item.
class ConditionCheck final : public DeleteItem {
 public:
  using DeleteItem::DeleteItem;
  bool writes() const override { return false; }
};

}  // namespace

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeConditionCheck(WriteRequest request, expr::ParseCache* cache) {
  auto mutation = std::make_unique<ConditionCheck>(std::move(request));
  ARM_RETURN_IF_ERROR(mutation->Check(cache));
  return std::unique_ptr<const RowMutation>(std::move(mutation));
}

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeDeleteItem(WriteRequest request, expr::ParseCache* cache) {
  auto mutation = std::make_unique<DeleteItem>(std::move(request));
  ARM_RETURN_IF_ERROR(mutation->Check(cache));
  return std::unique_ptr<const RowMutation>(std::move(mutation));
}

}  // namespace armature::engine
