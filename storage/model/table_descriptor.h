#ifndef ARMATURE_STORAGE_MODEL_TABLE_DESCRIPTOR_H_
#define ARMATURE_STORAGE_MODEL_TABLE_DESCRIPTOR_H_

// The catalog's description of a table and its indexes. VisitFields: see table_settings.h.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/strong_type.h"
#include "storage/model/key_schema.h"
#include "storage/model/table_settings.h"

namespace armature::model {

// Values are on disk: never renumber.
enum class TableState : uint8_t { kCreating = 1, kActive = 2, kUpdating = 3, kDeleting = 4 };
using IndexState = TableState;
enum class ProjectionType : uint8_t { kAll = 1, kKeysOnly = 2, kInclude = 3 };

// Not on disk: the list that contains an index determines its kind.
enum class IndexKind : uint8_t { kLocal, kGlobal };

// The name as the API writes it: CREATING, ALL ...
constexpr std::string_view TableStateName(TableState state) {
  constexpr std::string_view kNames[] = {"UNKNOWN", "CREATING", "ACTIVE", "UPDATING", "DELETING"};
  const auto index = static_cast<uint8_t>(state);
  return kNames[index <= 4 ? index : 0];
}
constexpr std::string_view ProjectionTypeName(ProjectionType type) {
  constexpr std::string_view kNames[] = {"UNKNOWN", "ALL", "KEYS_ONLY", "INCLUDE"};
  const auto index = static_cast<uint8_t>(type);
  return kNames[index <= 3 ? index : 0];
}

// The label of a stream created at `time_ms`, milliseconds since the epoch: 2015-05-11T21:21:33.291, in UTC.
std::string StreamLabel(int64_t time_ms);

struct Projection {
  ProjectionType type = ProjectionType::kAll;
  std::vector<std::string> non_key_attributes;  // kInclude only; in the order given
  friend bool operator==(const Projection&, const Projection&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("type", self.type);
    visit("non_key_attributes", self.non_key_attributes);
  }
};

struct IndexDescriptor : ThroughputSettings {
  IndexId id;
  IndexKind kind = IndexKind::kGlobal;
  std::string name;
  KeySchema key;
  Projection projection;
  IndexState state = IndexState::kActive;
  // True if CREATING, with a column family, and under construction. False while a CREATING index waits for its family.
  bool backfilling = false;
  ThroughputChanges throughput_changes;
  std::optional<ContributorInsights> contributor_insights;  // global indexes only; absent: never enabled
  friend bool operator==(const IndexDescriptor&, const IndexDescriptor&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("id", self.id);
    visit("name", self.name);
    visit("state", self.state);
    visit("backfilling", self.backfilling);
    visit("key", self.key);
    visit("projection", self.projection);
    ThroughputSettings::VisitFields(self, visit);
    visit("throughput_changes", self.throughput_changes);
    visit("contributor_insights", self.contributor_insights);
  }
};

// The backup that a table was restored from, or the import that fills it.
struct RestoreOrigin {
  std::string backup_arn;
  std::string source_table_arn;
  int64_t time_ms = 0;       // since the epoch
  bool in_progress = false;  // the table is being filled; only the restore or the import may use it
  bool is_import = false;    // an import, which survives restarts. The whole origin is removed when it is done
  friend bool operator==(const RestoreOrigin&, const RestoreOrigin&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("backup_arn", self.backup_arn);
    visit("source_table_arn", self.source_table_arn);
    visit("time_ms", self.time_ms);
    visit("in_progress", self.in_progress);
    visit("is_import", self.is_import);
  }
};

struct TableDescriptor {
  TableId id;
  std::string name;
  std::string uuid;  // new for each table, even if it reuses a name
  TableState state = TableState::kCreating;
  int64_t creation_time_ms = 0;
  KeySchema key;
  std::vector<KeyAttribute> attribute_definitions;  // key attributes of the table and all indexes, sorted by name
  std::vector<IndexDescriptor> local_indexes;       // in the order given
  std::vector<IndexDescriptor> global_indexes;
  TableSettings settings;
  std::optional<RestoreOrigin> restore;

  // Also true for a table that is being imported.
  bool is_being_restored() const { return restore.has_value() && restore->in_progress; }
  bool is_being_imported() const { return is_being_restored() && restore->is_import; }
  // All indexes, local ones first. The pointers are valid until an index is added or removed.
  std::vector<const IndexDescriptor*> indexes() const;
  // The index called `name`, or null.
  const IndexDescriptor* FindIndex(std::string_view index_name) const;
  // Last change to PAY_PER_REQUEST, in milliseconds since the epoch; 0: never.
  int64_t OnDemandSinceMs() const;
  // Label of the table's latest stream, even if it is disabled; empty: it never had one.
  std::string LatestStreamLabel() const;
  friend bool operator==(const TableDescriptor&, const TableDescriptor&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("id", self.id);
    visit("name", self.name);
    visit("uuid", self.uuid);
    visit("state", self.state);
    visit("creation_time_ms", self.creation_time_ms);
    visit("key", self.key);
    visit("attribute_definitions", self.attribute_definitions);
    visit("local_indexes", self.local_indexes);
    visit("global_indexes", self.global_indexes);
    visit("settings", self.settings);
    visit("restore", self.restore);
  }
};

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_DESCRIPTOR_H_
