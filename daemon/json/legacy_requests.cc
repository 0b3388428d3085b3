// Legacy (pre-expression) parameters.

#include <map>
#include <string_view>
#include <utility>

#include "daemon/json/item_reader.h"
#include "daemon/json/item_requests.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

// Reads a map of structures called `shape`, whose members `read` sets. The map by name sorts them and keeps the last of
// several with one name.
template <class Entry>
absl::Status ReadEntries(JsonValue value, std::string_view shape,
                         absl::Status (*read)(std::string_view, JsonValue, Entry*),
                         std::optional<std::vector<Entry>>* to) {
  std::map<std::string_view, Entry> entries;
  const auto read_entry = [&](std::string_view attribute, JsonValue structure) {
    Entry entry;
    entry.attribute = std::string(attribute);
    absl::Status status = ReadStructure(
        structure, shape, [&](std::string_view name, JsonValue member) { return read(name, member, &entry); });
    if (status.ok()) entries.insert_or_assign(attribute, std::move(entry));
    return status;
  };
  ARM_RETURN_IF_ERROR(ReadMap(value, shape, read_entry));
  to->emplace();
  for (auto& [attribute, entry] : entries) (*to)->push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status ReadArguments(JsonValue value, std::vector<std::string>* to) {
  std::optional<std::vector<std::string>> wires;
  ARM_RETURN_IF_ERROR(ReadAttributeValueList(value, &wires));
  *to = *std::move(wires);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadAttributeUpdates(JsonValue value, std::optional<std::vector<engine::LegacyUpdate>>* to) {
  return ReadEntries<engine::LegacyUpdate>(
      value, "AttributeValueUpdate",
      [](std::string_view name, JsonValue member, engine::LegacyUpdate* entry) {
        if (name == "Value") return ReadAttributeValue(member, &entry->value_wire);
        if (name == "Action") return ReadString(member, &entry->action);
        return absl::OkStatus();
      },
      to);
}

absl::Status ReadExpected(JsonValue value, std::optional<std::vector<engine::LegacyExpectation>>* to) {
  return ReadEntries<engine::LegacyExpectation>(
      value, "ExpectedAttributeValue",
      [](std::string_view name, JsonValue member, engine::LegacyExpectation* entry) {
        if (name == "Value") return ReadAttributeValue(member, &entry->value_wire);
        if (name == "Exists") return ReadBoolean(member, &entry->exists);
        if (name == "ComparisonOperator") return ReadString(member, &entry->comparison_operator);
        if (name == "AttributeValueList") return ReadAttributeValueList(member, &entry->argument_wires);
        return absl::OkStatus();
      },
      to);
}

absl::Status ReadConditions(JsonValue value, std::optional<std::vector<engine::LegacyCondition>>* to) {
  return ReadEntries<engine::LegacyCondition>(
      value, "Condition",
      [](std::string_view name, JsonValue member, engine::LegacyCondition* entry) {
        if (name == "ComparisonOperator") return ReadString(member, &entry->comparison_operator);
        if (name == "AttributeValueList") return ReadArguments(member, &entry->argument_wires);
        return absl::OkStatus();
      },
      to);
}

}  // namespace armature::daemon
