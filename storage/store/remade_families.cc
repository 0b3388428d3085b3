#include "storage/store/remade_families.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

bool IsGlobalIndex(std::string_view family) { return IsTableFamilyName(family) && family.starts_with('g'); }

// Adds to `batch` what lets the next start build the global indexes again whose families are lost, or all if the log
// is. Returns their families, and those that are lost with indexes that are being deleted.
absl::StatusOr<std::vector<std::string>> BuildGlobalIndexesAgain(RocksDb* rocks, const std::set<std::string>& lost,
                                                                 rocksdb::WriteBatch* batch) {
  const bool are_all = lost.contains(std::string(kLogFamily));
  std::vector<model::TableDescriptor> tables;
  ARM_RETURN_IF_ERROR(rocks->ForEachWithPrefix(*rocks->meta(), kTablePrefix,
                                               [&](std::string_view, std::string_view value) -> absl::Status {
                                                 ARM_ASSIGN_OR_RETURN(tables.emplace_back(), ParseTableRecord(value));
                                                 return absl::OkStatus();
                                               }));
  rocksdb::ColumnFamilyHandle* const meta = rocks->meta()->handle();
  std::vector<std::string> families;
  for (model::TableDescriptor& table : tables) {
    for (model::IndexDescriptor& index : table.global_indexes) {
      const std::string family = GlobalIndexFamilyName(table.id, index.id);
      const bool is_lost = lost.contains(family);
      if (!is_lost && !are_all) continue;
      if (!BuildIndexAgain(&table, &index) && !is_lost) continue;
      families.push_back(family);
      batch->Delete(meta, CursorKey(table.id, index.id));
      batch->Delete(meta, BuildKey(table.id, index.id));
      batch->Delete(meta, StatsKey(family));
      batch->Delete(meta, DamagedKey(family));
    }
    batch->Put(meta, TableKey(table.id), EncodeTableRecord(table));
  }
  return families;
}

}  // namespace

std::string LossWith(std::string_view family) {
  if (family == kStreamFamily) return "the records of all streams; consumers begin anew, as after a restore";
  if (family == kLogFamily) return "nothing: the next start builds all global indexes again";
  if (family == kExpiryFamily) return "nothing: the next start finds the items that expire again";
  if (IsGlobalIndex(family)) return "nothing: the next start builds the index again";
  return "";
}

bool BuildIndexAgain(model::TableDescriptor* table, model::IndexDescriptor* index) {
  if (table->state != model::TableState::kActive && table->state != model::TableState::kUpdating) return false;
  if (index->state == model::IndexState::kDeleting) return false;
  index->state = model::IndexState::kCreating;
  index->backfilling = false;
  table->state = model::TableState::kUpdating;
  return true;
}

absl::Status RemakeFamilies(RocksDb* rocks, const std::set<std::string>& families) {
  rocksdb::WriteBatch batch;
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> indexes, BuildGlobalIndexesAgain(rocks, families, &batch));
  // Before the log and the families of indexes are dropped: as long as they are there, the call is repeated.
  if (!indexes.empty()) {
    ARM_RETURN_IF_ERROR(rocks->Write(&batch, /*sync=*/true, "build indexes again"));
    LOG(WARNING) << "store: global indexes are to be built again, unless they are being deleted count="
                 << indexes.size();
    ARM_RETURN_IF_ERROR(rocks->DropFamilies(indexes));
  }
  std::vector<std::string> remade;
  std::copy_if(families.begin(), families.end(), std::back_inserter(remade),
               [](const std::string& family) { return !LossWith(family).empty() && !IsGlobalIndex(family); });
  if (remade.empty()) return absl::OkStatus();
  for (const std::string& family : remade) LOG(WARNING) << "store: making a column family anew family=" << family;
  ARM_RETURN_IF_ERROR(rocks->RemakeShared(remade));
  rocksdb::WriteBatch whole;
  for (const std::string& family : remade) whole.Delete(rocks->meta()->handle(), DamagedKey(family));
  ARM_RETURN_IF_ERROR(rocks->Write(&whole, /*sync=*/true, "forget damages"));
  ARM_FAULT_POINT("recover.remade");
  return absl::OkStatus();
}

}  // namespace armature::store
