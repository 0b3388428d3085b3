#include "storage/store/rocks_db.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/time/clock.h"
#include "glog/logging.h"
#include "rocksdb/write_buffer_manager.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/store/background_priority.h"
#include "storage/store/damage_keeper.h"
#include "storage/store/file_stats.h"
#include "storage/store/files/volume.h"
#include "storage/store/identity_file.h"
#include "storage/store/memtable/collapsing_memtable.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// More than any memtable takes for what the log may hold.
constexpr size_t kReplayedMemtableBytes = size_t{64} << 30;
// Number of idle families that are flushed at once.
constexpr size_t kIdleFlushesMax = 16;
constexpr size_t kFamiliesFlushedAtStartMax = 200;
constexpr int64_t kIdleScanNs = 10'000'000'000;

// Tells the puts of a batch to `ranges`.
class PutNotes final : public rocksdb::WriteBatch::Handler {
 public:
  PutNotes(DeadRanges* ranges, uint64_t write) : ranges_(ranges), write_(write) {}

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice&) override {
    ranges_->NotePut(write_, family, ToView(key));
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status DeleteRangeCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }

 private:
  DeadRanges* const ranges_;
  const uint64_t write_;
};

}  // namespace

RocksDb::RocksDb(const std::string& path, const DatabaseOptions& options, CheckedLogs logs, LogKeeper* keeper)
    : options_(options),
      space_(
          options.disk_reserve, [volume = options.volume, path] { return volume->Measure(path); }, options.on_broken),
      logs_(std::move(logs)),
      keeper_(keeper),
      spare_(options.volume, path),
      log_files_(logs_.log_register.get(), keeper),
      env_(MakeEnv(options.volume, &log_files_)),
      cache_(rocksdb::NewLRUCache(options.cache_bytes)),
      memtables_(std::make_shared<rocksdb::WriteBufferManager>(options.memtables_bytes_max)),
      statistics_(rocksdb::CreateDBStatistics()),
      collapsing_memtables_(MakeCollapsingMemtableFactory(&horizon_)) {
  // Counters only: timers cost two clock reads per operation.
  statistics_->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
}

absl::StatusOr<std::unique_ptr<RocksDb>> RocksDb::Open(const std::string& path, const DatabaseOptions& options,
                                                       IfMissing if_missing, IfDamaged if_damaged, LogKeeper* keeper) {
  // Before anything is deleted.
  if (keeper == nullptr) ARM_RETURN_IF_ERROR(LogKeeper::Forget(options.volume, std::string(ParentOf(path))));
  ARM_ASSIGN_OR_RETURN(CheckedLogs logs, CheckLogs(options.volume, path, if_missing == IfMissing::kCreate,
                                                   if_damaged != IfDamaged::kRefuse));
  // Only if a database is there, which the file CURRENT shows.
  if (if_missing == IfMissing::kFail && logs.log_register != nullptr) {
    ARM_RETURN_IF_ERROR(MendIdentity(options.volume, path));
  }
  auto database = std::unique_ptr<RocksDb>(new RocksDb(path, options, std::move(logs), keeper));
  ARM_RETURN_IF_ERROR(database->OpenFamilies(path, if_missing, if_damaged));
  for (const LogName name : database->logs_.missing) ARM_RETURN_IF_ERROR(database->logs_.log_register->Remove(name));
  ARM_RETURN_IF_ERROR(database->MakeShared());
  ARM_RETURN_IF_ERROR(database->LoadStats());
  // Before the first write, which the files of a damaged family might hold back for ever.
  ARM_RETURN_IF_ERROR(LoadDamages(database.get()));
  database->KeepResumable();
  return database;
}

rocksdb::ColumnFamilyOptions RocksDb::MakeFamilyOptions(std::string_view name) const {
  const bool is_read_by_writes = IsDataFamilyName(name) || name == kMetaFamily;
  rocksdb::ColumnFamilyOptions family = IsRangeFamilyName(name) ? MakeRangeFamilyOptions(options_, cache_)
                                        : is_read_by_writes     ? MakeTableFamilyOptions(options_, cache_)
                                                                : MakeDataFamilyOptions(options_, cache_);
  if (IsOverwrittenFamilyName(name)) family.memtable_factory = collapsing_memtables_;
  if (replayed_memtable_bytes_ > 0) {
    // The filter's size is a fraction of this.
    family.memtable_prefix_bloom_size_ratio *=
        static_cast<double>(family.write_buffer_size) / static_cast<double>(replayed_memtable_bytes_);
    family.write_buffer_size = replayed_memtable_bytes_;
  }
  return family;
}

