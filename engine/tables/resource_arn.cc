#include "engine/tables/resource_arn.h"

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

constexpr size_t kResourceArnMaxChars = 1283;
constexpr std::string_view kStreamPart = "/stream/";

}  // namespace

void CheckResourceArnShape(const std::optional<std::string>& arn, model::ConstraintList* constraints) {
  if (!arn.has_value()) return;
  constraints->CheckLengthMax(model::PrintedValue(*arn), model::CharacterCount(*arn), "resourceArn",
                              kResourceArnMaxChars);
}

absl::StatusOr<std::string_view> TableOfResource(const std::optional<std::string>& arn) {
  if (!arn.has_value() || arn->empty()) return ValidationError("Invalid TableArn");
  if (!model::IsArn(*arn)) return InvalidParameterError(Cat("ARNs must start with 'arn:': ", *arn));
  const absl::Status wrong = InvalidParameterError(
      Cat("Invalid resource arn provided, only table or stream is accepted. Provided resource arn: ", *arn));
  model::Arn parts;
  if (!model::ParseArn(*arn, &parts).ok()) return wrong;
  const std::string_view table_arn = std::string_view(*arn).substr(0, arn->find(kStreamPart));
  if (!model::CheckTableReference(table_arn).ok()) return wrong;
  return model::LocalTableName(table_arn);
}

bool IsStreamResource(std::string_view arn) { return arn.find(kStreamPart) != std::string_view::npos; }

std::string_view StreamLabelOf(std::string_view arn) { return arn.substr(arn.find(kStreamPart) + kStreamPart.size()); }

absl::Status ResourceArnNotFoundError(std::string_view arn) {
  return ResourceNotFoundError(Cat("Requested resource not found: ResourceArn: ", arn, " not found"));
}

}  // namespace armature::engine
