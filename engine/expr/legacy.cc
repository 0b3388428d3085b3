#include "engine/expr/legacy.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "engine/expr/legacy_paths.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/value.h"

namespace armature::expr {
namespace {

using model::ValueType;

// The enumerator with the same position as `name` in `names`.
template <class Enum, size_t kCount>
std::optional<Enum> ByName(const std::string_view (&names)[kCount], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

bool IsSet(ValueType type) {
  return type == ValueType::kStringSet || type == ValueType::kNumberSet || type == ValueType::kBinarySet;
}

absl::Status CheckUpdate(const LegacyUpdate& update) {
  if (!update.value.has_value()) {
    if (update.action == LegacyAction::kDelete) return absl::OkStatus();
    return InvalidParameterError("Only DELETE action is allowed when no attribute value is specified");
  }
  const ValueType type = update.value->type();
  if (update.action == LegacyAction::kDelete && !IsSet(type)) {
    return InvalidParameterError(
        Cat("DELETE action with value is not supported for the type ", model::ValueTypeName(type)));
  }
  const bool addable = IsSet(type) || type == ValueType::kNumber || type == ValueType::kList;
  if (update.action == LegacyAction::kAdd && !addable) {
    return InvalidParameterError(Cat("ADD action is not supported for the type ", model::ValueTypeName(type)));
  }
  return absl::OkStatus();
}

// Requires that CheckUpdate returned OK.
void AddAction(const LegacyUpdate& update, DocumentPath target, Update* to) {
  if (!update.value.has_value()) {
    to->removes.push_back(std::move(target));
    return;
  }
  ValueOperand operand{std::string(), update.value};
  switch (update.action) {
    case LegacyAction::kPut: {
      UpdateValue value;
      value.left = Operand{std::move(operand)};
      to->sets.push_back(SetAction{std::move(target), std::move(value)});
      break;
    }
    case LegacyAction::kAdd:
      to->adds.push_back(OperandAction{std::move(target), std::move(operand)});
      break;
    case LegacyAction::kDelete:
      to->deletes.push_back(OperandAction{std::move(target), std::move(operand)});
      break;
  }
}

}  // namespace

std::optional<LegacyOperator> LegacyOperatorByName(std::string_view name) {
  return ByName<LegacyOperator>(kLegacyOperatorNames, name);
}

std::optional<LegacyAction> LegacyActionByName(std::string_view name) {
  return ByName<LegacyAction>(kLegacyActionNames, name);
}

absl::StatusOr<Projection> BindAttributesToGet(std::span<const std::string> names) {
  absl::flat_hash_set<std::string_view, StringHash, std::equal_to<>> seen;
  std::vector<DocumentPath> paths;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return InvalidParameterError(Cat("Duplicate value in attribute name: ", model::Shown(name)));
    }
    paths.push_back(LegacyPath(name, paths.size()));
  }
  return MakeProjection(std::move(paths));
}

absl::StatusOr<Update> BindAttributeUpdates(std::span<const LegacyUpdate> updates) {
  Update result;
  result.style = UpdateStyle::kAttributeUpdates;
  size_t position = 0;
  for (const LegacyUpdate& update : updates) {
    ARM_RETURN_IF_ERROR(CheckUpdate(update));
    AddAction(update, LegacyPath(update.attribute, position++), &result);
  }
  return result;
}

}  // namespace armature::expr
