#include "engine/tables/resource_arn.h"

#include <algorithm>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

constexpr size_t kResourceArnMaxChars = 1283;
constexpr std::string_view kStreamPart = "/stream/";
// True for a whole ARN of anything but DynamoDB.
bool IsOfOtherService(std::string_view arn) {
  constexpr int kColons = 5;
  if (std::count(arn.begin(), arn.end(), ':') < kColons) return false;
  arn.remove_prefix(arn.find(':') + 1);
  arn.remove_prefix(arn.find(':') + 1);
  return !arn.starts_with("dynamodb:");
}

}  // namespace

void CheckResourceArnShape(const std::optional<std::string>& arn, model::ConstraintList* constraints) {
  if (!arn.has_value()) return;
  constraints->CheckLengthMax(model::PrintedValue(*arn), model::CharacterCount(*arn), "resourceArn",
                              kResourceArnMaxChars);
}

absl::StatusOr<std::string_view> TableOfResource(const std::optional<std::string>& arn, ResourceUse use) {
  if (!arn.has_value() || arn->empty()) return ValidationError("Invalid TableArn");
  if (!model::IsArn(*arn))
    return InvalidParameterError(Cat("ARNs must start with 'arn:': ", model::Shown(*arn, model::kPrintedMaxBytes)));
  if (IsOfOtherService(*arn)) {
    if (use == ResourceUse::kTags) return model::OtherAccountError();
    return InvalidParameterError(
        Cat("Provided Arn is not a DynamoDB resource arn: ", model::Shown(*arn, model::kPrintedMaxBytes)));
  }
  const std::string_view table_arn = std::string_view(*arn).substr(0, arn->find(kStreamPart));
  model::Arn parts;
  if (!model::IsTableArn(table_arn) || !model::ParseArn(table_arn, &parts).ok()) {
    return InvalidParameterError(
        Cat("Invalid resource arn provided, only table or stream is accepted. Provided resource arn: ", *arn));
  }
  if (!parts.is_of_this_region()) {
    if (use == ResourceUse::kPolicy)
      return InvalidParameterError(Cat("Invalid resource Arn: ", model::Shown(*arn, model::kPrintedMaxBytes)));
    return ValidationError(
        Cat("Invalid TableArn: Invalid ResourceArn provided as input ", model::Shown(*arn, model::kPrintedMaxBytes)));
  }
  if (!parts.is_of_this_account()) {
    return use == ResourceUse::kPolicy ? OtherOwnerError() : model::OtherAccountError();
  }
  return model::TableNamePart(table_arn);
}

absl::Status OtherOwnerError() {
  // With the apostrophe of the original.
  return ValidationError("This action is only supported by accounts that match the resource owner’s account.");
}

bool IsStreamResource(std::string_view arn) { return arn.find(kStreamPart) != std::string_view::npos; }

std::string_view StreamLabelOf(std::string_view arn) { return arn.substr(arn.find(kStreamPart) + kStreamPart.size()); }

absl::Status ResourceArnNotFoundError(std::string_view arn) {
  return ResourceNotFoundError(Cat("Requested resource not found: ResourceArn: ", arn, " not found"));
}

}  // namespace armature::engine
