#include "engine/items/item_key.h"
#include "engine/items/row_mutation.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

class PutItem final : public RowMutation {
 public:
  explicit PutItem(WriteRequest request) : RowMutation(std::move(request)) {}

  absl::Status Check(expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckWriteRequest(request_, "item"));
    ARM_ASSIGN_OR_RETURN(item_, codec::CanonicalizeItem(*request_.item_wire));
    if (!request_.return_values.empty() && request_.return_values != "ALL_OLD" && request_.return_values != "NONE") {
      return ValidationError("ReturnValues can only be ALL_OLD or NONE");
    }
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

  absl::StatusOr<std::optional<codec::CanonicalItem>> Apply(const std::optional<model::ItemView>&) const override {
    return item_;
  }

 private:
  codec::CanonicalItem item_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const RowMutation>> MakePutItem(WriteRequest request, expr::ParseCache* cache) {
  auto put = std::make_unique<PutItem>(std::move(request));
  ARM_RETURN_IF_ERROR(put->Check(cache));
  return std::unique_ptr<const RowMutation>(std::move(put));
}

}  // namespace armature::engine
