#include "storage/store/database.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/ddl_worker.h"
#include "storage/store/commit/family_maker.h"
#include "storage/store/commit/unit_batch.h"
#include "storage/store/damage_keeper.h"
#include "storage/store/data_directory.h"
#include "storage/store/disk_space.h"
#include "storage/store/files/no_wait_reads.h"
#include "storage/store/log/backlog_count.h"
#include "storage/store/log/change_log.h"
#include "storage/store/log/index_backlog.h"
#include "storage/store/log/sequence_epoch.h"
#include "storage/store/meta_keys.h"
#include "storage/store/range_reader.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"
#include "storage/store/stream/stream_keeper.h"
#include "storage/store/stream/stream_log.h"

namespace armature::store {

// Members in order of construction; destroyed in reverse.
struct Database::Impl {
  size_t no_wait_read_bytes_max = 0;
  std::unique_ptr<DataDirectory> directory;
  TimerQueue timers;
  std::unique_ptr<RocksDb> rocks;
  std::unique_ptr<DamageKeeper> damage_keeper;
  std::unique_ptr<SequenceTickets> tickets;
  std::unique_ptr<StreamLog> streams;
  std::unique_ptr<StreamKeeper> stream_keeper;
  std::unique_ptr<ExpiryIndex> expiry;
  std::unique_ptr<TransferRecords> transfers;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<ChangeLog> log;
  std::unique_ptr<DdlWorker> ddl;
  std::unique_ptr<BacklogCount> backlog_count;
  std::unique_ptr<Committer> committer;
  std::unique_ptr<FamilyMaker> families;
  std::unique_ptr<DiskGuard> guard;
};

namespace {

// A place that cannot be marked stays the one of the last start. An error in a directory that need not have one yet:
// the next start would take it for a copy, once its format is raised.
absl::Status MarkPlace(DataDirectory* directory) {
  const absl::Status marked = directory->MarkPlace();
  if (directory->may_lack_place()) return marked;
  if (!marked.ok()) LOG(WARNING) << "store: cannot mark the place of the data directory status=" << marked;
  return absl::OkStatus();
}

// Finds where the change sequences go on, and begins an epoch if the directory needs one.
absl::StatusOr<std::unique_ptr<SequenceTickets>> OpenSequences(RocksDb* rocks, DataDirectory* directory,
                                                               const DatabaseOptions& options) {
  ARM_ASSIGN_OR_RETURN(const ChangeSequence last_change, Catalog::ReadLastSequence(rocks));
  ARM_ASSIGN_OR_RETURN(const ChangeSequence last_in_stream, StreamLog::ReadLastSequence(rocks));
  const ChangeSequence last = std::max(last_change, last_in_stream);
  ARM_ASSIGN_OR_RETURN(const ChangeSequence base, ReadEpochBase(rocks));
  if (!directory->needs_epoch()) return std::make_unique<SequenceTickets>(last, base);
  ARM_ASSIGN_OR_RETURN(const ChangeSequence new_base, BeginEpoch(rocks, std::max(last, base), options.epoch_clock));
  // Only now: a start that fails before begins another one.
  ARM_RETURN_IF_ERROR(MarkPlace(directory));
  if (last != ChangeSequence()) {
    LOG(WARNING) << "store: the data directory was restored or copied, or lost writes; a new epoch of change sequences "
                    "begins, and positions of streams and watches from before are refused path="
                 << directory->path() << " last=" << last.value() << " base=" << new_base.value();
  }
  return std::make_unique<SequenceTickets>(new_base, new_base);
}

}  // namespace

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const DatabaseOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->no_wait_read_bytes_max = options.no_wait_read_bytes_max;
  ARM_ASSIGN_OR_RETURN(impl->directory, DataDirectory::Open(options.volume, options.path));
  ARM_RETURN_IF_ERROR(impl->directory->CheckLogs());
  const std::string db_path = impl->directory->db_path();
  if (impl->directory->is_new()) {
    // An interrupted creation may leave a database that cannot be opened. It holds no data.
    const std::string failed = Cat("cannot make ", db_path, " anew");
    if (const absl::Status removed = options.volume->RemoveTree(db_path); !removed.ok()) {
      return WithContext(removed, failed);
    }
    if (const absl::Status made = options.volume->MakeDirectories(db_path); !made.ok()) {
      return WithContext(made, failed);
    }
  }
  ARM_ASSIGN_OR_RETURN(
      impl->rocks, RocksDb::Open(db_path, options,
                                 impl->directory->is_new() ? RocksDb::IfMissing::kCreate : RocksDb::IfMissing::kFail));
  // Before the first write, which may wait for a family whose damage is not known yet.
  impl->damage_keeper = std::make_unique<DamageKeeper>(impl->rocks.get());
  ARM_RETURN_IF_ERROR(impl->directory->FinishCreation());
  // Before the format is raised: a directory of an older format lacks the file, one of this format must not.
  if (!impl->directory->needs_epoch()) ARM_RETURN_IF_ERROR(MarkPlace(impl->directory.get()));
  ARM_RETURN_IF_ERROR(impl->directory->RaiseFormat());
  ARM_RETURN_IF_ERROR(impl->directory->NoteLogs());
  ARM_ASSIGN_OR_RETURN(impl->tickets, OpenSequences(impl->rocks.get(), impl->directory.get(), options));
  ARM_ASSIGN_OR_RETURN(impl->streams, StreamLog::Open(impl->rocks.get(), impl->tickets.get(), options.streams.shards));
  impl->expiry = std::make_unique<ExpiryIndex>(impl->rocks.get());
  impl->transfers = std::make_unique<TransferRecords>(impl->rocks.get());
  ARM_ASSIGN_OR_RETURN(impl->catalog, Catalog::Open(impl->rocks.get(), &impl->timers, impl->streams.get()));
  impl->log = std::make_unique<ChangeLog>(impl->rocks.get(), impl->tickets.get());
  impl->ddl = std::make_unique<DdlWorker>(impl->catalog.get(), impl->rocks.get());
  ARM_RETURN_IF_ERROR(impl->ddl->RemoveOrphans());
  impl->ddl->RunOnce();
  impl->backlog_count = std::make_unique<BacklogCount>(impl->log.get(), impl->catalog.get());
  impl->committer = std::make_unique<Committer>(options, impl->rocks.get(), impl->tickets.get(), impl->log.get(),
                                                impl->streams.get());
  impl->families = std::make_unique<FamilyMaker>(options, impl->rocks.get(), impl->committer.get());
  impl->stream_keeper = std::make_unique<StreamKeeper>(impl->streams.get(), options.streams);
  impl->guard = std::make_unique<DiskGuard>(impl->rocks.get(), impl->rocks->space());
  LOG(INFO) << "store: opened path=" << options.path << " database=" << impl->directory->database_id()
            << " families=" << impl->rocks->family_count() << " sequence=" << impl->tickets->last_taken().value()
            << " cache_mb=" << (options.cache_bytes >> 20) << " memtables_mb=" << (options.memtables_bytes_max >> 20)
            << " background_threads=" << options.background_threads;
  auto database = std::unique_ptr<Database>(new Database(std::move(impl)));
  database->AbandonRestores();
  return database;
}

