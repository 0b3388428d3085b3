#include "storage/model/table_descriptor.h"

#include "absl/time/time.h"

namespace armature::model {

std::string StreamLabel(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3S", absl::FromUnixMillis(time_ms), absl::UTCTimeZone());
}

std::vector<const IndexDescriptor*> TableDescriptor::indexes() const {
  std::vector<const IndexDescriptor*> all;
  for (const IndexDescriptor& index : local_indexes) all.push_back(&index);
  for (const IndexDescriptor& index : global_indexes) all.push_back(&index);
  return all;
}

const IndexDescriptor* TableDescriptor::FindIndex(std::string_view index_name) const {
  for (const IndexDescriptor* const index : indexes()) {
    if (index->name == index_name) return index;
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
