#include "engine/items/constraints.h"

#include "absl/container/flat_hash_set.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_name.h"

namespace armature::engine {

void CheckReturnValues(std::string_view value, const LayerRules& rules, model::ConstraintList* list) {
  model::ConstraintList violation;
  CheckOptionalEnum(value, "returnValues", kReturnValuesValues, rules.short_enums ? &violation : list);
  if (violation.empty()) return;
  list->AddText(
      "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, "
      "NONE]");
}

void CheckClientRequestToken(const std::optional<std::string>& token, model::ConstraintList* list) {
  if (!token.has_value()) return;
  const std::string printed = model::PrintedValue(model::Shown(*token));
  const size_t length = model::CharacterCount(*token);
  list->CheckLengthMin(printed, length, "clientRequestToken", 1);
  list->CheckLengthMax(printed, length, "clientRequestToken", model::kClientTokenMaxChars);
}

absl::Status CheckShape(const std::optional<std::string>& table_name, const RequiredMember& member,
                        absl::FunctionRef<void(model::ConstraintList*)> add_others) {
  model::ConstraintList constraints;
  if (table_name.has_value() && member.given) {
    ARM_RETURN_IF_ERROR(model::CheckTableReference(*table_name));
  } else {
    model::CheckTableReferenceShape(table_name, &constraints);
  }
  if (!member.given) constraints.AddNull(member.path);
  add_others(&constraints);
  return constraints.ToStatus();
}

std::string PrintedRequestItems(std::string_view table_name, std::string_view printed) {
  return model::PrintedValue(Cat("{", model::Shown(table_name), "=", printed, "}"));
}

bool IsRequestItemsKey(std::string_view name_or_arn) {
  return model::IsArn(name_or_arn) || model::IsName(name_or_arn, model::kTableNameMinChars);
}

void AddRequestItemsKeys(std::string_view printed, model::ConstraintList* constraints) {
  constraints->Add(model::PrintedValue(printed), "requestItems",
                   "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must "
                   "have length greater than or equal to 3, Member must satisfy regular expression pattern: "
                   "[a-zA-Z0-9_.-]+]");
}

absl::Status CheckTablesOnce(const std::vector<std::string_view>& names) {
  absl::flat_hash_set<std::string_view, StringHash, std::equal_to<>> tables;
  for (const std::string_view name : names) {
    ARM_RETURN_IF_ERROR(model::CheckTableReference(name));
    if (!tables.insert(model::LocalTableName(name)).second && !model::LocalTableName(name).empty()) {
      return ValidationError(Cat("RequestItems names the table ", model::LocalTableName(name), " more than once"));
    }
  }
  return absl::OkStatus();
}

}  // namespace armature::engine
