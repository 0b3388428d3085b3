#include "engine/capacity.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/items/constraints.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/model/table_descriptor.h"
#include "storage/model/table_name.h"
#include "storage/store/catalog/key_traffic.h"

namespace armature::engine {
namespace {

constexpr size_t kWriteUnitBytes = 1024;

size_t Blocks(size_t bytes, size_t block) { return std::max<size_t>(1, (bytes + block - 1) / block); }

// Write units for the change of one index.
double EntryUnits(const index::EntryChange& change) {
  const size_t old_size = change.old_size.value_or(0);
  const size_t new_size = change.new_size.value_or(0);
  // An entry whose key changes is deleted and written, each rounded up separately.
  if (change.removed_key.has_value() && change.put_key.has_value()) {
    return WriteUnits(old_size, 0) + WriteUnits(0, new_size);
  }
  return WriteUnits(old_size, new_size);
}

enum class Use : uint8_t { kRead, kWrite };

constexpr std::string_view kTableText =
    "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning "
    "level with the UpdateTable API.";
constexpr std::string_view kIndexText =
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the "
    "UpdateTable API.";
// Clients recognize the maximum by this text.
constexpr std::string_view kMaximumText =
    "Throughput exceeds the maximum OnDemandThroughput configured on table or index";

// A table, or one of its global indexes if not null, as the owner of capacity.
struct Source {
  const store::Table& table;
  const store::Index* index;

