#ifndef ARMATURE_STORAGE_MODEL_TAGS_H_
#define ARMATURE_STORAGE_MODEL_TAGS_H_

// The rules of tags.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace armature::model {

// Keys and values, in the order given.
using Tags = std::vector<std::pair<std::string, std::string>>;

// Tags of one request: each valid, no key twice, not more than a table may have. Errors: ValidationException.
absl::Status CheckTags(const Tags& tags);

// Adds `added`, which CheckTags has passed, to `tags` in place of those with the same keys. Errors:
// ValidationException if they become too many; `tags` is unspecified then.
absl::Status MergeTags(const Tags& added, Tags* tags);

// Keys of tags to be removed. Errors: ValidationException.
absl::Status CheckTagKeys(const std::vector<std::string>& keys);

// Removes the tags with these keys; others are no error.
void RemoveTags(const std::vector<std::string>& keys, Tags* tags);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TAGS_H_
