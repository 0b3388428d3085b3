#ifndef ARMATURE_ENGINE_TABLES_TIME_TO_LIVE_H_
#define ARMATURE_ENGINE_TABLES_TIME_TO_LIVE_H_

// UpdateTimeToLive, DescribeTimeToLive: the setting is stored and reported. Items do not expire yet.

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "storage/store/database.h"

namespace armature::engine {

struct TimeToLiveSpecification {
  std::optional<bool> enabled;
  std::optional<std::string> attribute_name;
};

struct UpdateTimeToLiveRequest {
  std::optional<std::string> table_name;
  std::optional<TimeToLiveSpecification> specification;
};

struct TimeToLiveDescription {
  std::string attribute_name;  // empty: time to live is off
};

// Returns the specification as sent. Blocking: writes to disk. Errors: ValidationException, ResourceNotFoundException,
// ResourceInUseException.
absl::StatusOr<TimeToLiveSpecification> UpdateTimeToLive(store::Database* database,
                                                         const UpdateTimeToLiveRequest& request);
absl::StatusOr<TimeToLiveDescription> DescribeTimeToLive(const store::Database& database,
                                                         const std::optional<std::string>& table_name);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_TIME_TO_LIVE_H_
