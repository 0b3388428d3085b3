#include "daemon/api/message_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/canonical_text.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

using model::WireField;
using model::WireType;

absl::Status MalformedError(std::string_view what) {
  return SerializationError(Cat("Malformed ", what, " in the request"));
}

// The entries of one map by name, each as an encoded message.
using Entries = std::map<std::string_view, std::string_view>;

absl::Status AddEntry(std::string_view body, Entries* entries) {
  std::string_view name;
  std::optional<std::string_view> message;
  while (!body.empty()) {
    WireField field;
    if (!model::TakeField(&body, &field)) return MalformedError("map entry");
    if (field.number != kMapKeyField && field.number != kMapValueField) continue;
    if (field.type != WireType::kBytes) return MalformedError("map entry");
    if (field.number == kMapKeyField) {
      name = field.bytes;
    } else if (message.has_value()) {
      // Two values would have to be merged, which no client intends.
      return MalformedError("map entry: two values");
    } else {
      message = field.bytes;
    }
  }
  if (!codec::IsValidUtf8(name)) return SerializationError("Invalid UTF-8 in an attribute name");
  (*entries)[name] = message.value_or(std::string_view());
  return absl::OkStatus();
}

// Possible parts of the messages in the maps.
struct EntryFields {
  std::optional<std::string> value;
  std::vector<std::string> values;
  std::optional<bool> flag;
  int number = 0;  // of an enumeration value
};

// The field number of each part in a message; 0: not present.
struct Layout {
  uint32_t value = 0;
  uint32_t values = 0;
  uint32_t flag = 0;
  uint32_t number = 0;
};
constexpr Layout kConditionLayout{.values = v1::Condition::kAttributeValueListFieldNumber,
                                  .number = v1::Condition::kComparisonOperatorFieldNumber};
constexpr Layout kExpectedLayout{.value = v1::ExpectedAttributeValue::kValueFieldNumber,
                                 .values = v1::ExpectedAttributeValue::kAttributeValueListFieldNumber,
                                 .flag = v1::ExpectedAttributeValue::kExistsFieldNumber,
                                 .number = v1::ExpectedAttributeValue::kComparisonOperatorFieldNumber};
constexpr Layout kUpdateLayout{.value = v1::AttributeValueUpdate::kValueFieldNumber,
                               .number = v1::AttributeValueUpdate::kActionFieldNumber};

absl::StatusOr<EntryFields> TakeFields(std::string_view message, const Layout& layout) {
  EntryFields parts;
  while (!message.empty()) {
    WireField field;
    if (!model::TakeField(&message, &field)) return MalformedError("legacy parameter");
    const bool is_value = field.number == layout.value || field.number == layout.values;
    const bool is_number = field.number == layout.flag || field.number == layout.number;
    if (!is_value && !is_number) continue;
    if (field.type != (is_value ? WireType::kBytes : WireType::kVarint)) return MalformedError("legacy parameter");
    if (field.number == layout.value) {
      if (parts.value.has_value()) return MalformedError("legacy parameter: two values");
      parts.value = std::string(field.bytes);
    } else if (field.number == layout.values) {
      parts.values.emplace_back(field.bytes);
    } else if (field.number == layout.flag) {
      parts.flag = field.varint != 0;
    } else {
      parts.number = static_cast<int>(static_cast<int32_t>(field.varint));
    }
  }
  return parts;
}

absl::Status ReadConditions(const Entries& entries, std::optional<std::vector<engine::LegacyCondition>>* to) {
  if (!entries.empty()) to->emplace();
  for (const auto& [name, message] : entries) {
    ARM_ASSIGN_OR_RETURN(EntryFields parts, TakeFields(message, kConditionLayout));
    (*to)->push_back(
        {std::string(name), Text(static_cast<v1::ComparisonOperator>(parts.number)), std::move(parts.values)});
  }
  return absl::OkStatus();
}

absl::Status ReadExpected(const Entries& entries, std::optional<std::vector<engine::LegacyExpectation>>* to) {
  if (!entries.empty()) to->emplace();
  for (const auto& [name, message] : entries) {
    ARM_ASSIGN_OR_RETURN(EntryFields parts, TakeFields(message, kExpectedLayout));
    engine::LegacyExpectation& expected = (*to)->emplace_back();
    expected.attribute = std::string(name);
    expected.value_wire = std::move(parts.value);
    expected.exists = parts.flag;
    expected.comparison_operator = Text(static_cast<v1::ComparisonOperator>(parts.number));
    if (!parts.values.empty()) expected.argument_wires = std::move(parts.values);
  }
  return absl::OkStatus();
}

