#ifndef ARMATURE_ENGINE_TABLES_RESOURCE_ARN_H_
#define ARMATURE_ENGINE_TABLES_RESOURCE_ARN_H_

// The parameter ResourceArn of operations on tags and policies: the ARN of a table or of a stream.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// Checks the length.
void CheckResourceArnShape(const std::optional<std::string>& arn, model::ConstraintList* constraints);

// The operations have their own errors for resources of another region, account or service.
enum class ResourceUse : uint8_t { kTags, kPolicy };

// The name of the table that `arn` names, or of the table of the stream that it names. Errors: ValidationException for
// anything but the ARN of a table or a stream in this region; AccessDeniedException, for tags, if it belongs to another
// account or service. Source: answers of the original service, captured in October 2026.
absl::StatusOr<std::string_view> TableOfResource(const std::optional<std::string>& arn, ResourceUse use);

// The answer of some operations to the ARN of a table of another account.
absl::Status OtherOwnerError();

bool IsStreamResource(std::string_view arn);
// The label of a stream's ARN.
std::string_view StreamLabelOf(std::string_view arn);

// ResourceNotFoundException.
absl::Status ResourceArnNotFoundError(std::string_view arn);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_RESOURCE_ARN_H_