// The process that filled these tables is gone. A table that cannot be deleted now stays out of reach of clients, so
// the failure does not prevent serving the others.
void Database::AbandonRestores() {
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog();
  for (const auto& [name, table] : snapshot->tables()) {
    const model::TableDescriptor& descriptor = table->descriptor;
    if (!descriptor.is_being_restored() || descriptor.state == model::TableState::kDeleting) continue;
    if (descriptor.restore->is_import) continue;  // it goes on
    LOG(WARNING) << "store: deleting a table whose restore was interrupted table=" << name
                 << " backup=" << descriptor.restore->backup_arn;
    const absl::Status abandoned = AbandonRestore(descriptor.id);
    if (!abandoned.ok())
      LOG(ERROR) << "store: cannot delete the table before the next start table=" << name << " status=" << abandoned;
  }
}

absl::StatusOr<GetResult> Database::Get(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                        std::string* value) const {
  rocksdb::ColumnFamilyHandle* const handle = keyspace.family->handle();
  if (handle == nullptr) return GetResult::kMissing;
  ARM_RETURN_IF_ERROR(CheckReadable(keyspace));
  rocksdb::PinnableSlice pinned(value);
  rocksdb::ReadOptions options;
  if (mode == ReadMode::kMemoryOnly) options.read_tier = rocksdb::kBlockCacheTier;
  std::optional<NoWaitReads> no_wait;
  if (mode == ReadMode::kNoWait) no_wait.emplace(impl_->no_wait_read_bytes_max);
  const ReadHorizon::Reading reading(impl_->rocks->horizon());
  const rocksdb::Status status = impl_->rocks->db()->Get(options, handle, ToSlice(key), &pinned);
  no_wait.reset();
  // Afterwards: what was read before the check was current.
  if (status.ok() || status.IsNotFound()) ARM_RETURN_IF_ERROR(impl_->rocks->CheckCurrent());
  if (status.ok()) {
    if (pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
    return GetResult::kFound;
  }
  if (status.IsNotFound()) return GetResult::kMissing;
  if (status.IsIncomplete()) return GetResult::kWouldBlock;
  return FromRocks(status, Cat("read from ", keyspace.family->name()));
}

absl::StatusOr<GetResult> Database::GetCounter(const Keyspace& keyspace, std::string_view key, ReadMode mode,
                                               uint64_t* value) const {
  std::string stored;
  ARM_ASSIGN_OR_RETURN(const GetResult got, Get(keyspace, key, mode, &stored));
  *value = 0;
  if (got == GetResult::kFound) {
    ARM_ASSIGN_OR_RETURN(*value, ParseCounter(stored, *keyspace.family));
  }
  return got == GetResult::kMissing ? GetResult::kFound : got;
}

absl::StatusOr<RangeEnd> Database::ReadRange(const Keyspace& keyspace, const KeyRange& range, Direction direction,
                                             RowVisitor visit, ReadMode mode, SkipLimit* limit) const {
  ARM_RETURN_IF_ERROR(CheckReadable(keyspace));
  return ReadRows(impl_->rocks.get(), *keyspace.family, {range, direction, mode, limit}, visit);
}

absl::StatusOr<RangeEnd> Database::ReadJoined(const Keyspace& index, const KeyRange& range, Direction direction,
                                              const Keyspace& rows, JoinVisitor* visitor, ReadMode mode,
                                              SkipLimit* limit) const {
  ARM_RETURN_IF_ERROR(CheckReadable(index));
  ARM_RETURN_IF_ERROR(CheckReadable(rows));
  return ReadJoinedRows(impl_->rocks.get(), *index.family, {range, direction, mode, limit}, *rows.family, visitor);
}

std::unique_ptr<KeyspaceSnapshot> Database::TakeSnapshot(const Keyspace& keyspace) const {
  // Read before the snapshot is taken: changes up to the watermark are visible already.
  const ChangeSequence sequence = impl_->log->watermark();
  return KeyspaceSnapshot::Take(impl_->rocks.get(), *keyspace.family, sequence);
}

absl::StatusOr<GetResult> Database::FindToken(std::string_view token, ReadMode mode, TokenRecord* record) const {
  std::string stored;
  ARM_ASSIGN_OR_RETURN(const GetResult got, Get(Keyspace{impl_->rocks->meta()}, TokenKey(token), mode, &stored));
  if (got == GetResult::kFound) {
    ARM_ASSIGN_OR_RETURN(*record, ParseTokenRecord(stored));
  }
  return got;
}

void Database::AddToken(std::string_view token, const TokenRecord& record, WriteUnit* unit) const {
  const Keyspace meta{impl_->rocks->meta()};
  const std::string key = TokenKey(token);
  const std::string time_key = TokenTimeKey(record.expires_ms, token);
  const std::string value = EncodeTokenRecord(record);
  unit->Reserve(2, key.size() + value.size() + time_key.size());
  unit->Put(meta, key, value);
  unit->Put(meta, time_key, {});
}

absl::StatusOr<int64_t> Database::LastTokenExpiry() const { return store::LastTokenExpiry(impl_->rocks.get()); }

absl::StatusOr<TokenSweep> Database::SweepExpiredTokens(int64_t now_ms, const std::string& from, size_t max,
                                                        absl::FunctionRef<bool(std::string_view token)> claim) {
  return SweepTokens(impl_->rocks.get(), now_ms, from, max, claim);
}

std::optional<CommitEpoch> Database::Commit(WriteUnit unit, CommitCallback done, const CommitTerms& terms) {
  std::vector<WriteUnit> units;
  units.push_back(std::move(unit));
  return CommitAll(std::move(units), std::move(done), terms);
}

std::optional<CommitEpoch> Database::CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                               const CommitTerms& terms) {
  for (const WriteUnit& unit : units) {
    if (absl::Status refused = CheckWritable(unit); !refused.ok()) {
      std::move(done)(std::move(refused));
      return std::nullopt;
    }
  }
  return impl_->families->CommitAll(std::move(units), std::move(done), terms);
}

