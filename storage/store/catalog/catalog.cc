#include "storage/store/catalog/catalog.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/catalog/work_signal.h"
#include "storage/store/data_directory.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {

using model::IndexDescriptor;
using model::IndexState;
using model::TableDescriptor;
using model::TableState;

namespace {

// The number of Catalog::FamilyNames.
size_t FamiliesNeeded(const TableDescriptor& table) {
  const size_t local = table.local_indexes.size();
  return 1 + table.global_indexes.size() + (local > 0 ? local + 1 : 0);
}

// False while the table or one of its global indexes is being created or deleted.
bool IsSettled(const TableDescriptor& table) {
  return table.state == TableState::kActive &&
         std::all_of(table.global_indexes.begin(), table.global_indexes.end(),
                     [](const IndexDescriptor& index) { return index.state == IndexState::kActive; });
}

}  // namespace

const Index* Table::FindIndex(std::string_view name) const {
  for (const std::vector<Index>* group : {&local_indexes, &global_indexes}) {
    for (const Index& index : *group) {
      if (index.descriptor.name == name) return &index;
    }
  }
  return nullptr;
}

const Table* CatalogSnapshot::Find(std::string_view name) const {
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second.get();
}

const Table* CatalogSnapshot::Find(TableId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::shared_ptr<const Table> CatalogSnapshot::Hold(std::string_view name) const {
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second;
}

std::shared_ptr<const Table> CatalogSnapshot::Hold(TableId id) const {
  const Table* const table = Find(id);
  return table == nullptr ? nullptr : Hold(table->descriptor.name);
}

Catalog::Catalog(RocksDb* db, TimerQueue* timers, StreamLog* streams)
    : db_(db),
      timers_(timers),
      streams_(streams),
      work_(std::make_shared<WorkSignal>()),
      snapshot_(std::make_shared<CatalogSnapshot>()) {}

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(RocksDb* db, TimerQueue* timers, StreamLog* streams) {
  auto catalog = std::unique_ptr<Catalog>(new Catalog(db, timers, streams));
  const absl::MutexLock lock(&catalog->mutex_);
  ARM_RETURN_IF_ERROR(catalog->Load());
  ARM_RETURN_IF_ERROR(catalog->BeginMissingStreams());
  return catalog;
}

absl::Status Catalog::Load() {
  ARM_ASSIGN_OR_RETURN(const std::optional<std::string> next_id, db_->Get(*db_->meta(), kNextIdKey));
  if (next_id.has_value()) {
    const std::optional<uint32_t> id = ParseU32(*next_id);
    if (!id.has_value()) return DataLossError("meta: next_id must have four bytes");
    next_id_ = *id;
  }
  std::vector<std::shared_ptr<const Table>> tables;
  ARM_RETURN_IF_ERROR(
      db_->ForEachWithPrefix(*db_->meta(), kTablePrefix, [&](std::string_view, std::string_view value) -> absl::Status {
        mutex_.AssertHeld();
        ARM_ASSIGN_OR_RETURN(TableDescriptor descriptor, ParseTableRecord(value));
        ARM_ASSIGN_OR_RETURN(std::shared_ptr<const Table> table, OpenTable(std::move(descriptor)));
        tables.push_back(std::move(table));
        return absl::OkStatus();
      }));
  Publish(std::move(tables), {});
  return absl::OkStatus();
}

absl::Status Catalog::Persist(const TableDescriptor& table, uint32_t next_id, std::string_view context) {
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const meta = db_->meta()->handle();
  const StreamId stream(streams_->BeginsStream(table) ? next_id++ : 0);
  if (next_id != next_id_) batch.Put(meta, ToSlice(kNextIdKey), EncodeU32(next_id));
  batch.Put(meta, TableKey(table.id), EncodeTableRecord(table));
  const std::unique_ptr<StreamLog::Change> change =
      streams_->Prepare(table, stream, absl::ToUnixMillis(absl::Now()), &batch);
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/true, context));
  next_id_ = next_id;
  if (change != nullptr) change->Apply();
  return absl::OkStatus();
}

