#include "daemon/api/message_parts.h"

#include <algorithm>

#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

// ConsumedCapacity and Capacity share these members.
template <class Message>
void FillUnits(double units, engine::CapacityUse use, Message* to) {
  to->set_capacity_units(units);
  if (use == engine::CapacityUse::kReads) to->set_read_capacity_units(units);
  if (use == engine::CapacityUse::kWrites) to->set_write_capacity_units(units);
}

}  // namespace

size_t PageReserve(std::optional<int64_t> limit, size_t item_bytes) {
  constexpr int64_t kExpectedItemsMax = 100;
  constexpr size_t kBytesMax = 256 << 10;
  const int64_t items = std::clamp<int64_t>(limit.value_or(kExpectedItemsMax), 1, kExpectedItemsMax);
  return std::min(static_cast<size_t>(items) * item_bytes, kBytesMax);
}

void FillCapacity(const engine::ConsumedCapacity& from, v1::ConsumedCapacity* to) {
  to->set_table_name(from.table_name);
  FillUnits(from.total, from.use, to);
  if (from.table.has_value()) FillUnits(*from.table, from.use, to->mutable_table());
  for (const auto& [name, units] : from.local_indexes) {
    FillUnits(units, from.use, &(*to->mutable_local_secondary_indexes())[name]);
  }
  for (const auto& [name, units] : from.global_indexes) {
    FillUnits(units, from.use, &(*to->mutable_global_secondary_indexes())[name]);
  }
}

std::string SerializeCollection(const engine::ItemCollectionMetrics& metrics) {
  v1::ItemCollectionMetrics message;
  message.add_size_estimate_range_gb(metrics.lower_gb);
  message.add_size_estimate_range_gb(metrics.upper_gb);
  std::string bytes = message.SerializeAsString();
  model::AppendBytesField(v1::ItemCollectionMetrics::kItemCollectionKeyFieldNumber, metrics.key, &bytes);
  return bytes;
}

}  // namespace armature::daemon
