#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/expr/legacy_binder.h"
#include "engine/expr/update_charge.h"
#include "engine/expr/update_eval.h"
#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "engine/items/row_mutation.h"
#include "engine/items/transact_common.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"
#include "storage/model/wire.h"

namespace armature::engine {
namespace {

void CheckReturnValuesOnFailure(const WriteRequest& request, model::ConstraintList* constraints) {
  CheckOptionalEnum(request.return_values_on_condition_check_failure, "returnValuesOnConditionCheckFailure",
                    kReturnValuesOnFailureValues, constraints);
}

// The order in which the layers with short texts gather.
void CheckWriteEnums(const WriteRequest& request, const LayerRules& rules, model::ConstraintList* constraints) {
  CheckCapacityReport(request.return_consumed_capacity, constraints);
  if (rules.short_enums) CheckReturnValues(request.return_values, rules, constraints);
  CheckCollectionReport(request.return_item_collection_metrics, constraints);
  if (!rules.short_enums) CheckReturnValues(request.return_values, rules, constraints);
  CheckReturnValuesOnFailure(request, constraints);
  CheckLegacyShapes(request.expressions.legacy, rules, constraints);
}

// Rules of the layer that checks the shape of `request`: one without table, item or key is left to the older layer.
const LayerRules& ShapeRules(const WriteRequest& request, ValidationLayer layer) {
  const bool is_whole = request.table_name.has_value() && request.item_wire.has_value();
  return RulesOf(is_whole ? layer : ValidationLayer::kOlder);
}

absl::Status CheckNameIsGiven(const WriteRequest& request, const LayerRules& rules) {
  if (!rules.short_empty_name || !request.table_name->empty()) return absl::OkStatus();
  return ValidationError(
      Cat(kEnvelope,
          "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"));
}

// Checks the shape of a write: name, presence of item or key (the member `item_path`), enumerations.
absl::Status CheckWriteShape(const WriteRequest& request, std::string_view item_path, ValidationLayer layer) {
  const LayerRules& rules = ShapeRules(request, layer);
  ARM_RETURN_IF_ERROR(CheckNameIsGiven(request, rules));
  return CheckShape(request.table_name, {item_path, request.item_wire.has_value()},
                    [&](model::ConstraintList* constraints) { CheckWriteEnums(request, rules, constraints); });
}

bool ReturnsAllOldOrNone(const WriteRequest& request) {
  return request.return_values.empty() || request.return_values == "ALL_OLD" || request.return_values == "NONE";
}

constexpr std::string_view kAllOldOrNone = "ReturnValues can only be ALL_OLD or NONE";

// Checks the shape of DeleteItem, which gathers a ReturnValues that is not its own with the enumerations. In the older
// layer it follows them.
absl::Status CheckDeleteShape(const WriteRequest& request, ValidationLayer layer) {
  const LayerRules& rules = ShapeRules(request, layer);
  if (!rules.short_enums || ReturnsAllOldOrNone(request)) return CheckWriteShape(request, "key", layer);
  ARM_RETURN_IF_ERROR(CheckNameIsGiven(request, rules));
  return CheckShape(request.table_name, {"key"}, [&](model::ConstraintList* constraints) {
    CheckWriteEnums(request, rules, constraints);
    model::ConstraintList unknown;
    CheckReturnValues(request.return_values, rules, &unknown);
    if (unknown.empty()) constraints->AddText(kAllOldOrNone);
  });
}

// Checks the shape of an UpdateItem that lacks its table or its key, which gathers in another order.
absl::Status CheckPartialUpdateShape(const WriteRequest& request, const LayerRules& rules) {
  model::ConstraintList constraints;
  CheckConditionalOperatorWord(request.expressions.legacy, &constraints);
  CheckCapacityReport(request.return_consumed_capacity, &constraints);
  model::CheckTableReferenceShape(request.table_name, &constraints);
  CheckReturnValues(request.return_values, rules, &constraints);
  CheckReturnValuesOnFailure(request, &constraints);
  CheckCollectionReport(request.return_item_collection_metrics, &constraints);
  LegacyParameters others = request.expressions.legacy;
  others.conditional_operator.clear();
  CheckLegacyShapes(others, rules, &constraints);
  if (!request.item_wire.has_value()) constraints.AddNull("key");
  return constraints.ToStatus();
}

// Checks the shape of UpdateItem, which reports a bad name alone and else the first bad enumeration.
absl::Status CheckUpdateShape(const WriteRequest& request, ValidationLayer layer) {
  const LayerRules& rules = ShapeRules(request, layer);
  if (!request.table_name.has_value() || !request.item_wire.has_value()) {
    return CheckPartialUpdateShape(request, rules);
  }
  ARM_RETURN_IF_ERROR(CheckNameIsGiven(request, rules));
  ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
  model::ConstraintList constraints;
  CheckReturnValues(request.return_values, rules, &constraints);
  CheckReturnValuesOnFailure(request, &constraints);
  CheckCollectionReport(request.return_item_collection_metrics, &constraints);
  CheckCapacityReport(request.return_consumed_capacity, &constraints);
  CheckLegacyShapes(request.expressions.legacy, rules, &constraints);
  constraints.KeepFirst();
  return constraints.ToStatus();
}

bool IsTooLarge(const codec::CanonicalItem& item) {
  return item.api_size > model::kItemSizeMaxBytes || item.bytes.size() > model::kItemEncodedMaxBytes;
}

// Estimates the size of an item as it was sent, so that one that is much too large is refused before its values are
// read: sorting a million of them takes half a second. Values may be malformed, and names may be repeated.
class SentSize {
 public:
  // True if the item has more than twice the bytes that an item may have, each value counted with the least that it
  // can take.
  static bool IsFarTooLarge(std::string_view wire) {
    if (wire.size() <= kBytesMax) return false;
    SentSize size;
    size.AddEntries(wire, 0);
    return size.bytes_ > kBytesMax;
  }

