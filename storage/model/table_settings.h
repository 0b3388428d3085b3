#ifndef ARMATURE_STORAGE_MODEL_TABLE_SETTINGS_H_
#define ARMATURE_STORAGE_MODEL_TABLE_SETTINGS_H_

// Settings of tables and indexes: as a client asks for them, and as the catalog keeps them.
//
// A struct that is kept on disk has VisitFields(self, visit), which calls visit(name, member) for each field. `name` is
// the field's name in storage/store/records/catalog.proto. The disk records and the JSON of `armature inspect` are
// made from these lists.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"

namespace armature::model {

// Keys and values in the given order.
using Tags = std::vector<std::pair<std::string, std::string>>;

// Checks the tags of one request: each is valid, no key occurs twice, and there are not more than a table may have.
// Errors: ValidationException.
absl::Status CheckTags(const Tags& tags);

// Adds a violation for the tag at `without_value`, whose value is absent, if there is one.
void CheckTagValueGiven(const std::optional<size_t>& without_value, ConstraintList* faults);

// Adds `added`, which has passed CheckTags, to `tags`; existing tags with the same keys are replaced. Errors:
// ValidationException if there are too many; `tags` is unspecified then.
absl::Status MergeTags(const Tags& added, Tags* tags);

// Checks the keys of tags to remove. Errors: ValidationException.
absl::Status CheckTagKeys(const std::vector<std::string>& keys);

// Removes the tags with these keys. Unknown keys are ignored.
void RemoveTags(const std::vector<std::string>& keys, Tags* tags);

// Values are on disk: never renumber.
enum class BillingMode : uint8_t { kProvisioned = 1, kPayPerRequest = 2 };

// The names as the API writes them.
inline constexpr std::string_view kProvisionedName = "PROVISIONED";
inline constexpr std::string_view kOnDemandName = "PAY_PER_REQUEST";
constexpr std::string_view BillingModeName(BillingMode mode) {
  return mode == BillingMode::kProvisioned ? kProvisionedName : kOnDemandName;
}

// A maximum of units that is not set.
inline constexpr int64_t kNoMaximum = -1;

// Capacity units per second; a maximum may be kNoMaximum, and 0 in a warm throughput that it follows from the others.
struct Throughput {
  int64_t read_units = 0;
  int64_t write_units = 0;
  friend bool operator==(const Throughput&, const Throughput&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("read_units", self.read_units);
    visit("write_units", self.write_units);
  }
};

// In a request, an amount that the client has left out.
inline constexpr int64_t kThroughputNotGiven = std::numeric_limits<int64_t>::min();

// The throughput of a table or a global index; in a request, the part that is given.
struct ThroughputSettings {
  std::optional<Throughput> provisioned;  // only with BillingMode::kProvisioned
  std::optional<Throughput> on_demand_max;
  std::optional<Throughput> warm;
  friend bool operator==(const ThroughputSettings&, const ThroughputSettings&) = default;

  // The throughput as a part of a larger struct.
  ThroughputSettings& throughput() { return *this; }
  const ThroughputSettings& throughput() const { return *this; }