std::vector<std::optional<CommitEpoch>> Database::CommitEach(std::vector<Commitment> commitments) {
  if (commitments.empty()) return {};
  if (!impl_->rocks->damages()->any()) return impl_->families->CommitEach(std::move(commitments));
  std::vector<std::optional<CommitEpoch>> queued;
  queued.reserve(commitments.size());
  for (Commitment& each : commitments) queued.push_back(Commit(std::move(each.unit), std::move(each.done), each.terms));
  return queued;
}

void Database::WhenDurable(CommitEpoch decided_on, size_t held_bytes, CommitCallback done) {
  impl_->committer->WhenDurable(decided_on, held_bytes, std::move(done));
}

size_t Database::commit_queue_bytes_max() const { return impl_->committer->queue_bytes_max(); }

absl::Status Database::CommitConsumed(const WriteUnit& unit, TableId table,
                                      const std::vector<std::pair<IndexId, ChangeSequence>>& cursors) {
  UnitBatch batch(impl_->rocks.get(), unit.batch_bytes() + 32 * cursors.size(), unit.ops().size());
  batch.Add(unit);
  ARM_RETURN_IF_ERROR(batch.MakeFamilies());
  for (const auto& [index, cursor] : cursors) {
    batch.records().Put(impl_->rocks->meta()->handle(), CursorKey(table, index), EncodeU64(cursor.value()));
  }
  ARM_FAULT_POINT("applier.before_write");
  absl::Status written = batch.Write(/*sync=*/false, Cat("apply index changes of table ", table.value()));
  ARM_FAULT_POINT("applier.after_write");
  return written;
}

