#ifndef ARMATURE_STORAGE_MODEL_TAGS_H_
#define ARMATURE_STORAGE_MODEL_TAGS_H_

// Rules for tags.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace armature::model {

// Keys and values in the given order.
using Tags = std::vector<std::pair<std::string, std::string>>;

// Checks the tags of one request: each is valid, no key occurs twice, and there are not more than a table may have.
// Errors: ValidationException.
absl::Status CheckTags(const Tags& tags);

// Adds `added`, which has passed CheckTags, to `tags`; existing tags with the same keys are replaced. Errors:
// ValidationException if there are too many; `tags` is unspecified then.
absl::Status MergeTags(const Tags& added, Tags* tags);

// Checks the keys of tags to remove. Errors: ValidationException.
absl::Status CheckTagKeys(const std::vector<std::string>& keys);

// Removes the tags with these keys. Unknown keys are ignored.
void RemoveTags(const std::vector<std::string>& keys, Tags* tags);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TAGS_H_
