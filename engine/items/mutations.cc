#include <memory>
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

absl::Status CheckReturnsAllOldOrNone(const WriteRequest& request) {
  if (request.return_values.empty() || request.return_values == "ALL_OLD" || request.return_values == "NONE") {
    return absl::OkStatus();
  }
  return ValidationError("ReturnValues can only be ALL_OLD or NONE");
}

class PutItem final : public RowMutation {
 public:
  explicit PutItem(WriteRequest request) : RowMutation(std::move(request)) {}

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "item"));
    ARM_ASSIGN_OR_RETURN(item_, codec::CanonicalizeItem(*request_.item_wire));
    request_.item_wire.reset();  // gives its memory back before the wait for the row and the commit
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    if (item_.api_size > model::kItemSizeMaxBytes) {
      return ValidationError("Item size has exceeded the maximum allowed size");
    }
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kPutKinds, cache));
    return absl::OkStatus();
  }

  model::ItemView item_or_key() const override { return model::ItemView(item_.bytes); }
  bool is_put() const override { return true; }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    const model::ItemView item(item_.bytes);
    ARM_ASSIGN_OR_RETURN(std::string key, EncodeItemKey(table, item));
    ARM_RETURN_IF_ERROR(CheckIndexKeys(table, item));
    return key;
  }

  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>&,
                                                    codec::CanonicalItem*) const override {
    return &item_;
  }

 private:
  codec::CanonicalItem item_;
};

class DeleteItem : public RowMutation {
 public:
  explicit DeleteItem(WriteRequest request) : RowMutation(std::move(request)) {}

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "key"));
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    ARM_ASSIGN_OR_RETURN(key_, codec::CanonicalizeItem(*request_.item_wire));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, expr::kDeleteKinds, cache));
    return absl::OkStatus();
  }

  model::ItemView item_or_key() const override { return model::ItemView(key_.bytes); }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    return EncodeKeyParameter(table, model::ItemView(key_.bytes));
  }

  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>&,
                                                    codec::CanonicalItem*) const override {
    return nullptr;
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

  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>& before,
                                                    codec::CanonicalItem* made) const override {
    ARM_ASSIGN_OR_RETURN(std::optional<std::string> after,
                         expr::ApplyUpdate(update(), before, model::ItemView(key_.bytes)));
    if (!after.has_value()) return nullptr;
    made->bytes = *std::move(after);
    made->api_size = model::ApiSize(model::ItemView(made->bytes));
    return made;
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

template <class Mutation>
absl::StatusOr<std::unique_ptr<const RowMutation>> Make(WriteRequest request, expr::ParseCache* cache) {
  auto mutation = std::make_unique<Mutation>(std::move(request));
  ARM_RETURN_IF_ERROR(mutation->Check(cache));
  return std::unique_ptr<const RowMutation>(std::move(mutation));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const RowMutation>> MakePutItem(WriteRequest request, expr::ParseCache* cache) {
  return Make<PutItem>(std::move(request), cache);
}

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeUpdateItem(WriteRequest request, expr::ParseCache* cache) {
  return Make<UpdateItem>(std::move(request), cache);
}

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeDeleteItem(WriteRequest request, expr::ParseCache* cache) {
  return Make<DeleteItem>(std::move(request), cache);
}

absl::StatusOr<std::unique_ptr<const RowMutation>> MakeConditionCheck(WriteRequest request, expr::ParseCache* cache) {
  return Make<ConditionCheck>(std::move(request), cache);
}

}  // namespace armature::engine
