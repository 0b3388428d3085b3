#include "engine/items/item_key.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/expr/paths.h"
#include "engine/expr/update_eval.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

using expr::DocumentPath;
using model::KeyAttribute;
using model::ValueView;

constexpr char kHashKeyTooLong[] = "Size of hashkey has exceeded the maximum size limit of2048 bytes";
constexpr char kRangeKeyTooLong[] = "Aggregated size of all range keys has exceeded the size limit of 1024 bytes";

// Returns the first error of `check` over the indexes of `table` in alphabetical order.
absl::Status CheckIndexesByName(const store::Table& table,
                                absl::FunctionRef<absl::Status(const model::IndexDescriptor&)> check) {
  absl::Status first;
  std::string_view first_name;
  for (const std::vector<store::Index>* group : {&table.local_indexes, &table.global_indexes}) {
    for (const store::Index& index : *group) {
      if (index.descriptor.state == model::IndexState::kDeleting) continue;
      if (!first.ok() && index.descriptor.name > first_name) continue;
      absl::Status status = check(index.descriptor);
      if (status.ok()) continue;
      first = std::move(status);
      first_name = index.descriptor.name;
    }
  }
  return first;
}

// True for an empty string or binary, which no key attribute may be.
bool IsEmptyKeyValue(const ValueView& value) {
  return value.scalar().empty() &&
         (value.type() == model::ValueType::kString || value.type() == model::ValueType::kBinary);
}

std::string_view EmptyWord(const ValueView& value) {
  return value.type() == model::ValueType::kString ? "string" : "binary";
}

// Size of a value in terms of the limits on keys.
size_t KeyBytes(const ValueView& value) {
  return value.type() == model::ValueType::kNumber ? 0 : value.scalar().size();
}

// The error for a value whose type differs from that of the index key attribute.
absl::Status IndexKeyTypeError(const model::IndexDescriptor& index, const KeyAttribute& attribute,
                               model::ValueType actual) {
  return InvalidParameterError(Cat("Type mismatch for Index Key ", attribute.name,
                                   " Expected: ", model::ScalarTypeName(attribute.type),
                                   " Actual: ", model::ValueTypeName(actual), " IndexName: ", index.name));
}

size_t CountAttributes(const model::ItemView& item) {
  size_t count = 0;
  item.ForEach([&count](const model::AttributeView&) { return ++count < 16; });
  return count;
}

size_t KeyGroupBytes(const std::vector<KeyAttribute>& group, const model::ItemView& item) {
  size_t bytes = 0;
  for (const KeyAttribute& attribute : group) {
    const std::optional<ValueView> value = item.Find(attribute.name);
    if (value.has_value()) bytes += KeyBytes(*value);
  }
  return bytes;
}

absl::Status CheckKeySizes(const model::KeySchema& schema, const model::ItemView& item) {
  static_assert(model::kSortKeyMaxBytes < model::kPartitionKeyMaxBytes);
  if (item.bytes().size() <= model::kSortKeyMaxBytes) return absl::OkStatus();  // most items
  if (KeyGroupBytes(schema.partition, item) > model::kPartitionKeyMaxBytes) {
    return InvalidParameterError(kHashKeyTooLong);
  }
  if (KeyGroupBytes(schema.sort, item) > model::kSortKeyMaxBytes) {
    return InvalidParameterError(kRangeKeyTooLong);
  }
  return absl::OkStatus();
}

absl::Status EmptyIndexKeyError(const model::IndexDescriptor& index, const KeyAttribute& attribute,
                                const ValueView& value) {
  return ValidationError(
      Cat("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
          "The AttributeValue for a key attribute cannot contain an empty ",
          EmptyWord(value), " value. IndexName: ", index.name, ", IndexKey: ", attribute.name));
}