absl::Status RocksDb::CheckCurrent() const {
  const absl::Status current = volume()->CheckCurrent();
  return current.ok() ? current : ServiceUnavailableError(Sv(current.message()));
}

// After a kill, the log may hold as much as all memtables, and a replay flushes them.
bool RocksDb::LacksSpaceToReplay(const std::string& path) const {
  uint64_t log_bytes = 0;
  const absl::StatusOr<std::vector<std::string>> entries = volume()->List(path);
  for (const std::string& entry : entries.ok() ? *entries : std::vector<std::string>()) {
    LogName name;
    if (!ParseLogName(entry, &name) || name.kind != LogKind::kWriteAhead) continue;
    log_bytes += volume()->Size(Cat(path, "/", entry)).value_or(0);
  }
  return space_.report().usage.free_bytes < log_bytes + SpareFile::kBytes;
}

absl::Status RocksDb::OpenFamilies(const std::string& path, IfMissing if_missing, IfDamaged if_damaged) {
  rocksdb::DBOptions db_options = MakeDbOptions(options_);
  db_options.env = env_.get();
  db_options.statistics = statistics_;
  db_options.write_buffer_manager = memtables_;
  db_options.listeners.push_back(MakeErrorListener(&space_, &damages_));
  db_options.listeners.push_back(MakePriorityListener());
  db_options.create_if_missing = if_missing == IfMissing::kCreate;
  if (logs_.are_whole) db_options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  if (if_damaged != IfDamaged::kRefuse) {
    db_options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  db_options.paranoid_checks = if_damaged != IfDamaged::kAcceptLostFiles;
  const bool lacks_space =
      if_missing == IfMissing::kFail && if_damaged == IfDamaged::kRefuse && LacksSpaceToReplay(path);
  if (lacks_space) {
    spare_.Release();
    db_options.avoid_flush_during_recovery = true;
    // A full memtable would be flushed all the same.
    replayed_memtable_bytes_ = kReplayedMemtableBytes;
    memtables_->SetBufferSize(kReplayedMemtableBytes);
  }
  std::vector<std::string> names;
  if (const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(db_options, path, &names); !listed.ok()) {
    const bool is_damaged = listed.IsCorruption() || listed.IsNotFound() || listed.IsPathNotFound();
    if (if_missing == IfMissing::kFail && !is_damaged) return FromRocks(listed, Cat("open ", path));
    if (if_missing == IfMissing::kFail) {
      return DataLossError(Cat("the database in ", path, " is missing or damaged (", listed.ToString(),
                               "); nothing was changed: restore it, or name another data directory"));
    }
    names = {rocksdb::kDefaultColumnFamilyName};
  }
  // With many families, a file for each that has rows in the log would take most of the time of a start. The rows stay
  // in memory and in the log, and FlushIdle writes them later.
  if (if_damaged == IfDamaged::kRefuse && names.size() > kFamiliesFlushedAtStartMax) {
    db_options.avoid_flush_during_recovery = true;
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(names.size());
  for (const std::string& name : names) {
    descriptors.emplace_back(name, MakeFamilyOptions(name));
    // A database with accepted losses is opened for a few writes, which no family must hold back.
    descriptors.back().options.disable_auto_compactions = if_damaged != IfDamaged::kRefuse;
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(db_options, path, descriptors, &handles, &raw);
  if (opened.IsCorruption() && if_damaged == IfDamaged::kRefuse) {
    return DataLossError(
        Cat("open ", path, ": ", TextOf(opened), "; put the file back, restore a backup, or see armature recover"));
  }
  ARM_RETURN_IF_ERROR(FromRocks(opened, Cat("open ", path)));
  db_.reset(raw);
  opened_sequence_ = raw->GetLatestSequenceNumber();
  log_files_.set_open();
  horizon_.Attach(raw);
  const absl::MutexLock lock(&mutex_);
  for (rocksdb::ColumnFamilyHandle* const handle : handles) AddFamily(handle);
  // Resume flushes the memtables.
  if (lacks_space) space_.SetFailed(Shortage::kSpace);
  return absl::OkStatus();
}

absl::Status RocksDb::MakeShared() {
  // New databases have them in this order.
  ARM_RETURN_IF_ERROR(CreateFamilies(
      {std::string(kMetaFamily), std::string(kLogFamily), std::string(kStreamFamily), std::string(kExpiryFamily)}));
  meta_ = Find(kMetaFamily);
  log_ = Find(kLogFamily);
  stream_ = Find(kStreamFamily);
  expiry_ = Find(kExpiryFamily);
  return absl::OkStatus();
}

absl::Status RocksDb::LoadStats() {
  const std::string prefix = StatsKey("");
  return ForEachWithPrefix(*meta_, prefix, [&](std::string_view key, std::string_view value) {
    const std::string_view name = key.substr(prefix.size());
    counted_.emplace(name);
    ColumnFamily* const family = Find(name);
    if (family == nullptr) return absl::OkStatus();
    const absl::StatusOr<StatsDelta> totals = ParseStats(value);
    if (!totals.ok()) return WithContext(totals.status(), Cat("totals of ", family->name()));
    family->stats()->Add(*totals);
    return absl::OkStatus();
  });
}

RocksDb::~RocksDb() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* const handle : Handles()) {
    static_cast<void>(db_->DestroyColumnFamilyHandle(handle));
  }
  {
    const absl::MutexLock lock(&mutex_);
    families_.clear();
  }
  // After an orderly end, a start of any boot can tell damage from writes that were not synced. After a failed write
  // RocksDB would abort.
  if (const absl::Status synced = SyncLog(); !synced.ok()) {
    LOG(WARNING) << "store: cannot sync the write-ahead log at the end status=" << synced;
  }
  static_cast<void>(db_->Close());
}

ColumnFamily* RocksDb::Find(std::string_view name) {
  const absl::MutexLock lock(&mutex_);
  const auto found = families_.find(name);
  return found == families_.end() || !found->second->is_made() ? nullptr : found->second.get();
}

absl::StatusOr<ColumnFamily*> RocksDb::Place(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  std::unique_ptr<ColumnFamily>& family = families_[name];
  if (family == nullptr) {
    // Totals are written in the batch of the rows. Sizes of collections have none: their family is made before that of
    // their table, so a manifest that lost it has lost the table's as well. Formats before 5 made them in another
    // order.
    if (counted_.contains(name)) {
      families_.erase(name);
      return DataLossError(Cat("column family ", name, " is missing"));
    }
    family = std::make_unique<ColumnFamily>(name, nullptr);
  }
  return family.get();
}

std::vector<std::string> RocksDb::FamilyNames() {
  const absl::MutexLock lock(&mutex_);
  std::vector<std::string> names;
  for (const auto& [name, family] : families_) {
    if (family->is_made()) names.push_back(name);
  }
  return names;
}

FamilyNamesById RocksDb::FamilyIds() {
  const absl::MutexLock lock(&mutex_);
  FamilyNamesById ids;
  for (const auto& [name, family] : families_) {
    if (family->is_made()) ids.emplace(family->handle()->GetID(), name);
  }
  return ids;
}

std::vector<rocksdb::ColumnFamilyHandle*> RocksDb::Handles() {
  const absl::MutexLock lock(&mutex_);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  handles.reserve(made_);
  for (const auto& [name, family] : families_) {
    if (family->is_made()) handles.push_back(family->handle());
  }
  return handles;
}

void RocksDb::AddFamily(rocksdb::ColumnFamilyHandle* handle) {
  std::unique_ptr<ColumnFamily>& family = families_[handle->GetName()];
  if (family == nullptr) family = std::make_unique<ColumnFamily>(handle->GetName(), nullptr);
  family->handle_.store(handle, std::memory_order_release);
  ++made_;
  SetMemtableBudget();
}

void RocksDb::SetMemtableBudget() {
  if (replayed_memtable_bytes_ > 0) return;
  // Beside the budget, because many families that are seldom written would leave nothing of it, and each write would
  // flush one of them.
  memtables_->SetBufferSize(options_.memtables_bytes_max + made_ * SmallMemtableBytes(options_));
}

size_t RocksDb::family_count() {
  const absl::MutexLock lock(&mutex_);
  return made_;
}

void RocksDb::HoldFamilies() {
  const absl::MutexLock lock(&families_gate_, absl::Condition(&families_free_));
  families_free_ = false;
}

void RocksDb::ReleaseFamilies() {
  const absl::MutexLock lock(&families_gate_);
  families_free_ = true;
}

absl::Status RocksDb::CreateFamilies(const std::vector<std::string>& names) {
  const absl::MutexLock families_lock(&families_gate_, absl::Condition(&families_free_));
  // A resume, which the gate keeps away, changes the options.
  const absl::ReaderMutexLock gate(&write_gate_);
  std::vector<rocksdb::ColumnFamilyDescriptor> missing;
  for (const std::string& name : names) {
    if (Find(name) != nullptr) continue;
    missing.emplace_back(name, MakeFamilyOptions(name));
  }
  if (missing.empty()) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(space_.CheckEngine());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = db_->CreateColumnFamilies(missing, &handles);
  // If the call failed half-way, the first families exist and are ours.
  const absl::MutexLock lock(&mutex_);
  for (rocksdb::ColumnFamilyHandle* const handle : handles) AddFamily(handle);
  return FromRocks(status, "create column families");
}

absl::Status RocksDb::DropFamilies(const std::vector<std::string>& names) {
  const absl::MutexLock drop_lock(&drop_mutex_);
  const absl::MutexLock families_lock(&families_gate_, absl::Condition(&families_free_));
  const absl::ReaderMutexLock gate(&write_gate_);
  ARM_RETURN_IF_ERROR(space_.CheckEngine());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  FamilyNamesById ids;
  for (const std::string& name : names) {
    if (ColumnFamily* const family = Find(name); family != nullptr) {
      handles.push_back(family->handle());
      ids.emplace(family->handle()->GetID(), name);
    }
  }
  if (keeper_ != nullptr) keeper_->OnDrop(ids);
  const rocksdb::Status all = handles.empty() ? rocksdb::Status::OK() : db_->DropColumnFamilies(handles);
  absl::Status status;
  for (rocksdb::ColumnFamilyHandle* const handle : handles) {
    // A family that is still there is kept, so that a later call drops it. To drop one twice is an invalid argument.
    const rocksdb::Status dropped = all.ok() ? all : db_->DropColumnFamily(handle);
    if (!dropped.ok() && !dropped.IsInvalidArgument()) {
      status = FromRocks(dropped, "drop column families");
      continue;
    }
    {
      const absl::MutexLock lock(&mutex_);
      families_.erase(families_.find(handle->GetName()));
      --made_;
      SetMemtableBudget();
      dead_ranges_.Forget(handle->GetID());
      damages_.Remove(handle->GetName());
      const auto is_unused = [this, handle]()
                                 ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !handle_uses_.contains(handle); };
      mutex_.Await(absl::Condition(&is_unused));
    }
    static_cast<void>(db_->DestroyColumnFamilyHandle(handle));
  }
  const absl::MutexLock lock(&mutex_);
  for (const std::string& name : names) {
    const auto found = families_.find(name);
    if (found != families_.end() && !found->second->is_made()) families_.erase(found);
  }
  return status;
}