absl::Status Catalog::BeginMissingStreams() {
  const std::shared_ptr<const CatalogSnapshot> tables = snapshot();
  for (const auto& [name, table] : tables->tables()) {
    if (!streams_->BeginsStream(table->descriptor)) continue;
    ARM_RETURN_IF_ERROR(Persist(table->descriptor, next_id_, Cat("catalog: begin the stream of ", name)));
  }
  return absl::OkStatus();
}

std::shared_ptr<const CatalogSnapshot> Catalog::snapshot() const {
  const absl::MutexLock lock(&snapshot_mutex_);
  return snapshot_;
}

std::vector<std::string> Catalog::FamilyNames(const TableDescriptor& descriptor) {
  std::vector<std::string> names = {DataFamilyName(descriptor.id)};
  for (const IndexDescriptor& index : descriptor.local_indexes) {
    names.push_back(LocalIndexFamilyName(descriptor.id, index.id));
  }
  for (const IndexDescriptor& index : descriptor.global_indexes) {
    names.push_back(GlobalIndexFamilyName(descriptor.id, index.id));
  }
  if (!descriptor.local_indexes.empty()) names.push_back(CollectionFamilyName(descriptor.id));
  return names;
}

std::shared_ptr<FamilyLease> Catalog::NewLease() const {
  return std::make_shared<FamilyLease>([signal = work_] { signal->Fire(); });
}

std::shared_ptr<Table> Catalog::NextState(const Table& table) const {
  auto next = std::make_shared<Table>(table);
  next->state_lease = NewLease();
  return next;
}

absl::StatusOr<Keyspace> Catalog::OpenKeyspace(const TableDescriptor& table, const std::string& family) const {
  absl::StatusOr<ColumnFamily*> found = db_->Place(family);
  if (!found.ok()) return WithContext(found.status(), Cat("table ", table.name));
  return Keyspace{*found, (*found)->stats()};
}

Keyspace Catalog::ExpiryOf(const TableDescriptor& table) const {
  return table.settings.time_to_live_attribute.empty() ? Keyspace() : Keyspace{db_->expiry()};
}

std::shared_ptr<KeyTraffic> Catalog::TrafficOf(const std::optional<model::ContributorInsights>& insights,
                                               std::shared_ptr<KeyTraffic> current) {
  if (!model::AreEnabled(insights)) return nullptr;
  return current != nullptr ? std::move(current) : std::make_shared<KeyTraffic>();
}

// Opens the keyspaces of a table that can be used. A table being created or deleted has none.
absl::StatusOr<std::shared_ptr<const Table>> Catalog::OpenTable(TableDescriptor descriptor) {
  auto table = std::make_shared<Table>();
  const TableId id = descriptor.id;
  table->key_names = model::UnionOfKeyNames(descriptor.key, {});
  const bool is_usable = descriptor.state == TableState::kActive || descriptor.state == TableState::kUpdating;
  if (is_usable) {
    ARM_ASSIGN_OR_RETURN(table->data, OpenKeyspace(descriptor, DataFamilyName(id)));
    if (!descriptor.local_indexes.empty()) {
      ARM_ASSIGN_OR_RETURN(table->collections, OpenKeyspace(descriptor, CollectionFamilyName(id)));
      table->collections.stats = nullptr;
    }
    table->expiry = ExpiryOf(descriptor);
    table->traffic = TrafficOf(descriptor.settings.contributor_insights, nullptr);
    table->lease = NewLease();
  }
  for (const IndexDescriptor& index : descriptor.local_indexes) {
    Index& opened = table->local_indexes.emplace_back();
    opened.descriptor = index;
    opened.key_names = model::UnionOfKeyNames(index.key, descriptor.key);
    if (is_usable) {
      ARM_ASSIGN_OR_RETURN(opened.keyspace, OpenKeyspace(descriptor, LocalIndexFamilyName(id, index.id)));
    }
  }
  for (const IndexDescriptor& index : descriptor.global_indexes) {
    ARM_ASSIGN_OR_RETURN(Index opened, OpenGlobalIndex(descriptor, index));
    table->global_indexes.push_back(std::move(opened));
  }
  table->stream = streams_->SwitchOf(id);
  table->state_lease = NewLease();
  table->descriptor = std::move(descriptor);
  return table;
}