 private:
  static constexpr size_t kBytesMax = 2 * model::kItemSizeMaxBytes;
  static constexpr uint32_t kNameField = 1;

  void AddEntries(std::string_view wire, int depth) {
    model::WireField entry;
    while (bytes_ <= kBytesMax && model::TakeField(&wire, &entry)) {
      if (depth > 0) bytes_ += model::kMemberApiBytes;
      std::string_view body = entry.bytes;
      model::WireField part;
      while (model::TakeField(&body, &part)) {
        if (part.number == kNameField) {
          bytes_ += part.bytes.size();
        } else {
          AddValue(part.bytes, depth);
        }
      }
    }
  }

  void AddValue(std::string_view wire, int depth) {
    model::WireField value;
    if (depth > model::kNestingDepthMax || !model::TakeField(&wire, &value)) return;
    switch (static_cast<model::ValueType>(value.number)) {
      case model::ValueType::kString:
      case model::ValueType::kBinary:
        bytes_ += value.bytes.size();
        return;
      case model::ValueType::kStringSet:
      case model::ValueType::kNumberSet:
      case model::ValueType::kBinarySet:
      case model::ValueType::kList:
        return AddElements(value, depth);
      case model::ValueType::kMap:
        return AddEntries(value.bytes, depth + 1);
      default:
        ++bytes_;
    }
  }

  // An element has a byte at least.
  void AddElements(const model::WireField& value, int depth) {
    const bool is_list = static_cast<model::ValueType>(value.number) == model::ValueType::kList;
    std::string_view rest = value.bytes;
    model::WireField element;
    while (bytes_ <= kBytesMax && model::TakeField(&rest, &element)) {
      ++bytes_;
      if (is_list) AddValue(element.bytes, depth + 1);
    }
  }

  size_t bytes_ = 0;
};

absl::Status CheckReturnsAllOldOrNone(const WriteRequest& request) {
  return ReturnsAllOldOrNone(request) ? absl::OkStatus() : ValidationError(kAllOldOrNone);
}

class PutItem final : public RowMutation {
 public:
  using RowMutation::RowMutation;
  static constexpr std::span<const expr::ExpressionKind> kKinds = expr::kPutKinds;

  absl::Status CheckShape(ValidationLayer layer) const { return CheckWriteShape(request_, "item", layer); }

