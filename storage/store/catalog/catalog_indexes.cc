// The part of the catalog that changes live tables: settings, restores, and the states of global indexes.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/model/table_update.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/catalog/work_signal.h"
#include "storage/store/commit/unit_batch.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {

using model::IndexDescriptor;
using model::IndexState;
using model::TableDescriptor;
using model::TableState;

namespace {

// True if `after` differs from `before` only in members that an update may change.
bool IsUpdateOf(const TableDescriptor& before, const TableDescriptor& after) {
  if (before.global_indexes.size() > after.global_indexes.size()) return false;
  TableDescriptor same = after;
  same.settings = before.settings;
  same.attribute_definitions = before.attribute_definitions;
  same.state = before.state;
  same.restore = before.restore;
  bool has_change = false;
  for (size_t i = 0; i < before.global_indexes.size(); ++i) {
    IndexDescriptor& index = same.global_indexes[i];
    const IndexDescriptor& old = before.global_indexes[i];
    index.throughput() = old.throughput();
    index.throughput_changes = old.throughput_changes;
    index.contributor_insights = old.contributor_insights;
    if (index.state == IndexState::kDeleting && old.state != IndexState::kDeleting) {
      has_change = true;
      index.state = old.state;
      index.backfilling = old.backfilling;
    }
  }
  while (same.global_indexes.size() > before.global_indexes.size()) {
    const IndexDescriptor& added = same.global_indexes.back();
    if (added.id != IndexId(0) || added.state != IndexState::kCreating) return false;
    has_change = true;
    same.global_indexes.pop_back();
  }
  if (has_change ? after.state != TableState::kUpdating : after.state != before.state) return false;
  return same == before;
}

}  // namespace

absl::StatusOr<Index> Catalog::OpenGlobalIndex(const TableDescriptor& table, const IndexDescriptor& descriptor) {
  Index index;
  index.descriptor = descriptor;
  index.key_names = model::UnionOfKeyNames(descriptor.key, table.key);
  const bool table_is_open = table.state == TableState::kActive || table.state == TableState::kUpdating;
  const bool waits = descriptor.state == IndexState::kCreating && !descriptor.backfilling;
  if (!table_is_open || waits || descriptor.state == IndexState::kDeleting) return index;
  ARM_ASSIGN_OR_RETURN(index.keyspace, OpenKeyspace(table, GlobalIndexFamilyName(table.id, descriptor.id)));
  ChangeSequence cursor;
  ARM_ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                       db_->Get(*db_->meta(), CursorKey(table.id, descriptor.id)));
  if (stored.has_value()) {
    const std::optional<uint64_t> value = ParseU64(*stored);
    if (!value.has_value()) return DataLossError("meta: a cursor must have eight bytes");
    cursor = ChangeSequence(*value);
  }
  index.progress = std::make_shared<IndexProgress>(cursor, timers_);
  index.lease = NewLease();
  index.traffic = TrafficOf(descriptor.contributor_insights, nullptr);
  if (descriptor.backfilling) {
    BuildState state;
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> build,
                         db_->Get(*db_->meta(), BuildKey(table.id, descriptor.id)));
    if (build.has_value()) {
      ARM_ASSIGN_OR_RETURN(state, ParseBuildState(*build));
    }
    index.build = std::make_shared<IndexBuild>(std::move(state));
  }
  return index;
}

absl::StatusOr<std::optional<TableDescriptor>> Catalog::Update(
    std::string_view name, absl::FunctionRef<absl::Status(TableDescriptor*)> change) {
  std::vector<std::shared_ptr<IndexProgress>> left;
  const auto change_if_whole = [&](TableDescriptor* descriptor) {
    return descriptor->is_being_restored() ? TableIsBeingCreatedError(name) : change(descriptor);
  };
  ARM_ASSIGN_OR_RETURN(std::optional<TableDescriptor> updated, Change(name, change_if_whole, &left));
  // Requests that wait for an index that is being removed hold it; end their waits.
  const absl::Status gone = ValidationError("The table does not have the specified index any more");
  for (const std::shared_ptr<IndexProgress>& progress : left) progress->Close(gone);
  if (updated.has_value() && updated->state == TableState::kUpdating) work_->Fire();
  return updated;
}