bool Catalog::AwaitOpen(TableId id, absl::Duration patience) const {
  const auto is_decided = [this, id]() ABSL_SHARED_LOCKS_REQUIRED(snapshot_mutex_) {
    const Table* const table = snapshot_->Find(id);
    return table == nullptr || table->lease != nullptr;
  };
  const int64_t due_ns = MonotonicAfter(patience);
  const absl::MutexLock lock(&snapshot_mutex_);
  while (!is_decided() && MonotonicNs() < due_ns) published_.Until(&snapshot_mutex_, due_ns);
  return is_decided();
}

void Catalog::Publish(std::vector<std::shared_ptr<const Table>> changed, const std::vector<TableDescriptor>& removed) {
  auto next = std::make_shared<CatalogSnapshot>();
  {
    const std::shared_ptr<const CatalogSnapshot> current = snapshot();
    next->tables_ = current->tables_;
    next->families_needed_ = current->families_needed_;
    next->unsettled_ = current->unsettled_;
    next->by_id_ = current->by_id_;
  }
  std::vector<std::shared_ptr<const Table>> replaced;
  for (std::shared_ptr<const Table>& table : changed) {
    std::shared_ptr<const Table>& place = next->tables_[table->descriptor.name];
    next->families_needed_ += FamiliesNeeded(table->descriptor);
    next->unsettled_.erase(table->descriptor.id);
    if (!IsSettled(table->descriptor)) next->unsettled_.emplace(table->descriptor.id, table);
    if (place != nullptr) {
      next->by_id_.erase(place->descriptor.id);
      replaced.push_back(place);
    }
    next->by_id_[table->descriptor.id] = table.get();
    place = std::move(table);
  }
  for (const TableDescriptor& table : removed) {
    const auto found = next->tables_.find(table.name);
    if (found == next->tables_.end() || found->second->descriptor.id != table.id) continue;
    next->unsettled_.erase(table.id);
    next->by_id_.erase(table.id);
    replaced.push_back(found->second);
    next->tables_.erase(found);
  }
  for (const std::shared_ptr<const Table>& table : replaced) {
    next->families_needed_ -= FamiliesNeeded(table->descriptor);
  }
  std::shared_ptr<const CatalogSnapshot> old;  // destroyed outside the lock: it may hold the last lease
  const absl::MutexLock lock(&snapshot_mutex_);
  for (const std::shared_ptr<const Table>& table : replaced) {
    std::vector<std::weak_ptr<FamilyLease>>& earlier = earlier_states_[table->descriptor.id];
    std::erase_if(earlier, [](const std::weak_ptr<FamilyLease>& state) { return state.expired(); });
    earlier.push_back(table->state_lease);
  }
  for (const TableDescriptor& table : removed) earlier_states_.erase(table.id);
  old = std::exchange(snapshot_, std::move(next));
  published_.Notify();
}

// Refuses a table whose families would exceed the limit, because a write could not make them later.
absl::Status Catalog::CheckFamilyCeiling(const TableDescriptor& wanted) const {
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  size_t families = current->families_needed() + FamiliesNeeded(wanted);
  if (const Table* const known = current->Find(wanted.name); known != nullptr) {
    families -= FamiliesNeeded(known->descriptor);
  }
  if (families <= db_->table_families_max()) return absl::OkStatus();
  return LimitExceededError(Cat("Subscriber limit exceeded: the tables and indexes of this server would need ",
                                families, " column families, one for each table and each index and one more for a ",
                                "table with local indexes; the configured ceiling is ", db_->table_families_max(),
                                " (--column_families_max)"));
}

absl::Status TableIsBeingCreatedError(std::string_view name) {
  return StillInUseError(Cat("Table is being created: ", name));
}

