#ifndef ARMATURE_ENGINE_TABLES_TAGS_H_
#define ARMATURE_ENGINE_TABLES_TAGS_H_

// TagResource, UntagResource, ListTagsOfResource.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/model/table_settings.h"
#include "storage/store/database.h"

namespace armature::engine {

// Members are present or absent as in the client's request.
struct TagResourceRequest {
  std::optional<std::string> resource_arn;
  std::optional<model::Tags> tags;
};

struct UntagResourceRequest {
  std::optional<std::string> resource_arn;
  std::optional<std::vector<std::string>> tag_keys;
};

struct ListTagsOfResourceRequest {
  std::optional<std::string> resource_arn;
  std::optional<std::string> next_token;
};

struct ListTagsOfResourceResult {
  model::Tags tags;  // sorted by key
  std::optional<std::string> next_token;
};

// Errors: ValidationException; ResourceNotFoundException, also for a table that is not ACTIVE;
// UnknownOperationException for the ARN of a stream, because tags of streams are not stored. TagResource and
// UntagResource block: they write to disk.
absl::Status TagResource(store::Database* database, const TagResourceRequest& request);
absl::Status UntagResource(store::Database* database, const UntagResourceRequest& request);
// Returns a page of at most ten tags. An invalid token starts from the beginning.
absl::StatusOr<ListTagsOfResourceResult> ListTagsOfResource(const store::Database& database,
                                                            const ListTagsOfResourceRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_TAGS_H_
