#include "engine/items/update_keys.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/expr/update_eval.h"
#include "engine/items/item_key.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

using expr::DocumentPath;
using model::KeyAttribute;
using model::ValueView;

absl::Status NestedKeyError(std::string_view what, std::string_view attribute) {
  return ValidationError(
      Cat("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ", what, ": ",
          attribute));
}

absl::Status CheckTableKeys(const model::KeySchema& key, const std::vector<const DocumentPath*>& targets) {
  for (const DocumentPath* const target : targets) {
    if (!key.Contains(target->attribute())) continue;
    if (target->nested()) return NestedKeyError("Key", target->attribute());
    return InvalidParameterError(
        Cat("Cannot update attribute ", target->attribute(), ". This attribute is part of the key"));
  }
  return absl::OkStatus();
}

absl::Status CheckConstant(const model::IndexDescriptor& index, const DocumentPath& target,
                           const std::optional<ValueView>& value) {
  const KeyAttribute* const attribute = index.key.Find(target.attribute());
  if (attribute == nullptr || !value.has_value() || value->type() == model::ToValueType(attribute->type)) {
    return absl::OkStatus();
  }
  return IndexKeyTypeError(index, *attribute, value->type());
}

absl::Status CheckIndexTargets(const model::IndexDescriptor& index, const expr::Update& update,
                               const std::vector<const DocumentPath*>& targets) {
  for (const DocumentPath* const target : targets) {
    if (target->nested() && index.key.Contains(target->attribute())) {
      return NestedKeyError("IndexKey", target->attribute());
    }
  }
  for (const expr::SetAction& action : update.sets) {
    const expr::ValueOperand* const constant = action.value.left.value();
    if (constant == nullptr || action.value.right.has_value()) continue;
    ARM_RETURN_IF_ERROR(CheckConstant(index, action.target, constant->value));
  }
  for (const expr::OperandAction& action : update.adds) {
    ARM_RETURN_IF_ERROR(CheckConstant(index, action.target, action.operand.value));
  }
  return absl::OkStatus();
}

// Checks one group of an index's key attributes. `written`: the attributes named in the update.
absl::Status CheckGroup(const std::vector<KeyAttribute>& group, size_t bytes_max,
                        const std::vector<std::string_view>& written, bool created, const model::ItemView& after) {
  size_t written_bytes = 0;
  size_t kept_bytes = 0;
  for (const KeyAttribute& attribute : group) {
    const std::optional<ValueView> value = after.Find(attribute.name);
    if (!value.has_value()) continue;
    const bool has_type = value->type() == model::ToValueType(attribute.type);
    if (!created && std::find(written.begin(), written.end(), attribute.name) == written.end()) {
      if (has_type) kept_bytes += KeyBytes(*value);
      continue;
    }
    if (!has_type) {
      return ValidationError("The update expression attempted to update the secondary index key to unsupported type");
    }
    if (IsEmptyKeyValue(*value)) {
      return ValidationError(
          Cat("One or more parameter values are not valid. The update expression attempted to update a secondary index "
              "key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty ",
              EmptyWord(*value), " value."));
    }
    written_bytes += KeyBytes(*value);
  }
  // A group that was too long before is not an obstacle: the item is not in the index and stays out of it.
  if (kept_bytes > bytes_max) kept_bytes = 0;
  if (written_bytes + kept_bytes > bytes_max) {
    return ValidationError(
        "The update expression attempted to update the secondary index key beyond allowed size limits");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckUpdateTargets(const store::Table& table, const expr::Update& update) {
  const std::vector<const DocumentPath*> targets = expr::TargetsOf(update);
  ARM_RETURN_IF_ERROR(CheckTableKeys(table.descriptor.key, targets));
  return CheckIndexesByName(
      table, [&](const model::IndexDescriptor& index) { return CheckIndexTargets(index, update, targets); });
}

absl::Status CheckUpdatedIndexKeys(const store::Table& table, const expr::Update& update, bool created,
                                   const model::ItemView& after) {
  if (table.local_indexes.empty() && table.global_indexes.empty()) return absl::OkStatus();
  std::vector<std::string_view> written;
  for (const DocumentPath* const target : expr::TargetsOf(update)) written.push_back(target->attribute());
  return CheckIndexesByName(table, [&](const model::IndexDescriptor& index) {
    ARM_RETURN_IF_ERROR(CheckGroup(index.key.partition, model::kPartitionKeyMaxBytes, written, created, after));
    return CheckGroup(index.key.sort, model::kSortKeyMaxBytes, written, created, after);
  });
}

}  // namespace armature::engine
