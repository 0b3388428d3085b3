#include "daemon/api/legacy_messages.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "daemon/api/enum_text.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

using model::WireField;
using model::WireType;

constexpr uint32_t kEntryNameField = 1;
constexpr uint32_t kEntryValueField = 2;

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
    if (field.number != kEntryNameField && field.number != kEntryValueField) continue;
    if (field.type != WireType::kBytes) return MalformedError("map entry");
    if (field.number == kEntryNameField) {
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

}  // namespace

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

}  // namespace armature::daemon