absl::Status RocksDb::RemakeShared(const std::vector<std::string>& names) {
  ARM_RETURN_IF_ERROR(DropFamilies(names));
  return MakeShared();
}

absl::StatusOr<bool> RocksDb::IsEmpty(const ColumnFamily& family) {
  if (!family.is_made()) return true;
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  const ReadHorizon::Reading reading(&horizon_);
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, family.handle()));
  it->SeekToFirst();
  ARM_RETURN_IF_ERROR(FromRocks(it->status(), Cat("read from ", family.name())));
  return !it->Valid();
}

absl::StatusOr<std::optional<std::string>> RocksDb::Get(const ColumnFamily& family, std::string_view key) {
  rocksdb::ColumnFamilyHandle* const handle = family.handle();
  if (handle == nullptr) return std::nullopt;
  std::string value;
  const ReadHorizon::Reading reading(&horizon_);
  const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), handle, ToSlice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  ARM_RETURN_IF_ERROR(FromRocks(status, Cat("read from ", family.name())));
  return value;
}

absl::Status RocksDb::Write(rocksdb::WriteBatch* batch, bool sync, std::string_view context) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  space_.Spend(batch->GetDataSize());
  // Checked before the gate as well: the gate is closed while the engine resumes.
  ARM_RETURN_IF_ERROR(space_.CheckEngine());
  const absl::ReaderMutexLock gate(&write_gate_);
  return WriteInGate(options, batch, context);
}

