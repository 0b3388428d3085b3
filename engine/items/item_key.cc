#include "engine/items/item_key.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/key_codec.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

constexpr char kHashKeyTooLong[] = "Size of hashkey has exceeded the maximum size limit of2048 bytes";
constexpr char kRangeKeyTooLong[] = "Aggregated size of all range keys has exceeded the size limit of 1024 bytes";

size_t CountAttributes(const model::ItemView& item) {
  size_t count = 0;
  item.ForEach([&count](const model::AttributeView&) { return ++count < 16; });
  return count;
}

size_t KeyGroupBytes(const std::vector<model::KeyAttribute>& group, const model::ItemView& item) {
  size_t bytes = 0;
  for (const model::KeyAttribute& attribute : group) {
    const std::optional<model::ValueView> value = item.Find(attribute.name);
    if (value.has_value()) bytes += KeyBytes(*value);
  }
  return bytes;
}

absl::Status CheckKeySizes(const model::KeySchema& schema, const model::ItemView& item) {
  if (KeyGroupBytes(schema.partition, item) > model::kPartitionKeyMaxBytes) {
    return InvalidParameterError(kHashKeyTooLong);
  }
  if (KeyGroupBytes(schema.sort, item) > model::kSortKeyMaxBytes) {
    return InvalidParameterError(kRangeKeyTooLong);
  }
  return absl::OkStatus();
}

absl::Status EmptyIndexKeyError(const model::IndexDescriptor& index, const model::KeyAttribute& attribute,
                                const model::ValueView& value) {
  return ValidationError(
      Cat("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
          "The AttributeValue for a key attribute cannot contain an empty ",
          EmptyWord(value), " value. IndexName: ", index.name, ", IndexKey: ", attribute.name));
}

absl::Status CheckOneIndex(const model::IndexDescriptor& index, const model::ItemView& item) {
  for (const std::vector<model::KeyAttribute>* group : {&index.key.partition, &index.key.sort}) {
    for (const model::KeyAttribute& attribute : *group) {
      const std::optional<model::ValueView> value = item.Find(attribute.name);
      if (!value.has_value()) continue;
      if (value->type() != model::ToValueType(attribute.type)) {
        return IndexKeyTypeError(index, attribute, value->type());
      }
      if (IsEmptyKeyValue(*value)) return EmptyIndexKeyError(index, attribute, *value);
    }
  }
  return CheckKeySizes(index.key, item);
}

absl::Status CheckNoneEmpty(const model::KeySchema& schema, const model::ItemView& item) {
  for (const std::vector<model::KeyAttribute>* group : {&schema.partition, &schema.sort}) {
    for (const model::KeyAttribute& attribute : *group) {
      const std::optional<model::ValueView> value = item.Find(attribute.name);
      if (value.has_value() && IsEmptyKeyValue(*value)) {
        return ValidationError(
            Cat("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                "empty ",
                EmptyWord(*value), " value. Key: ", attribute.name));
      }
    }
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
    for (const std::vector<model::KeyAttribute>* group : {&index.key.partition, &index.key.sort}) {
      for (const model::KeyAttribute& attribute : *group) {
        const std::optional<model::ValueView> value = item.Find(attribute.name);
        if (value.has_value() && IsEmptyKeyValue(*value)) return EmptyIndexKeyError(index, attribute, *value);
      }
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::string> EncodeKeyParameter(const store::Table& table, const model::ItemView& key) {
  const model::KeySchema& schema = table.descriptor.key;
  if (CountAttributes(key) != schema.size()) return ValidationError(kKeyMismatch);
  std::optional<std::string> encoded = codec::EncodeTableKey(schema, key);
  if (!encoded.has_value()) return ValidationError(kKeyMismatch);
  ARM_RETURN_IF_ERROR(CheckKeyValues(schema, key));
  return *std::move(encoded);
}

absl::StatusOr<std::string> EncodeItemKey(const store::Table& table, const model::ItemView& item) {
  const model::KeySchema& schema = table.descriptor.key;
  for (const std::vector<model::KeyAttribute>* group : {&schema.partition, &schema.sort}) {
    for (const model::KeyAttribute& attribute : *group) {
      const std::optional<model::ValueView> value = item.Find(attribute.name);
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
  ARM_RETURN_IF_ERROR(CheckKeyValues(schema, item));
  return *codec::EncodeTableKey(schema, item);
}

absl::Status CheckIndexKeys(const store::Table& table, const model::ItemView& item) {
  return CheckIndexesByName(table, [&item](const model::IndexDescriptor& index) { return CheckOneIndex(index, item); });
}

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

bool IsEmptyKeyValue(const model::ValueView& value) {
  return value.scalar().empty() &&
         (value.type() == model::ValueType::kString || value.type() == model::ValueType::kBinary);
}

std::string_view EmptyWord(const model::ValueView& value) {
  return value.type() == model::ValueType::kString ? "string" : "binary";
}

size_t KeyBytes(const model::ValueView& value) {
  return value.type() == model::ValueType::kNumber ? 0 : value.scalar().size();
}

absl::Status IndexKeyTypeError(const model::IndexDescriptor& index, const model::KeyAttribute& attribute,
                               model::ValueType actual) {
  return InvalidParameterError(Cat("Type mismatch for Index Key ", attribute.name,
                                   " Expected: ", model::ScalarTypeName(attribute.type),
                                   " Actual: ", model::ValueTypeName(actual), " IndexName: ", index.name));
}

}  // namespace armature::engine