absl::StatusOr<TableDescriptor> Catalog::Create(TableDescriptor descriptor) {
  ARM_RETURN_IF_ERROR(db_->space()->CheckClients());
  const absl::MutexLock lock(&mutex_);
  if (const Table* existing = snapshot()->Find(descriptor.name)) {
    const bool is_being_created =
        existing->descriptor.state == TableState::kCreating || existing->descriptor.is_being_restored();
    if (is_being_created) return TableIsBeingCreatedError(descriptor.name);
    return ResourceInUseError(Cat("Table already exists: ", descriptor.name));
  }
  ARM_RETURN_IF_ERROR(CheckFamilyCeiling(descriptor));
  uint32_t next_id = next_id_;
  descriptor.id = TableId(next_id++);
  for (IndexDescriptor& index : descriptor.local_indexes) index.id = IndexId(next_id++);
  for (IndexDescriptor& index : descriptor.global_indexes) {
    index.id = IndexId(next_id++);
    index.state = IndexState::kCreating;
  }
  descriptor.uuid = RandomUuid();
  descriptor.creation_time_ms = absl::ToUnixMillis(absl::Now());
  // The time is the label of a stream. A former table of this name may have had one in this very millisecond.
  while (descriptor.settings.stream_enabled &&
         streams_->Find(descriptor.name, descriptor.LatestStreamLabel()).has_value()) {
    ++descriptor.creation_time_ms;
  }
  descriptor.state = TableState::kCreating;
  ARM_RETURN_IF_ERROR(Persist(descriptor, next_id, Cat("catalog: create ", descriptor.name)));
  ARM_ASSIGN_OR_RETURN(std::shared_ptr<const Table> table, OpenTable(descriptor));
  Publish({std::move(table)}, {});
  work_->Fire();
  return descriptor;
}

absl::StatusOr<TableDescriptor> Catalog::Delete(std::string_view name) {
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  const Table* const table = current->Find(name);
  if (table != nullptr && table->descriptor.is_being_restored()) return TableIsBeingCreatedError(name);
  return DeleteAny(name);
}

absl::StatusOr<TableDescriptor> Catalog::DeleteAny(std::string_view name) {
  std::vector<std::shared_ptr<IndexProgress>> left;
  ARM_ASSIGN_OR_RETURN(TableDescriptor deleting, MarkDeleting(name, &left));
  // Requests that wait for an index of the table hold the table; end their waits.
  const absl::Status gone = ResourceNotFoundError(Cat("Requested resource not found: Table: ", name, " not found"));
  for (const std::shared_ptr<IndexProgress>& progress : left) {
    if (progress != nullptr) progress->Close(gone);
  }
  work_->Fire();
  return deleting;
}

absl::StatusOr<TableDescriptor> Catalog::MarkDeleting(std::string_view name,
                                                      std::vector<std::shared_ptr<IndexProgress>>* left) {
  const absl::MutexLock lock(&mutex_);
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  const Table* const table = current->Find(name);
  if (table == nullptr) {
    return ResourceNotFoundError(Cat("Requested resource not found: Table: ", name, " not found"));
  }
  TableDescriptor descriptor = table->descriptor;
  switch (descriptor.state) {
    case TableState::kCreating:
      return TableIsBeingCreatedError(name);
    case TableState::kUpdating:
      return StillInUseError(Cat("Table: ", name, " is in the process of being updated."));
    case TableState::kDeleting:
      return StillInUseError(Cat("Table is being deleted: ", name));
    case TableState::kActive:
      break;
  }
  for (const IndexDescriptor& index : descriptor.global_indexes) {
    if (index.state == IndexState::kActive) continue;
    return StillInUseError("Cannot delete table while indexes are being created, updated, or deleted.");
  }
  if (descriptor.settings.deletion_protection) {
    return ValidationError(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.");
  }
  descriptor.state = TableState::kDeleting;
  ARM_RETURN_IF_ERROR(Persist(descriptor, next_id_, Cat("catalog: delete ", name)));
  for (const Index& index : table->global_indexes) left->push_back(index.progress);
  {
    const absl::MutexLock snapshot_lock(&snapshot_mutex_);
    detached_[{descriptor.id, IndexId(0)}] = table->lease;
  }
  ARM_ASSIGN_OR_RETURN(std::shared_ptr<const Table> deleting, OpenTable(descriptor));
  Publish({std::move(deleting)}, {});
  return descriptor;
}

absl::Status Catalog::Activate(const std::vector<TableId>& ids) {
  const absl::MutexLock lock(&mutex_);
  const std::shared_ptr<const CatalogSnapshot> current = snapshot();
  rocksdb::WriteBatch batch;
  std::vector<TableDescriptor> descriptors;
  for (const TableId id : ids) {
    const Table* const table = current->Find(id);
    if (table == nullptr || table->descriptor.state != TableState::kCreating) continue;
    TableDescriptor descriptor = table->descriptor;
    descriptor.state = TableState::kActive;
    for (IndexDescriptor& index : descriptor.global_indexes) index.state = IndexState::kActive;
    batch.Put(db_->meta()->handle(), TableKey(id), EncodeTableRecord(descriptor));
    descriptors.push_back(std::move(descriptor));
  }
  // A crash that loses this leaves the tables CREATING, and no row was acknowledged behind it.
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/false, "catalog: activate tables"));
  std::vector<std::shared_ptr<const Table>> tables;
  for (TableDescriptor& descriptor : descriptors) {
    ARM_ASSIGN_OR_RETURN(std::shared_ptr<const Table> table, OpenTable(std::move(descriptor)));
    tables.push_back(std::move(table));
  }
  Publish(std::move(tables), {});
  return absl::OkStatus();
}