absl::Status RocksDb::TryWrite(rocksdb::WriteBatch* batch, std::string_view context) {
  rocksdb::WriteOptions options;
  options.sync = true;
  options.no_slowdown = true;
  space_.Spend(batch->GetDataSize());
  if (!write_gate_.ReaderTryLock()) return UnavailableError(Cat(context, ": the engine resumes"));
  absl::Status written = WriteInGate(options, batch, context);
  write_gate_.ReaderUnlock();
  return written;
}

absl::Status RocksDb::WriteInGate(const rocksdb::WriteOptions& given, rocksdb::WriteBatch* batch,
                                  std::string_view context) {
  ARM_RETURN_IF_ERROR(space_.CheckEngine());
  rocksdb::WriteOptions options = given;
  options.ignore_missing_column_families = true;
  if (keeper_ != nullptr) batch->PutLogData(EncodeTimeMark(absl::ToUnixMillis(absl::Now())));
  if (!options.sync) return AfterWrite(WriteNoted(options, batch), context);
  batch->PutLogData(EncodeSyncMark({synced_log(), /*is_unsynced_acknowledged=*/false}));
  const LogFiles::SyncedWrite synced_write;
  return AfterWrite(WriteNoted(options, batch), context);
}

rocksdb::Status RocksDb::WriteNoted(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch) {
  const uint64_t write = dead_ranges_.BeginWrite();
  rocksdb::Status status;
  if (dead_ranges_.is_any_watched()) {
    PutNotes notes(&dead_ranges_, write);
    status = batch->Iterate(&notes);
  }
  if (status.ok()) status = db_->Write(options, batch);
  dead_ranges_.EndWrite(write);
  return status;
}