absl::StatusOr<std::optional<TableDescriptor>> Catalog::Change(std::string_view name,
                                                               absl::FunctionRef<absl::Status(TableDescriptor*)> change,
                                                               std::vector<std::shared_ptr<IndexProgress>>* left) {
  const absl::MutexLock lock(&mutex_);
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  const Table* const table = current->Find(name);
  if (table == nullptr) return std::nullopt;
  TableDescriptor descriptor = table->descriptor;
  ARM_RETURN_IF_ERROR(change(&descriptor));
  if (descriptor == table->descriptor) return descriptor;
  if (!IsUpdateOf(table->descriptor, descriptor)) {
    return InternalError(Cat("catalog: update of table ", name, " changes more than it may"));
  }
  uint32_t next_id = next_id_;
  for (IndexDescriptor& index : descriptor.global_indexes) {
    if (index.id == IndexId(0)) index.id = IndexId(next_id++);
  }
  if (next_id != next_id_) ARM_RETURN_IF_ERROR(CheckFamilyCeiling(descriptor));
  ARM_RETURN_IF_ERROR(streams_->CheckChange(descriptor));
  ARM_RETURN_IF_ERROR(Persist(descriptor, next_id, Cat("catalog: update table ", name)));
  // Families and index progress stay the same: requests in progress continue to use both.
  const std::shared_ptr<Table> updated = NextState(*table);
  updated->descriptor = descriptor;
  if (updated->lease != nullptr) {
    updated->expiry = ExpiryOf(descriptor);
    updated->traffic = TrafficOf(descriptor.settings.contributor_insights, updated->traffic);
  }
  updated->global_indexes.resize(descriptor.global_indexes.size());
  for (size_t i = 0; i < updated->global_indexes.size(); ++i) {
    Index& index = updated->global_indexes[i];
    index.descriptor = descriptor.global_indexes[i];
    index.key_names = model::UnionOfKeyNames(index.descriptor.key, descriptor.key);
    if (index.lease == nullptr) continue;
    index.traffic = TrafficOf(index.descriptor.contributor_insights, index.traffic);
    if (index.descriptor.state != IndexState::kDeleting) continue;
    left->push_back(index.progress);
    {
      const absl::MutexLock snapshot_lock(&snapshot_mutex_);
      detached_[{descriptor.id, index.descriptor.id}] = index.lease;
    }
    index.keyspace = Keyspace();
    index.progress.reset();
    index.traffic.reset();
    index.lease.reset();
    index.build.reset();
  }
  Publish({updated}, {});
  return descriptor;
}

absl::Status Catalog::ChangeIndex(TableId table_id, IndexId index_id,
                                  absl::FunctionRef<absl::StatusOr<bool>(Table*, Index*)> change) {
  const absl::MutexLock lock(&mutex_);
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  const Table* const table = current->Find(table_id);
  if (table == nullptr) return absl::OkStatus();
  const std::shared_ptr<Table> updated = NextState(*table);
  for (size_t i = 0; i < updated->global_indexes.size(); ++i) {
    Index& index = updated->global_indexes[i];
    if (index.descriptor.id != index_id) continue;
    ARM_ASSIGN_OR_RETURN(const bool changed, change(updated.get(), &index));
    if (!changed) return absl::OkStatus();
    updated->descriptor.global_indexes[i] = index.descriptor;
    rocksdb::WriteBatch batch;
    batch.Put(db_->meta()->handle(), TableKey(table_id), EncodeTableRecord(updated->descriptor));
    if (index.build == nullptr) batch.Delete(db_->meta()->handle(), BuildKey(table_id, index_id));
    ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/true, Cat("catalog: index ", index.descriptor.name)));
    Publish({updated}, {});
    break;
  }
  return absl::OkStatus();
}

absl::Status Catalog::BeginBackfill(TableId table_id, IndexId index_id) {
  return ChangeIndex(table_id, index_id, [this](Table* table, Index* index) -> absl::StatusOr<bool> {
    if (index->descriptor.state != IndexState::kCreating) return false;
    index->descriptor.backfilling = true;
    table->descriptor.state = TableState::kActive;
    ARM_ASSIGN_OR_RETURN(*index, OpenGlobalIndex(table->descriptor, IndexDescriptor(index->descriptor)));
    return true;
  });
}

absl::Status Catalog::BeginIndexScan(TableId table, const Index& index) {
  BuildState state;
  state.phase = BuildPhase::kScanning;
  // The watermark is also that of the change log. A record counted in the backlog but not yet below the watermark will
  // be below it in a moment: retry.
  do {
    state.from_sequence = streams_->watermark();
  } while (!index.progress->backlog().BeginAt(state.from_sequence));
  state.started_ms = absl::ToUnixMillis(absl::Now());
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const meta = db_->meta()->handle();
  const IndexId id = index.descriptor.id;
  batch.Put(meta, CursorKey(table, id), EncodeU64(state.from_sequence.value()));
  batch.Put(meta, BuildKey(table, id), EncodeBuildState(state));
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/true, Cat("begin to fill index ", index.descriptor.name)));
  index.progress->Advance(state.from_sequence);
  index.build->Set(std::move(state));
  return absl::OkStatus();
}

absl::Status Catalog::CommitBuilt(const WriteUnit& unit, TableId table, const Index& index, const BuildState& state) {
  // A scan can be repeated, so it waits for space like a client.
  ARM_RETURN_IF_ERROR(db_->space()->CheckClients());
  UnitBatch batch(db_, unit.batch_bytes(), unit.ops().size());
  batch.Add(unit);
  ARM_RETURN_IF_ERROR(batch.MakeFamilies());
  batch.records().Put(db_->meta()->handle(), BuildKey(table, index.descriptor.id), EncodeBuildState(state));
  ARM_FAULT_POINT("builder.before_write");
  absl::Status written = batch.Write(/*sync=*/false, Cat("fill index ", index.descriptor.name));
  ARM_FAULT_POINT("builder.after_write");
  if (written.ok()) index.build->Set(state);
  return written;
}