absl::Status ReadUpdates(const Entries& entries, std::optional<std::vector<engine::LegacyUpdate>>* to) {
  if (!entries.empty()) to->emplace();
  for (const auto& [name, message] : entries) {
    ARM_ASSIGN_OR_RETURN(EntryFields parts, TakeFields(message, kUpdateLayout));
    (*to)->push_back({std::string(name), std::move(parts.value), Text(static_cast<v1::AttributeAction>(parts.number))});
  }
  return absl::OkStatus();
}

// ConsumedCapacity and Capacity share these members.
template <class Message>
void FillUnits(double units, engine::CapacityUse use, Message* to) {
  to->set_capacity_units(units);
  if (use == engine::CapacityUse::kReads) to->set_read_capacity_units(units);
  if (use == engine::CapacityUse::kWrites) to->set_write_capacity_units(units);
}

}  // namespace

absl::Status NotAMessageError(std::string_view operation) {
  return SerializationError(
      Cat("The request is not a valid ", operation, " message: malformed, or text that is not UTF-8"));
}

bool Split(std::string_view request, const LegacyFields& legacy, SplitRequest* split) {
  while (!request.empty()) {
    WireField field;
    if (!model::TakeField(&request, &field)) return false;
    if (legacy.Contains(field.number)) {
      split->legacy.push_back(field);
      continue;
    }
    if (field.number != kItemField && field.number != kValuesField) {
      split->rest.append(field.raw);
      continue;
    }
    if (field.type != WireType::kBytes) return false;
    if (field.number == kItemField) {
      if (!split->item.has_value()) split->item.emplace();
      split->item->append(field.bytes);
    } else {
      if (!split->values.has_value()) split->values.emplace();
      model::AppendBytesField(1, field.bytes, &*split->values);
    }
  }
  return true;
}

absl::Status ReadLegacyMaps(const std::vector<WireField>& fields, const LegacyFields& numbers,
                            engine::LegacyParameters* to) {
  if (fields.empty()) return absl::OkStatus();
  std::map<uint32_t, Entries> maps;
  for (const WireField& field : fields) {
    if (field.type != WireType::kBytes) return MalformedError("legacy parameter");
    ARM_RETURN_IF_ERROR(AddEntry(field.bytes, &maps[field.number]));
  }
  // Number 0 is no field, so maps that the operation lacks stay empty.
  ARM_RETURN_IF_ERROR(ReadUpdates(maps[numbers.attribute_updates], &to->attribute_updates));
  ARM_RETURN_IF_ERROR(ReadExpected(maps[numbers.expected], &to->expected));
  ARM_RETURN_IF_ERROR(ReadConditions(maps[numbers.key_conditions], &to->key_conditions));
  ARM_RETURN_IF_ERROR(ReadConditions(maps[numbers.query_filter], &to->query_filter));
  return ReadConditions(maps[numbers.scan_filter], &to->scan_filter);
}

size_t PageReserve(std::optional<int64_t> limit, size_t item_bytes) {
  constexpr int64_t kExpectedItemsMax = 100;
  constexpr size_t kBytesMax = 256 << 10;
  const int64_t items = std::clamp<int64_t>(limit.value_or(kExpectedItemsMax), 1, kExpectedItemsMax);
  return std::min(static_cast<size_t>(items) * item_bytes, kBytesMax);
}

void FillCapacity(const engine::ConsumedCapacity& from, v1::ConsumedCapacity* to) {
  to->set_table_name(from.table_name);
  FillUnits(from.total, from.use, to);
  if (from.table.has_value()) FillUnits(*from.table, from.use, to->mutable_table());
  for (const auto& [name, units] : from.local_indexes) {
    FillUnits(units, from.use, &(*to->mutable_local_secondary_indexes())[name]);
  }
  for (const auto& [name, units] : from.global_indexes) {
    FillUnits(units, from.use, &(*to->mutable_global_secondary_indexes())[name]);
  }
}

std::string SerializeCollection(const engine::ItemCollectionMetrics& metrics) {
  v1::ItemCollectionMetrics message;
  message.add_size_estimate_range_gb(metrics.lower_gb);
  message.add_size_estimate_range_gb(metrics.upper_gb);
  std::string bytes = message.SerializeAsString();
  model::AppendBytesField(v1::ItemCollectionMetrics::kItemCollectionKeyFieldNumber, metrics.key, &bytes);
  return bytes;
}

}  // namespace armature::daemon
