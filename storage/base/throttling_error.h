#ifndef ARMATURE_STORAGE_BASE_THROTTLING_ERROR_H_
#define ARMATURE_STORAGE_BASE_THROTTLING_ERROR_H_

// Errors of operations that exceed the capacity of a table or an index.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace armature {

// The exhausted capacity.
struct ThrottlingReason {
  std::string reason;    // as documented, such as "IndexWriteProvisionedThroughputExceeded"
  std::string resource;  // ARN of the table or index
};

// ProvisionedThroughputExceededException. The client may repeat the request after `retry_after_ms`.
absl::Status ProvisionedThroughputExceededError(std::string_view message, const ThrottlingReason& reason,
                                                int64_t retry_after_ms);
// Adds a reason to `status`, a ThrottlingException.
absl::Status WithThrottlingReason(absl::Status status, const ThrottlingReason& reason);

// The reasons in `status`; empty if it has none.
std::vector<ThrottlingReason> GetThrottlingReasons(const absl::Status& status);

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_THROTTLING_ERROR_H_