  absl::Status Check(ValidationLayer layer, expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckParameterStyles(request_.expressions, layer));
    if (SentSize::IsFarTooLarge(*request_.item_wire)) return ValidationError(kItemTooLarge);
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(&*request_.item_wire, ValueTextsOf(layer)));
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    if (IsTooLarge(given_)) return ValidationError(kItemTooLarge);
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, kKinds, layer, cache));
    request_.item_wire.reset();  // taken, or to be freed before the wait for the row and the commit
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
  static constexpr std::span<const expr::ExpressionKind> kKinds = expr::kDeleteKinds;

  absl::Status CheckShape(ValidationLayer layer) const { return CheckDeleteShape(request_, layer); }

  absl::Status Check(ValidationLayer layer, expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckParameterStyles(request_.expressions, layer));
    ARM_RETURN_IF_ERROR(CheckReturnsAllOldOrNone(request_));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(*request_.item_wire, ValueTextsOf(layer)));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, kKinds, layer, cache));
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
  static constexpr std::span<const expr::ExpressionKind> kKinds = expr::kUpdateKinds;

  absl::Status CheckShape(ValidationLayer layer) const {
    return layer == ValidationLayer::kEnveloped ? CheckUpdateShape(request_, layer)
                                                : CheckWriteShape(request_, "key", layer);
  }

  absl::Status Check(ValidationLayer layer, expr::ParseCache* cache) {
    ARM_RETURN_IF_ERROR(CheckParameterStyles(request_.expressions, layer));
    ARM_ASSIGN_OR_RETURN(given_, codec::CanonicalizeItem(*request_.item_wire, ValueTextsOf(layer)));
    ARM_ASSIGN_OR_RETURN(expressions_, BindRequestExpressions(request_.expressions, kKinds, layer, cache));
    if (RulesOf(layer).charges_updates) charge_ = expr::ChargeOf(update());
    if (request_.return_values.starts_with("UPDATED_")) updated_parts_ = expr::UpdatedParts(update());
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> EncodeKey(const store::Table& table) const override {
    return EncodeKeyParameter(table, item_or_key());
  }
  absl::Status CheckGivenKeys(const store::Table& table) const override {
    ARM_RETURN_IF_ERROR(RowMutation::CheckGivenKeys(table));
    return CheckNoEmptyIndexKeys(table, update());
  }
  absl::Status CheckSchema(const store::Table& table) const override {
    if (charge_ > model::kItemSizeMaxBytes) return ValidationError(TooLargeText());
    return CheckUpdateTargets(table, update());
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
  size_t charge_ = 0;               // for the expression, if the layer charges it
};

template <class Mutation>
absl::Status CheckIn(ValidationLayer layer, Mutation* mutation, expr::ParseCache* cache) {
  ARM_RETURN_IF_ERROR(mutation->CheckShape(layer));
  const absl::Status checked = mutation->Check(layer, cache);
  if (checked.ok()) return checked;
  if (RulesOf(layer).enveloped) return Enveloped(checked);
  if (layer != ValidationLayer::kTransaction) return checked;
  const WriteRequest& request = mutation->request();
  return TransactValueError(checked, request.item_wire.value_or(""), request.expressions, Mutation::kKinds);
}

// True if a value of the request is nested so deeply that no newer layer judges the request.
bool IsLeftToOlderLayer(const WriteRequest& request) {
  const auto nests = [](const std::optional<std::string>& wire) {
    return wire.has_value() && ValueNestsBeyond(*wire, kNewerLayerNestingMax);
  };
  const auto item_nests = [](const std::optional<std::string>& wire) {
    return wire.has_value() && NestsBeyond(*wire, kNewerLayerNestingMax);
  };
  if (item_nests(request.item_wire) || item_nests(request.expressions.values_wire)) return true;
  const LegacyParameters& legacy = request.expressions.legacy;
  const auto any_of = [](const auto& list, const auto& matches) {
    return list.has_value() && std::any_of(list->begin(), list->end(), matches);
  };
  return any_of(legacy.attribute_updates, [&](const LegacyUpdate& update) { return nests(update.value_wire); }) ||
         any_of(legacy.expected, [&](const LegacyExpectation& expected) {
           return nests(expected.value_wire) || any_of(expected.argument_wires, [](const std::string& argument) {
                    return ValueNestsBeyond(argument, kNewerLayerNestingMax);
                  });
         });
}

template <class Mutation>
absl::StatusOr<std::unique_ptr<const RowMutation>> Make(WriteKind kind, WriteRequest&& request, ValidationLayer layer,
                                                        expr::ParseCache* cache) {
  auto mutation = std::make_unique<Mutation>(kind, std::move(request));
  const absl::Status checked = CheckIn(layer, mutation.get(), cache);
  if (checked.ok()) return std::unique_ptr<const RowMutation>(std::move(mutation));
  if (!RulesOf(layer).enveloped || !IsLeftToOlderLayer(mutation->request())) return checked;
  auto again = std::make_unique<Mutation>(kind, std::move(*mutation).TakeRequest());
  const absl::Status older = CheckIn(ValidationLayer::kOlder, again.get(), cache);
  return older.ok() ? checked : older;
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
