#include "storage/store/database.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/ddl_worker.h"
#include "storage/store/commit/family_maker.h"
#include "storage/store/damage_keeper.h"
#include "storage/store/data_directory.h"
#include "storage/store/files/volume.h"
#include "storage/store/log/backlog_count.h"
#include "storage/store/log/sequence_epoch.h"
#include "storage/store/rocks_db.h"
#include "storage/store/stream/stream_keeper.h"
#include "storage/store/wal/committed_log.h"
#include "storage/store/wal/log_keeper.h"

namespace armature::store {

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

// Null without an archive.
absl::StatusOr<std::unique_ptr<LogKeeper>> OpenLogKeeper(const DataDirectory& directory,
                                                         const DatabaseOptions& options) {
  if (!options.archived_log.is_on) return nullptr;
  ARM_ASSIGN_OR_RETURN(
      std::unique_ptr<LogKeeper> keeper,
      LogKeeper::Open(options.volume, directory.path(), options.archived_log.wait_bytes_max, options.disk_reserve));
  if (directory.needs_epoch()) {
    keeper->Lose(directory.is_new() ? "the database is new"
                                    : "the data directory was restored or copied, or lost writes");
  }
  return keeper;
}

}  // namespace

Database::Database() = default;
Database::~Database() = default;

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const DatabaseOptions& options) {
  auto database = std::unique_ptr<Database>(new Database());
  ARM_ASSIGN_OR_RETURN(database->directory_, DataDirectory::Open(options.volume, options.path));
  DataDirectory* const directory = database->directory_.get();
  ARM_RETURN_IF_ERROR(directory->CheckLogs());
  const std::string db_path = directory->db_path();
  if (directory->is_new()) {
    // An interrupted creation may leave a database that cannot be opened. It holds no data.
    const std::string failed = Cat("cannot make ", db_path, " anew");
    if (const absl::Status removed = options.volume->RemoveTree(db_path); !removed.ok()) {
      return WithContext(removed, failed);
    }
    if (const absl::Status made = options.volume->MakeDirectories(db_path); !made.ok()) {
      return WithContext(made, failed);
    }
  }
  ARM_ASSIGN_OR_RETURN(database->log_keeper_, OpenLogKeeper(*directory, options));
  ARM_ASSIGN_OR_RETURN(
      database->rocks_db_,
      RocksDb::Open(db_path, options, directory->is_new() ? RocksDb::IfMissing::kCreate : RocksDb::IfMissing::kFail,
                    RocksDb::IfDamaged::kRefuse, database->log_keeper_.get()));
  RocksDb* const rocks = database->rocks_db_.get();
  // Before the first write, which may wait for a family whose damage is not known yet.
  database->damage_keeper_ = std::make_unique<DamageKeeper>(rocks);
  ARM_RETURN_IF_ERROR(directory->FinishCreation());
  // Before the format is raised: a directory of an older format lacks the file, one of this format must not.
  if (!directory->needs_epoch()) {
    ARM_RETURN_IF_ERROR(MarkPlace(directory));
    // At once: a kill in between ends the chain of the archive.
    if (database->log_keeper_ != nullptr) database->log_keeper_->NotePlace();
  }
  ARM_RETURN_IF_ERROR(directory->RaiseFormat());
  ARM_RETURN_IF_ERROR(directory->NoteLogs());
  ARM_ASSIGN_OR_RETURN(database->tickets_, OpenSequences(rocks, directory, options));
  SequenceTickets* const tickets = database->tickets_.get();
  ARM_ASSIGN_OR_RETURN(database->streams_, StreamLog::Open(rocks, tickets, options.streams.shards));
  StreamLog* const streams = database->streams_.get();
  database->expiry_ = std::make_unique<ExpiryIndex>(rocks);
  database->transfers_ = std::make_unique<TransferRecords>(rocks);
  ARM_ASSIGN_OR_RETURN(database->catalog_, Catalog::Open(rocks, &database->timers_, streams));
  Catalog* const catalog = database->catalog_.get();
  database->damages_ = std::make_unique<DamagedTables>(rocks->damages(), catalog);
  database->log_ = std::make_unique<ChangeLog>(rocks, tickets);
  ChangeLog* const log = database->log_.get();
  database->rows_ = std::make_unique<Rows>(rocks, log, database->damages_.get(), options.no_wait_read_bytes_max);
  database->tokens_ = std::make_unique<Tokens>(rocks, database->rows_.get());
  database->ddl_ = std::make_unique<DdlWorker>(catalog, rocks);
  ARM_RETURN_IF_ERROR(database->ddl_->RemoveOrphans());
  database->ddl_->RunOnce();
  database->backlog_count_ = std::make_unique<BacklogCount>(log, catalog);
  database->committer_ = std::make_unique<Committer>(options, rocks, tickets, log, streams);
  database->families_ = std::make_unique<FamilyMaker>(options, rocks, database->committer_.get());
  database->commits_ =
      std::make_unique<Commits>(database->damages_.get(), database->families_.get(), database->committer_.get());
  database->stream_keeper_ = std::make_unique<StreamKeeper>(streams, options.streams);
  database->guard_ = std::make_unique<DiskGuard>(rocks, rocks->space());
  if (options.archived_log.is_on) {
    database->committed_log_ = std::make_unique<CommittedLog>(rocks, database->log_keeper_.get(), db_path,
                                                              options.durability == Durability::kSync);
  }
  LOG(INFO) << "store: opened path=" << options.path << " database=" << directory->database_id()
            << " families=" << rocks->family_count() << " sequence=" << tickets->last_taken().value()
            << " cache_mb=" << (options.cache_bytes >> 20) << " memtables_mb=" << (options.memtables_bytes_max >> 20)
            << " background_threads=" << options.background_threads;
  catalog->AbandonRestores();
  return database;
}

void Database::SetCatalogListener(const void* owner, std::function<void()> listener) {
  ddl_->SetListener(owner, std::move(listener));
}

const std::string& Database::database_id() const { return directory_->database_id(); }
int Database::format_version() const { return directory_->format_version(); }

DatabaseStats Database::stats() const {
  return {.committer = committer_->counters(),
          .disk = rocks_db_->space()->report(),
          .files = rocks_db_->file_stats(),
          .column_families = rocks_db_->family_count(),
          .column_families_needed = catalog()->families_needed(),
          .column_families_max = rocks_db_->table_families_max(),
          .change_sequence = tickets_->last_taken().value()};
}

void Database::ChangeDiskReserve(DiskReserve reserve) {
  if (log_keeper_ != nullptr) log_keeper_->ChangeReserve(reserve);
  rocks_db_->space()->ChangeReserve(reserve);
}

void Database::ChangeCacheBytes(uint64_t bytes) { rocks_db_->ChangeCacheBytes(bytes); }

DiskReport Database::disk_report() const { return rocks_db_->space()->report(); }

}  // namespace armature::store