// RocksDB does not know that the log's disk is full; see LogFiles.
absl::Status RocksDb::AfterWrite(const rocksdb::Status& status, std::string_view context) {
  if (!status.ok() && log_files_.newest_is_closed()) {
    space_.SetFailed(log_files_.lacks_descriptors() ? Shortage::kDescriptors : Shortage::kSpace);
  }
  // The reason why writes are stopped says more than the failure of this write.
  if (!status.ok()) ARM_RETURN_IF_ERROR(space_.CheckEngine());
  return FromRocks(status, context);
}

absl::Status RocksDb::SyncLog() {
  const absl::ReaderMutexLock gate(&write_gate_);
  ARM_RETURN_IF_ERROR(space_.CheckEngine());
  return AfterWrite(db_->SyncWAL(), "sync the log");
}

void RocksDb::FlushIdle(int64_t now_ns) {
  if (now_ns < next_idle_scan_ns_) return;
  const int64_t idle_ns = options_.idle_flush_ms * 1'000'000;
  // A drop may wait for a backup, and the disk must be guarded meanwhile.
  if (!drop_mutex_.TryLock()) return;
  FlushIdleFamilies(now_ns, idle_ns);
  drop_mutex_.Unlock();
}

void RocksDb::FlushIdleFamilies(int64_t now_ns, int64_t idle_ns) {
  std::vector<rocksdb::ColumnFamilyHandle*> idle;
  std::map<uint32_t, MemtableFill> before;  // what is left of it belongs to families that were dropped
  before.swap(fill_);
  for (rocksdb::ColumnFamilyHandle* const handle : Handles()) {
    const auto known = before.extract(handle->GetID());
    if (!known.empty()) fill_.insert_or_assign(handle->GetID(), known.mapped());
    if (idle.size() == kIdleFlushesMax) continue;
    uint64_t entries = 0;
    // The default family keeps its mark.
    if (handle->GetID() == 0 ||
        !db_->GetIntProperty(handle, rocksdb::DB::Properties::kNumEntriesActiveMemTable, &entries)) {
      continue;
    }
    MemtableFill& fill = fill_[handle->GetID()];
    if (fill.entries != entries) fill = {entries, now_ns};
    if (entries > 0 && now_ns - fill.since_ns >= idle_ns) idle.push_back(handle);
  }
  if (idle.size() < kIdleFlushesMax) next_idle_scan_ns_ = now_ns + std::min(kIdleScanNs, idle_ns / 2);
  if (idle.empty()) return;
  const absl::ReaderMutexLock gate(&write_gate_);
  if (!space_.CheckClients().ok()) return;
  rocksdb::FlushOptions flush;
  // A flush that would stop writers is left for later.
  flush.allow_write_stall = false;
  if (const rocksdb::Status flushed = db_->Flush(flush, idle); !flushed.ok()) {
    LOG_EVERY_N(WARNING, 60) << "store: cannot flush idle families status=" << flushed.ToString();
  }
}

