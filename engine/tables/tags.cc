#include "engine/tables/tags.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

constexpr size_t kResourceArnMaxChars = 1283;
constexpr size_t kTagsPerPage = 10;
constexpr std::string_view kStreamInfix = "/stream/";

void CheckArnShape(const std::optional<std::string>& arn, model::ConstraintList* constraints) {
  if (!arn.has_value()) return;
  constraints->CheckLengthMax(model::PrintedValue(*arn), model::CharacterCount(*arn), "resourceArn",
                              kResourceArnMaxChars);
}

absl::Status NotFound(std::string_view arn) {
  return ResourceNotFoundError(Cat("Requested resource not found: ResourceArn: ", arn, " not found"));
}

// The local name of the table that `arn` names; empty for another region or account.
absl::StatusOr<std::string_view> TableOf(const std::optional<std::string>& arn) {
  if (!arn.has_value() || arn->empty()) return ValidationError("Invalid TableArn");
  if (!model::IsArn(*arn)) return InvalidParameterError(Cat("ARNs must start with 'arn:': ", *arn));
  const absl::Status wrong = InvalidParameterError(
      Cat("Invalid resource arn provided, only table or stream is accepted. Provided resource arn: ", *arn));
  model::Arn parts;
  if (!model::ParseArn(*arn, &parts).ok()) return wrong;
  const std::string_view table_arn = std::string_view(*arn).substr(0, arn->find(kStreamInfix));
  if (!model::CheckTableReference(table_arn).ok()) return wrong;
  return model::LocalTableName(table_arn);
}

bool IsStream(std::string_view arn) { return arn.find(kStreamInfix) != std::string_view::npos; }

bool HasTags(const model::TableDescriptor& table) {
  return table.state == model::TableState::kActive || table.state == model::TableState::kUpdating;
}

// OK if `arn` names `table` itself and the table has tags.
absl::Status CheckResource(std::string_view arn, const model::TableDescriptor& table) {
  if (!HasTags(table)) return NotFound(arn);
  if (!IsStream(arn)) return absl::OkStatus();
  const std::string label = table.LatestStreamLabel();
  if (label.empty() || !arn.ends_with(Cat(kStreamInfix, label))) return NotFound(arn);
  return UnknownOperationError("Tags of streams are not available in this version");
}

absl::Status ChangeTags(store::Database* database, const std::string& arn, std::string_view table,
                        absl::FunctionRef<absl::Status(model::Tags*)> change) {
  ARM_ASSIGN_OR_RETURN(const std::optional<model::TableDescriptor> changed,
                       database->UpdateTable(table, [&](model::TableDescriptor* descriptor) -> absl::Status {
                         ARM_RETURN_IF_ERROR(CheckResource(arn, *descriptor));
                         return change(&descriptor->settings.tags);
                       }));
  return changed.has_value() ? absl::OkStatus() : NotFound(arn);
}

// The key behind which the page begins.
std::string KeyOf(const std::optional<std::string>& token) {
  std::string key;
  if (!token.has_value() || !absl::WebSafeBase64Unescape(*token, &key)) return {};
  return key;
}

}  // namespace

absl::Status TagResource(store::Database* database, const TagResourceRequest& request) {
  model::ConstraintList constraints;
  CheckArnShape(request.resource_arn, &constraints);
  if (!request.tags.has_value()) constraints.AddNull("tags");
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view table, TableOf(request.resource_arn));
  if (request.tags->empty()) return ValidationError("Atleast one Tag needs to be provided as Input.");
  ARM_RETURN_IF_ERROR(model::CheckTags(*request.tags));
  return ChangeTags(database, *request.resource_arn, table,
                    [&](model::Tags* tags) { return model::MergeTags(*request.tags, tags); });
}

absl::Status UntagResource(store::Database* database, const UntagResourceRequest& request) {
  model::ConstraintList constraints;
  CheckArnShape(request.resource_arn, &constraints);
  if (!request.tag_keys.has_value()) constraints.AddNull("tagKeys");
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view table, TableOf(request.resource_arn));
  if (request.tag_keys->empty()) return ValidationError("Atleast one Tag Key needs to be provided as Input.");
  ARM_RETURN_IF_ERROR(model::CheckTagKeys(*request.tag_keys));
  return ChangeTags(database, *request.resource_arn, table, [&](model::Tags* tags) {
    model::RemoveTags(*request.tag_keys, tags);
    return absl::OkStatus();
  });
}

absl::StatusOr<ListTagsOfResourceResult> ListTagsOfResource(const store::Database& database,
                                                            const ListTagsOfResourceRequest& request) {
  model::ConstraintList constraints;
  CheckArnShape(request.resource_arn, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view name, TableOf(request.resource_arn));
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database.catalog();
  const store::Table* const table = catalog->Find(name);
  if (table == nullptr) return NotFound(*request.resource_arn);
  ARM_RETURN_IF_ERROR(CheckResource(*request.resource_arn, table->descriptor));
  model::Tags sorted = table->descriptor.settings.tags;
  std::sort(sorted.begin(), sorted.end());
  const std::string after = KeyOf(request.next_token);
  ListTagsOfResourceResult result;
  for (auto& tag : sorted) {
    if (!after.empty() && tag.first <= after) continue;
    if (result.tags.size() == kTagsPerPage) {
      result.next_token = absl::WebSafeBase64Escape(result.tags.back().first);
      break;
    }
    result.tags.push_back(std::move(tag));
  }
  return result;
}

}  // namespace armature::engine