  static void VisitFields(auto& self, const auto& visit) {
    visit("provisioned", self.provisioned);
    visit("on_demand_max", self.on_demand_max);
    visit("warm", self.warm);
  }
};

// Times of changes of provisioned throughput, in milliseconds since the epoch; 0: never.
struct ThroughputChanges {
  int64_t last_increase_ms = 0;
  int64_t last_decrease_ms = 0;
  int64_t decreases = 0;  // number of decreases on the day (UTC) of the last one
  friend bool operator==(const ThroughputChanges&, const ThroughputChanges&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("last_increase_ms", self.last_increase_ms);
    visit("last_decrease_ms", self.last_decrease_ms);
    visit("decreases", self.decreases);
  }
};

// Number of decreases of throughput on the day (UTC) of `now_ms`.
int64_t DecreasesOnDayOf(int64_t now_ms, const ThroughputChanges& changes);

// The policy of a table or a stream, which says who may use it.
struct ResourcePolicy {
  std::string document;
  std::string revision_id;  // sorts by time
  friend bool operator==(const ResourcePolicy&, const ResourcePolicy&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("document", self.document);
    visit("revision_id", self.revision_id);
  }
};

// Values are on disk: never renumber.
enum class InsightsMode : uint8_t { kAccessedAndThrottledKeys = 1, kThrottledKeys = 2 };

// The name as the API writes it.
constexpr std::string_view InsightsModeName(InsightsMode mode) {
  return mode == InsightsMode::kThrottledKeys ? "THROTTLED_KEYS" : "ACCESSED_AND_THROTTLED_KEYS";
}

// Contributor insights of a table or a global index: counts of the keys that are used most.
struct ContributorInsights {
  bool enabled = false;
  InsightsMode mode = InsightsMode::kAccessedAndThrottledKeys;
  int64_t changed_ms = 0;  // last change of the other members, since the epoch
  friend bool operator==(const ContributorInsights&, const ContributorInsights&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("enabled", self.enabled);
    visit("mode", self.mode);
    visit("changed_ms", self.changed_ms);
  }
};

// True for insights that count keys. Absent insights were never enabled.
constexpr bool AreEnabled(const std::optional<ContributorInsights>& insights) {
  return insights.has_value() && insights->enabled;
}

struct PointInTimeRecovery {
  int64_t enabled_since_ms = 0;
  int32_t period_days = 0;
  friend bool operator==(const PointInTimeRecovery&, const PointInTimeRecovery&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("enabled_since_ms", self.enabled_since_ms);
    visit("period_days", self.period_days);
  }
};

// The settings that the catalog keeps. They do not change the meaning of items and keys.
struct TableSettings : ThroughputSettings {
  BillingMode billing_mode = BillingMode::kProvisioned;
  bool deletion_protection = false;
  std::string table_class;             // empty: not set
  int64_t table_class_changed_ms = 0;  // 0: never
  bool stream_enabled = false;
  std::string stream_view_type;     // empty: no stream
  std::string latest_stream_label;  // see TableDescriptor::LatestStreamLabel
  uint32_t stream_shards = 0;       // the number that the client has asked for; 0: the daemon's default
  bool sse_enabled = false;
  std::string sse_type;
  std::string sse_kms_key;
  Tags tags;
  ThroughputChanges throughput_changes;
  int64_t on_demand_since_ms = 0;                             // see TableDescriptor::OnDemandSinceMs
  std::string time_to_live_attribute;                         // empty: off
  uint32_t time_to_live_generation = 0;                       // number of times that it was switched on or off
  std::optional<PointInTimeRecovery> point_in_time_recovery;  // absent: off
  std::optional<ResourcePolicy> resource_policy;              // absent: none
  std::optional<ContributorInsights> contributor_insights;    // absent: never enabled
  friend bool operator==(const TableSettings&, const TableSettings&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("billing_mode", self.billing_mode);
    ThroughputSettings::VisitFields(self, visit);
    visit("deletion_protection", self.deletion_protection);
    visit("table_class", self.table_class);
    visit("table_class_changed_ms", self.table_class_changed_ms);
    visit("stream_enabled", self.stream_enabled);
    visit("stream_view_type", self.stream_view_type);
    visit("latest_stream_label", self.latest_stream_label);
    visit("stream_shards", self.stream_shards);
    visit("sse_enabled", self.sse_enabled);
    visit("sse_type", self.sse_type);
    visit("sse_kms_key", self.sse_kms_key);
    visit("tags", self.tags);
    visit("throughput_changes", self.throughput_changes);
    visit("on_demand_since_ms", self.on_demand_since_ms);
    visit("time_to_live_attribute", self.time_to_live_attribute);
    visit("time_to_live_generation", self.time_to_live_generation);
    visit("point_in_time_recovery", self.point_in_time_recovery);
    visit("resource_policy", self.resource_policy);
    visit("contributor_insights", self.contributor_insights);
  }
};

// A stream has a power of two as its number of shards. So when the number grows, each new shard takes a part of one old
// one, its parent, which consumers finish first. A smaller number would need shards with several parents, which the API
// cannot express, so the number never falls.
inline constexpr uint32_t kStreamShardsMax = 64;
constexpr bool IsShardCount(int64_t count) {
  return count >= 1 && count <= int64_t{kStreamShardsMax} && (count & (count - 1)) == 0;
}

struct StreamDefinition {
  std::optional<bool> enabled;
  std::string view_type;                         // empty: absent
  std::optional<int64_t> shards = std::nullopt;  // a member of this daemon
};

struct SseDefinition {
  std::optional<bool> enabled;
  std::string type;     // empty: absent
  std::string kms_key;  // empty: absent
};

// The settings in CreateTable and UpdateTable. Enums are texts, because an error about an unknown one repeats it. An
// empty text means that the client has not given it; so does kThroughputNotGiven.
struct SettingsDefinition : ThroughputSettings {
  std::string billing_mode;
  std::optional<StreamDefinition> stream;
  std::optional<SseDefinition> sse;
  std::string table_class;
  std::optional<bool> deletion_protection;
};

// Number of settings that `definition` gives.
int CountGiven(const SettingsDefinition& definition);

// Amounts that are not given become kNoMaximum in `on_demand_max` and 0 in `warm`.
ThroughputSettings WithDefaults(const ThroughputSettings& given);

// The settings of a new table without tags. `definition` has passed all checks of setting_rules.h.
TableSettings BuildSettings(const SettingsDefinition& definition);

// Replaces the encryption. `sse` has passed CheckSse.
void ApplySse(const SseDefinition& sse, TableSettings* settings);

// Changes the settings that depend on nothing but their earlier value. Provisioned throughput, billing mode and stream
// have rules of their own, in table_update.cc.
void ApplyPlainSettings(const SettingsDefinition& definition, int64_t now_ms, TableSettings* settings);

// The throughput that a table or an index can serve at once: the larger of the requested amount and the provisioned
// one, or that of every table that is on demand.
Throughput WarmThroughputOf(const ThroughputSettings& settings);

// Warm throughput never decreases: keeps in `settings`, which have changed, the amounts that could be served `before`.
void KeepWarmThroughput(const Throughput& before, ThroughputSettings* settings);

// True if a change of settings makes the table UPDATING for a while. Protection, encryption and warm throughput do not.
bool NeedsUpdating(const TableSettings& before, const TableSettings& after);

// Changes the maximum and the warm throughput of a table or an index. Amounts that are not given stay as they are.
void ApplyThroughputLimits(const ThroughputSettings& given, ThroughputSettings* current);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TABLE_SETTINGS_H_