bool Database::IsKnownToAll(TableId table) const { return !impl_->catalog->HasHoldersOfEarlierStates(table); }

void Database::SetCatalogListener(const void* owner, std::function<void()> listener) {
  impl_->ddl->SetListener(owner, std::move(listener));
}

absl::Status Database::BeginIndexScan(TableId table, const Index& index) {
  BuildState state;
  state.phase = BuildPhase::kScanning;
  // A record counted in the backlog but not yet below the watermark will be below it in a moment: retry.
  do {
    state.from_sequence = impl_->log->watermark();
  } while (!index.progress->backlog().BeginAt(state.from_sequence));
  state.started_ms = absl::ToUnixMillis(absl::Now());
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* const meta = impl_->rocks->meta()->handle();
  const IndexId id = index.descriptor.id;
  batch.Put(meta, CursorKey(table, id), EncodeU64(state.from_sequence.value()));
  batch.Put(meta, BuildKey(table, id), EncodeBuildState(state));
  ARM_RETURN_IF_ERROR(impl_->rocks->Write(&batch, /*sync=*/true, Cat("begin to fill index ", index.descriptor.name)));
  index.progress->Advance(state.from_sequence);
  index.build->Set(std::move(state));
  return absl::OkStatus();
}

absl::Status Database::CommitBuilt(const WriteUnit& unit, TableId table, const Index& index, const BuildState& state) {
  // A scan can be repeated, so it waits for space like a client.
  ARM_RETURN_IF_ERROR(impl_->rocks->space()->CheckClients());
  UnitBatch batch(impl_->rocks.get(), unit.batch_bytes(), unit.ops().size());
  batch.Add(unit);
  ARM_RETURN_IF_ERROR(batch.MakeFamilies());
  batch.records().Put(impl_->rocks->meta()->handle(), BuildKey(table, index.descriptor.id), EncodeBuildState(state));
  ARM_FAULT_POINT("builder.before_write");
  absl::Status written = batch.Write(/*sync=*/false, Cat("fill index ", index.descriptor.name));
  ARM_FAULT_POINT("builder.after_write");
  if (written.ok()) index.build->Set(state);
  return written;
}

absl::StatusOr<ChangeSequence> Database::CommitNothing() const { return impl_->committer->CommitNothing(); }

absl::Status Database::ActivateIndex(TableId table, IndexId index) {
  return impl_->catalog->ActivateIndex(table, index);
}

ChangeLog& Database::change_log() { return *impl_->log; }

StreamLog& Database::streams() const { return *impl_->streams; }

const StreamKeeper& Database::stream_keeper() const { return *impl_->stream_keeper; }

ExpiryIndex& Database::expiry() const { return *impl_->expiry; }
TransferRecords& Database::transfers() const { return *impl_->transfers; }

std::shared_ptr<const CatalogSnapshot> Database::catalog() const { return impl_->catalog->snapshot(); }