uint64_t RocksDb::memtable_bytes() {
  uint64_t bytes = 0;
  return db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes) ? bytes : 0;
}

void RocksDb::ChangeCacheBytes(uint64_t bytes) {
  if (cache_->GetCapacity() != bytes) cache_->SetCapacity(bytes);
}

FileStats RocksDb::file_stats() {
  using Properties = rocksdb::DB::Properties;
  // Properties of the whole database, read through any family.
  const auto shared = [&](const std::string& property) {
    uint64_t value = 0;
    return db_->GetIntProperty(property, &value) ? value : 0;
  };
  const auto sum = [&](const std::string& property) {
    uint64_t value = 0;
    return db_->GetAggregatedIntProperty(property, &value) ? value : 0;
  };
  const auto count = [&](rocksdb::Tickers ticker) { return statistics_->getTickerCount(ticker); };
  return {.cache_bytes = cache_->GetUsage(),
          .cache_max_bytes = cache_->GetCapacity(),
          .cache_pinned_bytes = cache_->GetPinnedUsage(),
          .cache_hits_total = count(rocksdb::BLOCK_CACHE_HIT),
          .cache_misses_total = count(rocksdb::BLOCK_CACHE_MISS),
          .filter_useful_total = count(rocksdb::BLOOM_FILTER_USEFUL),
          .memtable_bytes = sum(Properties::kSizeAllMemTables),
          .memtable_max_bytes = memtables_->buffer_size(),
          .table_reader_bytes = sum(Properties::kEstimateTableReadersMem),
          .file_bytes = sum(Properties::kLiveSstFilesSize),
          .log_bytes_total = count(rocksdb::WAL_FILE_BYTES),
          .log_syncs_total = count(rocksdb::WAL_FILE_SYNCED),
          .flush_bytes_total = count(rocksdb::FLUSH_WRITE_BYTES),
          .compaction_read_bytes_total = count(rocksdb::COMPACT_READ_BYTES),
          .compaction_written_bytes_total = count(rocksdb::COMPACT_WRITE_BYTES),
          .compaction_pending_bytes = sum(Properties::kEstimatePendingCompactionBytes),
          .flushes_running = shared(Properties::kNumRunningFlushes),
          .compactions_running = shared(Properties::kNumRunningCompactions),
          .stall_micros_total = count(rocksdb::STALL_MICROS),
          .write_stopped = shared(Properties::kIsWriteStopped),
          .delayed_write_bytes_per_second = shared(Properties::kActualDelayedWriteRate),
          .background_errors_total = sum(Properties::kBackgroundErrors)};
}

// Gives the memtables their configured size, after they were flushed.
rocksdb::Status RocksDb::ShrinkMemtables() {
  if (replayed_memtable_bytes_ == 0) return rocksdb::Status::OK();
  replayed_memtable_bytes_ = 0;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [name, family] : families_) {
    if (!family->is_made()) continue;
    const rocksdb::ColumnFamilyOptions wanted = MakeFamilyOptions(name);
    const rocksdb::Status changed = db_->SetOptions(
        family->handle(),
        {{"write_buffer_size", std::to_string(wanted.write_buffer_size)},
         {"memtable_prefix_bloom_size_ratio", std::to_string(wanted.memtable_prefix_bloom_size_ratio)}});
    if (!changed.ok()) {
      replayed_memtable_bytes_ = kReplayedMemtableBytes;
      return changed;
    }
  }
  SetMemtableBudget();
  return rocksdb::Status::OK();
}

}  // namespace armature::store
