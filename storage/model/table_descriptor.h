#ifndef ARMATURE_STORAGE_MODEL_TABLE_DESCRIPTOR_H_
#define ARMATURE_STORAGE_MODEL_TABLE_DESCRIPTOR_H_

// The catalog's description of a table and its indexes.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/strong_type.h"
#include "storage/model/key_schema.h"

namespace armature::model {

// Values are on disk: never renumber.
enum class TableState : uint8_t { kCreating = 1, kActive = 2, kUpdating = 3, kDeleting = 4 };
enum class IndexState : uint8_t { kCreating = 1, kActive = 2, kUpdating = 3, kDeleting = 4 };
enum class ProjectionType : uint8_t { kAll = 1, kKeysOnly = 2, kInclude = 3 };
enum class BillingMode : uint8_t { kProvisioned = 1, kPayPerRequest = 2 };

// Not on disk: an index's kind follows from where its descriptor stands.
enum class IndexKind : uint8_t { kLocal, kGlobal };

// The name as the API writes it: CREATING, ALL, PROVISIONED ...
std::string_view TableStateName(TableState state);
std::string_view ProjectionTypeName(ProjectionType type);
std::string_view BillingModeName(BillingMode mode);

// The label of a stream made at `time_ms`, milliseconds since the epoch: 2015-05-11T21:21:33.291, in UTC.
std::string StreamLabel(int64_t time_ms);

struct Projection {
  ProjectionType type = ProjectionType::kAll;
  std::vector<std::string> non_key_attributes;  // kInclude only; in the order given
  friend bool operator==(const Projection&, const Projection&) = default;
};

// Capacity per second; -1 in a maximum means "not set".
struct Throughput {
  int64_t read_units = 0;
  int64_t write_units = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;
};

// In a definition, an amount that the client has left out although it is required.
inline constexpr int64_t kThroughputNotGiven = std::numeric_limits<int64_t>::min();

// When provisioned throughput was changed, in milliseconds since the epoch; 0: never.
struct ThroughputChanges {
  int64_t last_increase_ms = 0;
  int64_t last_decrease_ms = 0;
  int64_t decreases = 0;  // on the day (UTC) of the last one
  friend bool operator==(const ThroughputChanges&, const ThroughputChanges&) = default;
};

// How often throughput was decreased on the day (UTC) of `now_ms`.
int64_t DecreasesOnDayOf(int64_t now_ms, const ThroughputChanges& changes);

struct PointInTimeRecovery {
  int64_t enabled_since_ms = 0;
  int32_t period_days = 0;
  friend bool operator==(const PointInTimeRecovery&, const PointInTimeRecovery&) = default;
};

struct IndexDescriptor {
  IndexId id;
  IndexKind kind = IndexKind::kGlobal;
  std::string name;
  KeySchema key;
  Projection projection;
  IndexState state = IndexState::kActive;
  // CREATING and made after its table: it has its column family and is being filled. False: it still waits for that.
  bool backfilling = false;
  std::optional<Throughput> provisioned;  // global indexes of provisioned tables
  std::optional<Throughput> on_demand_max;
  std::optional<Throughput> warm;
  ThroughputChanges throughput_changes;
  friend bool operator==(const IndexDescriptor&, const IndexDescriptor&) = default;
};

// Settings that are kept and reported but mean nothing to items and keys.
struct TableSettings {
  BillingMode billing_mode = BillingMode::kProvisioned;
  std::optional<Throughput> provisioned;
  std::optional<Throughput> on_demand_max;
  std::optional<Throughput> warm;
  bool deletion_protection = false;
  std::string table_class;  // empty: not set
  bool stream_enabled = false;
  std::string stream_view_type;  // empty: no stream
  bool sse_enabled = false;
  std::string sse_type;
  std::string sse_kms_key;
  std::vector<std::pair<std::string, std::string>> tags;
  ThroughputChanges throughput_changes;
  int64_t on_demand_since_ms = 0;                             // see OnDemandSinceMs
  int64_t table_class_changed_ms = 0;                         // 0: never
  std::string latest_stream_label;                            // see LatestStreamLabel
  std::string time_to_live_attribute;                         // empty: off
  std::optional<PointInTimeRecovery> point_in_time_recovery;  // absent: off
  friend bool operator==(const TableSettings&, const TableSettings&) = default;
};

// Where the rows of a table come from that was made of a backup.
struct RestoreOrigin {
  std::string backup_arn;
  std::string source_table_arn;
  int64_t time_ms = 0;       // since the epoch
  bool in_progress = false;  // it is being filled, and nobody but who fills it may use it
  friend bool operator==(const RestoreOrigin&, const RestoreOrigin&) = default;
};

struct TableDescriptor {
  TableId id;
  std::string name;
  std::string uuid;  // fresh for each incarnation of a name
  TableState state = TableState::kCreating;
  int64_t creation_time_ms = 0;
  KeySchema key;
  std::vector<KeyAttribute> attribute_definitions;  // of the table and all indexes, sorted by name
  std::vector<IndexDescriptor> local_indexes;       // in the order given
  std::vector<IndexDescriptor> global_indexes;
  TableSettings settings;
  std::optional<RestoreOrigin> restore;

  bool is_being_restored() const { return restore.has_value() && restore->in_progress; }
  // The index called `name`, or null.
  const IndexDescriptor* FindIndex(std::string_view index_name) const;
  // When the table last became PAY_PER_REQUEST, in milliseconds since the epoch; 0: it never was.
  int64_t OnDemandSinceMs() const;
  // The label of the table's latest stream, also if that is disabled; empty: it never had one.
  std::string LatestStreamLabel() const;
  friend bool operator==(const TableDescriptor&, const TableDescriptor&) = default;
};

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_DESCRIPTOR_H_
