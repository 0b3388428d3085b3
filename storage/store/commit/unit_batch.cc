#include "storage/store/commit/unit_batch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <set>

#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// The first bytes of `key` as a number, with zeros behind a shorter key.
uint64_t FrontOf(std::string_view key) {
  uint64_t front = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (key.size() >= sizeof(front)) {
      std::memcpy(&front, key.data(), sizeof(front));
      return __builtin_bswap64(front);
    }
  }
  for (size_t i = 0; i < sizeof(front); ++i) front = front << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  return front;
}

}  // namespace

absl::StatusOr<uint64_t> ParseCounter(std::string_view stored, const ColumnFamily& family) {
  uint64_t value = 0;
  if (!model::TakeVarint(&stored, &value))
    return DataLossError(Cat("counter in ", family.name(), ": expected a varint"));
  return value;
}

bool UnitBatch::Row::operator<(const Row& other) const {
  if (family != other.family) return std::less<>()(family, other.family);
  if (key_front != other.key_front) return key_front < other.key_front;
  return key < other.key;
}

void UnitBatch::Add(const WriteUnit& unit) {
  for (const WriteUnit::Op& op : unit.ops()) {
    if (op.kind == WriteUnit::OpKind::kCounter) continue;
    AddRow({op.family, 0, unit.key(op), unit.value(op), {}, op.kind == WriteUnit::OpKind::kDelete});
  }
  for (const WriteUnit::StatsOp& op : unit.stats()) AddTotals(op.stats, op.delta);
}

void UnitBatch::Put(const Keyspace& keyspace, std::string_view key, std::string_view value_begin,
                    std::string_view value_end) {
  AddRow({keyspace.family, 0, key, value_begin, value_end, /*is_delete=*/false});
}

void UnitBatch::Delete(const Keyspace& keyspace, std::string_view key) {
  AddRow({keyspace.family, 0, key, {}, {}, /*is_delete=*/true});
}

void UnitBatch::AddRow(const Row& row) { rows_.emplace_back(row).key_front = FrontOf(row.key); }

void UnitBatch::AddTotals(KeyspaceStats* stats, StatsDelta delta) {
  StatsDelta& total = totals_[stats];
  total.items += delta.items;
  total.bytes += delta.bytes;
}

absl::Status UnitBatch::AddCounters(const std::vector<WriteUnit>& units, uint64_t max) {
  std::map<CounterPlace, int64_t> growth;
  for (const WriteUnit& unit : units) {
    for (const WriteUnit::Op& op : unit.ops()) {
      if (op.kind == WriteUnit::OpKind::kCounter) growth[{op.family, std::string(unit.key(op))}] += op.delta;
    }
  }
  std::vector<std::pair<Counter*, uint64_t>> changes;
  std::vector<CollectionName> exceeded;
  for (const auto& [place, delta] : growth) {
    ARM_ASSIGN_OR_RETURN(Counter* const counter, FindCounter(place));
    const auto value = static_cast<uint64_t>(std::max<int64_t>(static_cast<int64_t>(counter->value) + delta, 0));
    if (delta > 0 && value > max) exceeded.push_back({NameOf(Keyspace{place.first}), place.second});
    changes.emplace_back(counter, value);
  }
  if (!exceeded.empty()) return ItemCollectionSizeLimitExceededError(exceeded);
  for (const auto& [counter, value] : changes) *counter = Counter{value, /*changed=*/true};
  return absl::OkStatus();
}

// The counter's value after the units that were added before.
absl::StatusOr<UnitBatch::Counter*> UnitBatch::FindCounter(const CounterPlace& place) {
  if (const auto found = counters_.find(place); found != counters_.end()) return &found->second;
  const auto& [family, key] = place;
  Counter counter;
  ARM_ASSIGN_OR_RETURN(const std::optional<std::string> stored, db_->Get(*family, key));
  if (stored.has_value()) {
    ARM_ASSIGN_OR_RETURN(counter.value, ParseCounter(*stored, *family));
  }
  return &counters_.emplace(place, counter).first->second;
}

absl::Status UnitBatch::MakeFamilies() {
  std::set<std::string> names;
  const ColumnFamily* last = nullptr;
  for (const Row& row : rows_) {
    if (row.is_delete || row.family == last) continue;
    last = row.family;
    if (!last->is_made()) names.insert(last->name());
  }
  return names.empty() ? absl::OkStatus() : db_->CreateFamilies({names.begin(), names.end()});
}

void UnitBatch::PutRows() {
  // Batches of one row, and those of workers, are sorted.
  if (!std::is_sorted(rows_.begin(), rows_.end())) std::stable_sort(rows_.begin(), rows_.end());
  for (const Row& row : rows_) {
    rocksdb::ColumnFamilyHandle* const handle = row.family->handle();
    const rocksdb::Slice key = ToSlice(row.key);
    if (row.is_delete) {
      if (handle != nullptr) batch_.Delete(handle, key);
      continue;
    }
    // RocksDB would take null for its default family.
    CHECK(handle != nullptr) << row.family->name() << " is written before it is made";
    if (row.value_end.empty()) {
      batch_.Put(handle, key, ToSlice(row.value));
    } else {
      const std::array<rocksdb::Slice, 2> value = {ToSlice(row.value), ToSlice(row.value_end)};
      batch_.Put(handle, rocksdb::SliceParts(&key, 1), rocksdb::SliceParts(value.data(), value.size()));
    }
  }
}

void UnitBatch::PutCounters() {
  for (const auto& [place, counter] : counters_) {
    const auto& [family, key] = place;
    if (!counter.changed) continue;
    if (counter.value == 0) {
      batch_.Delete(family->handle(), key);
    } else {
      std::string encoded;
      model::AppendVarint(counter.value, &encoded);
      batch_.Put(family->handle(), key, encoded);
    }
  }
}

absl::Status UnitBatch::Write(bool sync, std::string_view context) {
  PutRows();
  PutCounters();
  for (const auto& [stats, delta] : totals_) {
    stats->Add(delta);
    batch_.Put(db_->meta()->handle(), StatsKey(stats->family_name()),
               EncodeStats(StatsDelta{stats->items(), stats->bytes()}));
  }
  absl::Status written = db_->Write(&batch_, sync, context);
  if (!written.ok()) {
    for (const auto& [stats, delta] : totals_) stats->Add(StatsDelta{-delta.items, -delta.bytes});
  }
  return written;
}

}  // namespace armature::store