// Returns the first error of `check` over the key attributes that `item` has.
absl::Status CheckKeyAttributes(const model::KeySchema& schema, const model::ItemView& item,
                                absl::FunctionRef<absl::Status(const KeyAttribute&, const ValueView&)> check) {
  for (const std::vector<KeyAttribute>* group : {&schema.partition, &schema.sort}) {
    for (const KeyAttribute& attribute : *group) {
      const std::optional<ValueView> value = item.Find(attribute.name);
      if (value.has_value()) ARM_RETURN_IF_ERROR(check(attribute, *value));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNoneEmpty(const model::KeySchema& schema, const model::ItemView& item) {
  return CheckKeyAttributes(schema, item, [](const KeyAttribute& attribute, const ValueView& value) {
    if (!IsEmptyKeyValue(value)) return absl::OkStatus();
    return ValidationError(
        Cat("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty ",
            EmptyWord(value), " value. Key: ", attribute.name));
  });
}

// The error for the first key attribute that is missing or has another type than the schema's.
absl::Status CheckKeyTypes(const model::KeySchema& schema, const model::ItemView& item) {
  for (const std::vector<KeyAttribute>* group : {&schema.partition, &schema.sort}) {
    for (const KeyAttribute& attribute : *group) {
      const std::optional<ValueView> value = item.Find(attribute.name);
      if (!value.has_value()) {
        return InvalidParameterError(Cat("Missing the key ", attribute.name, " in the item"));
      }
      if (value->type() != model::ToValueType(attribute.type)) {
        return InvalidParameterError(Cat("Type mismatch for key ", attribute.name,
                                         " expected: ", model::ScalarTypeName(attribute.type),
                                         " actual: ", model::ValueTypeName(value->type())));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTableKeys(const model::KeySchema& key, const std::vector<const DocumentPath*>& targets) {
  for (const DocumentPath* const target : targets) {
    if (!key.Contains(target->attribute())) continue;
    if (target->nested()) return expr::NestedKeyError(target->attribute(), /*index_key=*/false);
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
      return expr::NestedKeyError(target->attribute(), /*index_key=*/true);
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

absl::Status EmptyUpdatedKeyError(const ValueView& value) {
  return ValidationError(
      Cat("One or more parameter values are not valid. The update expression attempted to update a secondary index "
          "key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty ",
          EmptyWord(value), " value."));
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
      return EmptyUpdatedKeyError(*value);
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

absl::Status CheckKeyValues(const model::KeySchema& schema, const model::ItemView& item) {
  ARM_RETURN_IF_ERROR(CheckNoneEmpty(schema, item));
  return CheckKeySizes(schema, item);
}

absl::Status CheckNoEmptyKeys(const store::Table& table, const model::ItemView& item) {
  ARM_RETURN_IF_ERROR(CheckNoneEmpty(table.descriptor.key, item));
  return CheckIndexesByName(table, [&item](const model::IndexDescriptor& index) {
    return CheckKeyAttributes(index.key, item, [&index](const KeyAttribute& attribute, const ValueView& value) {
      return IsEmptyKeyValue(value) ? EmptyIndexKeyError(index, attribute, value) : absl::OkStatus();
    });
  });
}

absl::StatusOr<std::string> EncodeKeyParameter(const store::Table& table, const model::ItemView& key) {
  const model::KeySchema& schema = table.descriptor.key;
  if (CountAttributes(key) != schema.size()) return ValidationError(kKeyMismatch);
  bool has_empty = false;
  std::optional<std::string> encoded = codec::EncodeTableKey(schema, key, &has_empty);
  if (!encoded.has_value()) return ValidationError(kKeyMismatch);
  if (has_empty) ARM_RETURN_IF_ERROR(CheckNoneEmpty(schema, key));
  ARM_RETURN_IF_ERROR(CheckKeySizes(schema, key));
  return *std::move(encoded);
}

absl::StatusOr<std::string> EncodeItemKey(const store::Table& table, const model::ItemView& item) {
  const model::KeySchema& schema = table.descriptor.key;
  bool has_empty = false;
  std::optional<std::string> key = codec::EncodeTableKey(schema, item, &has_empty);
  if (!key.has_value()) {
    ARM_RETURN_IF_ERROR(CheckKeyTypes(schema, item));
    return ValidationError(kKeyMismatch);
  }
  if (has_empty) ARM_RETURN_IF_ERROR(CheckNoneEmpty(schema, item));
  ARM_RETURN_IF_ERROR(CheckKeySizes(schema, item));
  return *std::move(key);
}

absl::Status CheckIndexKeys(const store::Table& table, const model::ItemView& item) {
  return CheckIndexesByName(table, [&item](const model::IndexDescriptor& index) {
    ARM_RETURN_IF_ERROR(
        CheckKeyAttributes(index.key, item, [&index](const KeyAttribute& attribute, const ValueView& value) {
          if (value.type() != model::ToValueType(attribute.type)) {
            return IndexKeyTypeError(index, attribute, value.type());
          }
          return IsEmptyKeyValue(value) ? EmptyIndexKeyError(index, attribute, value) : absl::OkStatus();
        }));
    return CheckKeySizes(index.key, item);
  });
}

absl::Status CheckUpdateTargets(const store::Table& table, const expr::Update& update) {
  const std::vector<const DocumentPath*> targets = expr::TargetsOf(update);
  ARM_RETURN_IF_ERROR(CheckTableKeys(table.descriptor.key, targets));
  return CheckIndexesByName(
      table, [&](const model::IndexDescriptor& index) { return CheckIndexTargets(index, update, targets); });
}

absl::Status CheckNoEmptyIndexKeys(const store::Table& table, const expr::Update& update) {
  return CheckIndexesByName(table, [&update](const model::IndexDescriptor& index) {
    for (const expr::SetAction& action : update.sets) {
      const expr::ValueOperand* const constant = action.value.left.value();
      if (constant == nullptr || action.value.right.has_value() || !constant->value.has_value()) continue;
      if (action.target.nested() || !index.key.Contains(action.target.attribute())) continue;
      if (IsEmptyKeyValue(*constant->value)) return EmptyUpdatedKeyError(*constant->value);
    }
    return absl::OkStatus();
  });
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
