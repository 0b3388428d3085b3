#ifndef ARMATURE_ENGINE_TABLES_CONTRIBUTOR_INSIGHTS_H_
#define ARMATURE_ENGINE_TABLES_CONTRIBUTOR_INSIGHTS_H_

// UpdateContributorInsights, DescribeContributorInsights, ListContributorInsights: the setting of tables and global
// indexes. See hot_keys.h for the counts.
//
// Members of requests are present or absent as in the client's request.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/model/table_settings.h"
#include "storage/store/database.h"

namespace armature::engine {

// Limit on the tables and indexes with insights, because of their memory (store::KeyTraffic).
inline constexpr size_t kInsightsMax = 100;

struct UpdateContributorInsightsRequest {
  std::optional<std::string> table_name;  // name or ARN
  std::optional<std::string> index_name;
  std::optional<std::string> action;  // ENABLE, DISABLE
  std::optional<std::string> mode;    // ACCESSED_AND_THROTTLED_KEYS, THROTTLED_KEYS
};

struct InsightsDescription {
  std::string table_name;
  std::optional<std::string> index_name;               // absent: the table itself
  std::optional<model::ContributorInsights> insights;  // absent: never enabled
  bool has_changed = false;                            // UpdateContributorInsights has enabled or disabled them
};

// Returns the new setting, which takes effect at once. The counts begin anew when insights are enabled, and continue if
// only the mode changes. Blocking: writes to disk. Errors: ValidationException; ResourceNotFoundException, also for
// local indexes; ResourceInUseException; LimitExceededException.
absl::StatusOr<InsightsDescription> UpdateContributorInsights(store::Database* database,
                                                              const UpdateContributorInsightsRequest& request);

// Errors: ValidationException, ResourceNotFoundException.
absl::StatusOr<InsightsDescription> DescribeContributorInsights(const store::Database& database,
                                                                const std::optional<std::string>& table_name,
                                                                const std::optional<std::string>& index_name);

struct ListContributorInsightsRequest {
  std::optional<std::string> table_name;  // absent: all tables
  std::optional<std::string> next_token;
  std::optional<int64_t> max_results;
};

struct ListContributorInsightsResult {
  std::vector<InsightsDescription> summaries;
  std::optional<std::string> next_token;
};

// A page of all tables and global indexes: tables by name, each followed by its indexes. Errors: ValidationException,
// ResourceNotFoundException.
absl::StatusOr<ListContributorInsightsResult> ListContributorInsights(const store::Database& database,
                                                                      const ListContributorInsightsRequest& request);

// The error for an index that the table does not have, or that has no insights of its own.
absl::Status NoInsightsIndexError(std::string_view index_name, std::string_view table_name);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_CONTRIBUTOR_INSIGHTS_H_