bool Catalog::IsReleased(TableId table) const { return IsReleased(table, IndexId(0)); }

absl::Status Catalog::Remove(const std::vector<TableDescriptor>& tables) {
  const absl::MutexLock lock(&mutex_);
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const meta = db_->meta()->handle();
  for (const TableDescriptor& table : tables) {
    batch.Delete(meta, TableKey(table.id));
    for (const IndexDescriptor& index : table.global_indexes) batch.Delete(meta, CursorKey(table.id, index.id));
    for (const std::string& family : FamilyNames(table)) {
      batch.Delete(meta, StatsKey(family));
      if (db_->damages()->any()) batch.Delete(meta, DamagedKey(family));
    }
    batch.Delete(meta, ExpiryStateKey(table.id));
    batch.DeleteRange(db_->expiry()->handle(), ExpiryGenerationKey(table.id, 0),
                      ExpiryGenerationKey(TableId(table.id.value() + 1), 0));
    batch.DeleteRange(db_->log()->handle(), LogKey(table.id, ChangeSequence(0)),
                      LogKey(TableId(table.id.value() + 1), ChangeSequence(0)));
  }
  // A crash that loses this leaves the tables DELETING, and the next start removes them.
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/false, "catalog: remove tables"));
  {
    const absl::MutexLock snapshot_lock(&snapshot_mutex_);
    for (const TableDescriptor& table : tables) detached_.erase({table.id, IndexId(0)});
  }
  Publish({}, tables);
  for (const TableDescriptor& table : tables) streams_->Forget(table.id);
  return absl::OkStatus();
}

void Catalog::SetWorkListener(std::function<void()> listener) {
  const absl::MutexLock lock(&work_->mutex);
  work_->listener = std::move(listener);
}

absl::StatusOr<ChangeSequence> Catalog::ReadLastSequence(RocksDb* db) {
  ARM_ASSIGN_OR_RETURN(const std::optional<std::string> stored, db->Get(*db->meta(), kSequenceKey));
  const std::optional<uint64_t> value = stored.has_value() ? ParseU64(*stored) : 0;
  if (!value.has_value()) return DataLossError("meta: sequence must have eight bytes");
  uint64_t last = *value;
  // An index passes the sequences of a batch that failed. It would skip changes that got them again.
  ARM_RETURN_IF_ERROR(db->ForEachWithPrefix(*db->meta(), kCursorPrefix, [&](std::string_view, std::string_view cursor) {
    last = std::max(last, ParseU64(cursor).value_or(0));
    return absl::OkStatus();
  }));
  return ChangeSequence(last);
}

}  // namespace armature::store