  bool is_provisioned() const { return table.descriptor.settings.billing_mode == model::BillingMode::kProvisioned; }
  // Units per second; nullopt: unlimited.
  std::optional<double> RateOf(Use use) const {
    const model::TableSettings& settings = table.descriptor.settings;
    const std::optional<model::Throughput>& limits =
        is_provisioned() ? (index == nullptr ? settings.provisioned : index->descriptor.provisioned)
                         : (index == nullptr ? settings.on_demand_max : index->descriptor.on_demand_max);
    if (!limits.has_value()) return std::nullopt;
    const int64_t units = use == Use::kRead ? limits->read_units : limits->write_units;
    return units > 0 ? std::optional(static_cast<double>(units)) : std::nullopt;
  }
  store::CapacityBucket& Bucket(Use use) const {
    store::CapacityBuckets& buckets = index == nullptr ? *table.buckets : *index->buckets;
    return use == Use::kRead ? buckets.read : buckets.write;
  }
  store::UseCount& Count(Use use) const {
    store::CapacityBuckets& buckets = index == nullptr ? *table.buckets : *index->buckets;
    return use == Use::kRead ? buckets.reads : buckets.writes;
  }
  // Null without contributor insights.
  store::KeyTraffic* traffic() const { return index == nullptr ? table.traffic.get() : index->traffic.get(); }
  bool counts_throttled_only() const {
    const std::optional<model::ContributorInsights>& insights =
        index == nullptr ? table.descriptor.settings.contributor_insights : index->descriptor.contributor_insights;
    return insights.has_value() && insights->mode == model::InsightsMode::kThrottledKeys;
  }
  const model::KeySchema& key() const { return index == nullptr ? table.descriptor.key : index->descriptor.key; }
};

// Counts `units` for a key, if `source` has contributor insights. See the comment on keys in the header.
void CountKey(const Parts& parts, const Source& source, store::KeyUse use, std::string_view key, double units) {
  store::KeyTraffic* const traffic = source.traffic();
  if (traffic == nullptr || key.empty()) return;
  if (use != store::KeyUse::kThrottled && source.counts_throttled_only()) return;
  const model::KeySchema& schema = source.key();
  const std::optional<size_t> front = codec::KeyFrontBytes(key, schema.partition.size());
  if (!front.has_value()) return;
  std::string_view whole;
  if (!schema.sort.empty() && key.size() > *front) {
    const std::optional<size_t> size = codec::KeyFrontBytes(key, schema.partition.size() + schema.sort.size());
    if (size.has_value()) whole = key.substr(0, *size);
  }
  traffic->Count(use, key.substr(0, *front), whole, units, NowNs(parts));
}

void CountThrottled(const Parts& parts, const Source& source, Use use, std::string_view key) {
  source.Count(use).AddThrottled();
  CountKey(parts, source, store::KeyUse::kThrottled, key, 1);
}

absl::Status Refusal(const Source& source, Use use, int64_t wait_ms) {
  const std::string& name = source.table.descriptor.name;
  const ThrottlingReason reason = {
      Cat(source.index == nullptr ? "Table" : "Index", use == Use::kRead ? "Read" : "Write",
          source.is_provisioned() ? "ProvisionedThroughputExceeded" : "MaxOnDemandThroughputExceeded"),
      source.index == nullptr ? model::TableArn(name) : model::IndexArn(name, source.index->descriptor.name)};
  if (!source.is_provisioned()) return WithThrottlingReason(ThrottlingError(kMaximumText, wait_ms), reason);
  return ProvisionedThroughputExceededError(source.index == nullptr ? kTableText : kIndexText, reason, wait_ms);
}

absl::Status Admit(const Parts& parts, const Source& source, Use use, std::string_view key) {
  if (!parts.live.enforce_throughput()) return absl::OkStatus();
  const std::optional<double> rate = source.RateOf(use);
  if (!rate.has_value()) return absl::OkStatus();
  const int64_t wait_ms = source.Bucket(use).WaitMs(*rate, NowNs(parts));
  if (wait_ms == 0) return absl::OkStatus();
  CountThrottled(parts, source, use, key);
  return Refusal(source, use, wait_ms);
}

void Charge(const Parts& parts, const Source& source, Use use, std::string_view key, double units) {
  source.Count(use).Add(units);
  CountKey(parts, source, use == Use::kRead ? store::KeyUse::kRead : store::KeyUse::kWrite, key, units);
  if (!parts.live.enforce_throughput()) return;
  if (const std::optional<double> rate = source.RateOf(use)) source.Bucket(use).Charge(units, *rate, NowNs(parts));
}

Source SourceOfRead(const store::Table& table, const store::Index* index) {
  const bool is_global = index != nullptr && index->descriptor.kind == model::IndexKind::kGlobal;
  return {table, is_global ? index : nullptr};
}

// The key of an entry that is written; of a removed entry, if none is written.
std::string_view KeyOf(const index::EntryChange& change) {
  if (change.put_key.has_value()) return *change.put_key;
  return change.removed_key.has_value() ? std::string_view(*change.removed_key) : std::string_view();
}

}  // namespace

absl::StatusOr<CapacityReport> ParseCapacityReport(std::string_view text) {
  if (text.empty() || text == "NONE") return CapacityReport::kNone;
  if (text == "TOTAL") return CapacityReport::kTotal;
  if (text == "INDEXES") return CapacityReport::kIndexes;
  model::ConstraintList constraints;
  CheckOptionalEnum(text, "returnConsumedCapacity", kReturnConsumedCapacityValues, &constraints);
  return constraints.ToStatus();
}

size_t ReadBlocks(size_t bytes) { return Blocks(bytes, kReadBlockBytes); }

double ReadUnits(size_t blocks, bool consistent) { return static_cast<double>(blocks) * (consistent ? 1.0 : 0.5); }

double WriteUnits(size_t old_bytes, size_t new_bytes) {
  return static_cast<double>(Blocks(std::max(old_bytes, new_bytes), kWriteUnitBytes));
}

std::optional<ConsumedCapacity> ReportRead(CapacityReport report, std::string_view table_name,
                                           const store::Index* index, double units, double fetched_units) {
  if (report == CapacityReport::kNone) return std::nullopt;
  ConsumedCapacity capacity;
  capacity.table_name = std::string(table_name);
  capacity.total = units + fetched_units;
  if (report == CapacityReport::kIndexes) {
    capacity.table = index == nullptr ? units : fetched_units;
    if (index != nullptr) {
      auto& group =
          index->descriptor.kind == model::IndexKind::kLocal ? capacity.local_indexes : capacity.global_indexes;
      group[index->descriptor.name] = units;
    }
  }
  return capacity;
}

std::optional<ConsumedCapacity> ReportWrite(CapacityReport report, std::string_view table_name, double table_units,
                                            const std::vector<index::EntryChange>& local,
                                            const std::vector<index::EntryChange>& global) {
  if (report == CapacityReport::kNone) return std::nullopt;
  ConsumedCapacity capacity;
  capacity.table_name = std::string(table_name);
  capacity.total = table_units;
  for (const auto& [changes, group] :
       {std::pair(&local, &capacity.local_indexes), std::pair(&global, &capacity.global_indexes)}) {
    for (const index::EntryChange& change : *changes) {
      const double units = EntryUnits(change);
      capacity.total += units;
      (*group)[change.index->descriptor.name] = units;
    }
  }
  if (report == CapacityReport::kIndexes) {
    capacity.table = table_units;
  } else {
    capacity.local_indexes.clear();
    capacity.global_indexes.clear();
  }
  return capacity;
}

absl::Status AdmitRead(const Parts& parts, const store::Table& table, const store::Index* index, std::string_view key) {
  return Admit(parts, SourceOfRead(table, index), Use::kRead, key);
}

void ChargeRead(const Parts& parts, const store::Table& table, const store::Index* index, std::string_view key,
                double units) {
  Charge(parts, SourceOfRead(table, index), Use::kRead, key, units);
}

absl::Status AdmitWrite(const Parts& parts, const store::Table& table, std::string_view key) {
  return Admit(parts, {table, nullptr}, Use::kWrite, key);
}

absl::Status TakeWrite(const Parts& parts, const store::Table& table, std::string_view key, double units,
                       const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global) {
  // Between admission and charge other operations may use the same capacity. That overdraws a bucket no more than one
  // large operation does.
  ARM_RETURN_IF_ERROR(AdmitIndexWrites(parts, table, global));
  ChargeWriteOf(parts, table, key, units, local, global);
  return absl::OkStatus();
}

absl::Status AdmitIndexWrites(const Parts& parts, const store::Table& table,
                              const std::vector<index::EntryChange>& global) {
  for (const index::EntryChange& change : global) {
    ARM_RETURN_IF_ERROR(Admit(parts, {table, change.index}, Use::kWrite, KeyOf(change)));
  }
  return absl::OkStatus();
}

void ChargeWriteOf(const Parts& parts, const store::Table& table, std::string_view key, double units,
                   const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global) {
  for (const index::EntryChange& change : local) units += EntryUnits(change);
  ChargeWrite(parts, table, key, units);
  for (const index::EntryChange& change : global) {
    Charge(parts, {table, change.index}, Use::kWrite, KeyOf(change), EntryUnits(change));
  }
}

void ChargeWrite(const Parts& parts, const store::Table& table, std::string_view key, double units) {
  Charge(parts, {table, nullptr}, Use::kWrite, key, units);
}

void NoteThrottled(const Parts& parts, const store::Table& table, const store::Index* index, std::string_view key) {
  if (index != nullptr) {
    CountThrottled(parts, {table, index}, Use::kWrite, key);
  } else {
    CountKey(parts, {table, nullptr}, store::KeyUse::kThrottled, key, 1);
  }
}

}  // namespace armature::engine