absl::Status Catalog::ActivateIndex(TableId table_id, IndexId index_id) {
  return ChangeIndex(table_id, index_id, [](Table*, Index* index) -> absl::StatusOr<bool> {
    if (index->build == nullptr) return false;
    index->descriptor.state = IndexState::kActive;
    index->descriptor.backfilling = false;
    index->build.reset();
    return true;
  });
}

bool Catalog::IsReleased(TableId table, IndexId index) const {
  const absl::MutexLock lock(&snapshot_mutex_);
  const auto found = detached_.find({table, index});
  return found == detached_.end() || found->second.expired();
}

bool Catalog::IsKnownToAll(TableId table) const {
  const absl::MutexLock lock(&snapshot_mutex_);
  const auto found = earlier_states_.find(table);
  if (found == earlier_states_.end()) return true;
  return std::all_of(found->second.begin(), found->second.end(),
                     [](const std::weak_ptr<FamilyLease>& state) { return state.expired(); });
}

absl::Status Catalog::RemoveIndex(TableId table_id, IndexId index_id) {
  const absl::MutexLock lock(&mutex_);
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  const Table* const table = current->Find(table_id);
  if (table == nullptr) return absl::OkStatus();
  const std::shared_ptr<Table> updated = NextState(*table);
  std::erase_if(updated->global_indexes, [=](const Index& index) { return index.descriptor.id == index_id; });
  model::EraseGlobalIndex(index_id, &updated->descriptor);
  updated->descriptor.state = TableState::kActive;
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const meta = db_->meta()->handle();
  batch.Put(meta, TableKey(table_id), EncodeTableRecord(updated->descriptor));
  batch.Delete(meta, CursorKey(table_id, index_id));
  batch.Delete(meta, BuildKey(table_id, index_id));
  batch.Delete(meta, StatsKey(GlobalIndexFamilyName(table_id, index_id)));
  batch.Delete(meta, DamagedKey(GlobalIndexFamilyName(table_id, index_id)));
  // The log has no readers or writers any more: all of them held the index.
  if (updated->global_indexes.empty()) {
    batch.DeleteRange(db_->log()->handle(), LogKey(table_id, ChangeSequence(0)),
                      LogKey(TableId(table_id.value() + 1), ChangeSequence(0)));
  }
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/true, Cat("catalog: remove an index of ", table->descriptor.name)));
  {
    const absl::MutexLock snapshot_lock(&snapshot_mutex_);
    detached_.erase({table_id, index_id});
  }
  Publish({updated}, {});
  return absl::OkStatus();
}

absl::Status Catalog::FinishRestore(TableId id) {
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  const Table* const table = current->Find(id);
  if (table == nullptr || !table->descriptor.is_being_restored()) return absl::OkStatus();
  std::vector<std::shared_ptr<IndexProgress>> left;
  const auto finish = [id](TableDescriptor* descriptor) {
    if (descriptor->id != id || !descriptor->restore.has_value()) return absl::OkStatus();
    descriptor->restore->in_progress = false;
    if (descriptor->restore->is_import) descriptor->restore.reset();
    return absl::OkStatus();
  };
  return Change(table->descriptor.name, finish, &left).status();
}

absl::Status Catalog::AbandonRestore(TableId id) {
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  const Table* const table = current->Find(id);
  if (table == nullptr || !table->descriptor.is_being_restored()) return absl::OkStatus();
  return DeleteAny(table->descriptor.name).status();
}

// The process that filled these tables is gone. A table that cannot be deleted now stays out of reach of clients, so
// the failure does not prevent serving the others.
void Catalog::AbandonRestores() {
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  for (const auto& [name, table] : current->tables()) {
    const TableDescriptor& descriptor = table->descriptor;
    if (!descriptor.is_being_restored() || descriptor.state == TableState::kDeleting) continue;
    if (descriptor.restore->is_import) continue;  // it goes on
    LOG(WARNING) << "store: deleting a table whose restore was interrupted table=" << name
                 << " backup=" << descriptor.restore->backup_arn;
    const absl::Status abandoned = AbandonRestore(descriptor.id);
    if (!abandoned.ok())
      LOG(ERROR) << "store: cannot delete the table before the next start table=" << name << " status=" << abandoned;
  }
}

void Catalog::EndWaits(const absl::Status& status) const {
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  for (const auto& [name, table] : current->tables()) {
    for (const Index& index : table->global_indexes) {
      if (index.progress != nullptr) index.progress->Close(status);
    }
  }
}

}  // namespace armature::store