absl::StatusOr<model::TableDescriptor> Database::CreateTable(model::TableDescriptor descriptor) {
  ARM_RETURN_IF_ERROR(impl_->rocks->space()->CheckClients());
  ARM_ASSIGN_OR_RETURN(model::TableDescriptor created, impl_->catalog->Add(std::move(descriptor)));
  impl_->ddl->Wake();
  return created;
}

absl::StatusOr<model::TableDescriptor> Database::DeleteTable(std::string_view name) {
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog();
  const Table* const table = snapshot->Find(name);
  if (table != nullptr && table->descriptor.is_being_restored()) return TableIsBeingCreatedError(name);
  return Delete(name);
}

absl::StatusOr<model::TableDescriptor> Database::Delete(std::string_view name) {
  std::vector<std::shared_ptr<IndexProgress>> left;
  ARM_ASSIGN_OR_RETURN(model::TableDescriptor deleting, impl_->catalog->MarkDeleting(name, &left));
  // Requests that wait for an index of the table hold the table; end their waits.
  const absl::Status gone = ResourceNotFoundError(Cat("Requested resource not found: Table: ", name, " not found"));
  for (const std::shared_ptr<IndexProgress>& progress : left) {
    if (progress != nullptr) progress->Close(gone);
  }
  impl_->ddl->Wake();
  return deleting;
}

absl::StatusOr<std::optional<model::TableDescriptor>> Database::UpdateTable(
    std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change) {
  std::vector<std::shared_ptr<IndexProgress>> left;
  const auto change_if_whole = [&](model::TableDescriptor* descriptor) {
    return descriptor->is_being_restored() ? TableIsBeingCreatedError(name) : change(descriptor);
  };
  ARM_ASSIGN_OR_RETURN(std::optional<model::TableDescriptor> updated,
                       impl_->catalog->Update(name, change_if_whole, &left));
  // Requests that wait for an index that is being removed hold it; end their waits.
  const absl::Status gone = ValidationError("The table does not have the specified index any more");
  for (const std::shared_ptr<IndexProgress>& progress : left) progress->Close(gone);
  if (updated.has_value() && updated->state == model::TableState::kUpdating) impl_->ddl->Wake();
  return updated;
}

bool Database::AwaitOpen(TableId table, absl::Duration patience) const {
  return impl_->catalog->AwaitOpen(table, patience);
}

absl::Status Database::FinishRestore(TableId id) {
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog();
  const Table* const table = snapshot->Find(id);
  if (table == nullptr || !table->descriptor.is_being_restored()) return absl::OkStatus();
  std::vector<std::shared_ptr<IndexProgress>> left;
  const auto finish = [id](model::TableDescriptor* descriptor) {
    if (descriptor->id != id || !descriptor->restore.has_value()) return absl::OkStatus();
    descriptor->restore->in_progress = false;
    if (descriptor->restore->is_import) descriptor->restore.reset();
    return absl::OkStatus();
  };
  return impl_->catalog->Update(table->descriptor.name, finish, &left).status();
}

absl::Status Database::AbandonRestore(TableId id) {
  const std::shared_ptr<const CatalogSnapshot> snapshot = catalog();
  const Table* const table = snapshot->Find(id);
  if (table == nullptr || !table->descriptor.is_being_restored()) return absl::OkStatus();
  return Delete(table->descriptor.name).status();
}

void Database::EndWaits(const absl::Status& status) {
  const std::shared_ptr<const CatalogSnapshot> catalog = impl_->catalog->snapshot();
  for (const auto& [name, table] : catalog->tables()) {
    for (const Index& index : table->global_indexes) {
      if (index.progress != nullptr) index.progress->Close(status);
    }
  }
}

const std::string& Database::database_id() const { return impl_->directory->database_id(); }
RocksDb* Database::rocks() const { return impl_->rocks.get(); }
int Database::format_version() const { return impl_->directory->format_version(); }
size_t Database::column_family_count() const { return impl_->rocks->family_count(); }
CommitterCounters Database::committer_counters() const { return impl_->committer->counters(); }

DatabaseStats Database::stats() const {
  return {.committer = impl_->committer->counters(),
          .disk = impl_->rocks->space()->report(),
          .files = impl_->rocks->file_stats(),
          .column_families = impl_->rocks->family_count(),
          .column_families_needed = impl_->catalog->snapshot()->families_needed(),
          .column_families_max = impl_->rocks->table_families_max(),
          .change_sequence = impl_->tickets->last_taken().value()};
}

DiskReport Database::disk_report() const { return impl_->rocks->space()->report(); }

}  // namespace armature::store
