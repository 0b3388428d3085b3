#ifndef ARMATURE_ENGINE_TABLES_TABLE_SETTINGS_H_
#define ARMATURE_ENGINE_TABLES_TABLE_SETTINGS_H_

// Settings of tables with operations of their own: tags, time to live, continuous backups; and the limits of the
// account. Members of requests are present or absent as in the client's request.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/archive/restorable.h"
#include "storage/model/table_descriptor.h"
#include "storage/model/table_settings.h"
#include "storage/store/database.h"

namespace armature::archive {
class Shipper;
}

namespace armature::engine {

// False for a table that is being restored from a backup: until that is complete, operations on settings answer that
// the table is not there, as in the original service.
bool HasSettings(const model::TableDescriptor& table);

// Catalog::Update for operations on settings: nullopt also for a table without settings.
absl::StatusOr<std::optional<model::TableDescriptor>> UpdateSettings(
    store::Database* database, std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change);

// OK if settings of the table may be changed. Errors: ResourceInUseException while it is created or deleted.
absl::Status CheckSettingsMayChange(const model::TableDescriptor& table);

// TagResource, UntagResource, ListTagsOfResource.
struct TagResourceRequest {
  std::optional<std::string> resource_arn;
  std::optional<model::Tags> tags;
  std::optional<size_t> tag_without_value = {};  // position in `tags` of the first tag whose value is absent
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

// The resource is a table or a stream. Errors: ValidationException; ResourceNotFoundException, also for a table that is
// not ACTIVE. TagResource and UntagResource block: they write to disk.
absl::Status TagResource(store::Database* database, const TagResourceRequest& request);
absl::Status UntagResource(store::Database* database, const UntagResourceRequest& request);
// Returns a page of at most ten tags. An invalid token starts from the beginning.
absl::StatusOr<ListTagsOfResourceResult> ListTagsOfResource(const store::Database& database,
                                                            const ListTagsOfResourceRequest& request);

template <class Specification>
struct SettingUpdate {
  std::optional<std::string> table_name;
  std::optional<Specification> specification;
};

// UpdateTimeToLive, DescribeTimeToLive. See Expirer for its effect.
struct TimeToLiveSpecification {
  std::optional<bool> enabled;
  std::optional<std::string> attribute_name;
};

using UpdateTimeToLiveRequest = SettingUpdate<TimeToLiveSpecification>;

struct TimeToLiveDescription {
  std::string attribute_name;  // empty: time to live is off
};

// Returns the specification as sent. Blocking: writes to disk. Errors: ValidationException, ResourceNotFoundException,
// ResourceInUseException.
absl::StatusOr<TimeToLiveSpecification> UpdateTimeToLive(store::Database* database,
                                                         const UpdateTimeToLiveRequest& request);
absl::StatusOr<TimeToLiveDescription> DescribeTimeToLive(const store::Database& database,
                                                         const std::optional<std::string>& table_name);

// DescribeContinuousBackups, UpdateContinuousBackups. Without an archive tables cannot be restored to a point in time:
// the setting is stored and reported without a window, and a warning in the log says so when it is enabled. Exports
// require the setting, as in the original service.
struct PointInTimeRecoverySpecification {
  std::optional<bool> enabled;
  std::optional<int64_t> period_days;
};

using UpdateContinuousBackupsRequest = SettingUpdate<PointInTimeRecoverySpecification>;

struct ContinuousBackupsDescription {
  bool enabled = true;  // ContinuousBackupsStatus: true once the table has been created
  // PointInTimeRecoveryDescription. The other members are set only if it is enabled.
  bool recovery_enabled = false;
  int64_t period_days = 0;
  std::optional<archive::Span> window;  // absent: nothing can be restored, or nothing yet
};

// The beginning of the window of recovery as far as the setting tells, in milliseconds since the epoch. Windows begin
// and end with whole seconds.
int64_t EarliestRestorableMs(const model::PointInTimeRecovery& recovery, absl::Time now);

// The times to which a table with the setting can be restored; the archive may lack some in between. `spans`: the
// moments that the archive can restore. A window that has just begun may end somewhat ahead of the archive. Nullopt:
// none.
std::optional<archive::Span> RestorableWindow(const model::PointInTimeRecovery& recovery,
                                              const std::vector<archive::Span>& spans, absl::Time now);
// RestorableWindow of an archive; null: there is none.
std::optional<archive::Span> RestorableWindow(const model::PointInTimeRecovery& recovery,
                                              const archive::Shipper* archive, absl::Time now);

// `archive`: null if there is none. Errors: ValidationException, TableNotFoundException,
// ContinuousBackupsUnavailableException. UpdateContinuousBackups blocks: it writes to disk.
absl::StatusOr<ContinuousBackupsDescription> DescribeContinuousBackups(const store::Database& database,
                                                                       const archive::Shipper* archive,
                                                                       const std::optional<std::string>& table_name);
absl::StatusOr<ContinuousBackupsDescription> UpdateContinuousBackups(store::Database* database,
                                                                     const archive::Shipper* archive,
                                                                     const UpdateContinuousBackupsRequest& request);

// DescribeLimits, DescribeEndpoints: answers for programs that ask for them. Nothing depends on them. Capacity units
// per second.
struct AccountLimits {
  int64_t account_read_units_max = 80'000;
  int64_t account_write_units_max = 80'000;
  int64_t table_read_units_max = 40'000;
  int64_t table_write_units_max = 40'000;
};

// Minutes for which clients may cache the address from DescribeEndpoints.
inline constexpr int64_t kEndpointCacheMinutes = 1440;

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_TABLE_SETTINGS_H_
