#ifndef ARMATURE_ENGINE_TABLES_RESOURCE_ARN_H_
#define ARMATURE_ENGINE_TABLES_RESOURCE_ARN_H_

// The parameter ResourceArn of operations on tags and policies: the ARN of a table or of a stream.

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// Checks the length.
void CheckResourceArnShape(const std::optional<std::string>& arn, model::ConstraintList* constraints);

// The local name of the table that `arn` names; empty for another region or account. Errors: ValidationException for
// anything but the ARN of a table or a stream.
absl::StatusOr<std::string_view> TableOfResource(const std::optional<std::string>& arn);

bool IsStreamResource(std::string_view arn);
// The label of a stream's ARN.
std::string_view StreamLabelOf(std::string_view arn);

// ResourceNotFoundException.
absl::Status ResourceArnNotFoundError(std::string_view arn);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_RESOURCE_ARN_H_
