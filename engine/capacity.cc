#include "engine/capacity.h"

#include <algorithm>

#include "engine/items/constraints.h"

namespace armature::engine {
namespace {

constexpr size_t kWriteUnitBytes = 1024;

size_t Blocks(size_t bytes, size_t block) { return std::max<size_t>(1, (bytes + block - 1) / block); }

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

double EntryUnits(const index::EntryChange& change) {
  const size_t old_size = change.old_size.value_or(0);
  const size_t new_size = change.new_size.value_or(0);
  // An entry whose key changes is deleted and written, each rounded up separately.
  if (change.removed_key.has_value() && change.put_key.has_value()) {
    return WriteUnits(old_size, 0) + WriteUnits(0, new_size);
  }
  return WriteUnits(old_size, new_size);
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

}  // namespace armature::engine
