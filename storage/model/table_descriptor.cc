#include "storage/model/table_descriptor.h"

#include "absl/time/time.h"

namespace armature::model {

std::string_view TableStateName(TableState state) {
  switch (state) {
    case TableState::kCreating:
      return "CREATING";
    case TableState::kActive:
      return "ACTIVE";
    case TableState::kUpdating:
      return "UPDATING";
    case TableState::kDeleting:
      return "DELETING";
  }
  return "UNKNOWN";
}

std::string_view ProjectionTypeName(ProjectionType type) {
  switch (type) {
    case ProjectionType::kAll:
      return "ALL";
    case ProjectionType::kKeysOnly:
      return "KEYS_ONLY";
    case ProjectionType::kInclude:
      return "INCLUDE";
  }
  return "UNKNOWN";
}

std::string_view BillingModeName(BillingMode mode) {
  switch (mode) {
    case BillingMode::kProvisioned:
      return "PROVISIONED";
    case BillingMode::kPayPerRequest:
      return "PAY_PER_REQUEST";
  }
  return "UNKNOWN";
}

int64_t DecreasesOnDayOf(int64_t now_ms, const ThroughputChanges& changes) {
  constexpr int64_t kDayMs = int64_t{24} * 60 * 60 * 1000;
  return now_ms / kDayMs == changes.last_decrease_ms / kDayMs ? changes.decreases : 0;
}

std::string StreamLabel(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3S", absl::FromUnixMillis(time_ms), absl::UTCTimeZone());
}

const IndexDescriptor* TableDescriptor::FindIndex(std::string_view index_name) const {
  for (const std::vector<IndexDescriptor>* group : {&local_indexes, &global_indexes}) {
    for (const IndexDescriptor& index : *group) {
      if (index.name == index_name) return &index;
    }
  }
  return nullptr;
}

int64_t TableDescriptor::OnDemandSinceMs() const {
  if (settings.on_demand_since_ms != 0) return settings.on_demand_since_ms;
  return settings.billing_mode == BillingMode::kPayPerRequest ? creation_time_ms : 0;
}

std::string TableDescriptor::LatestStreamLabel() const {
  if (!settings.latest_stream_label.empty()) return settings.latest_stream_label;
  return settings.stream_enabled ? StreamLabel(creation_time_ms) : std::string();
}

}  // namespace armature::model
