// Restore of a backup into a data directory.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "glog/logging.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_env.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/backup/backup_repository_impl.h"
#include "storage/store/data_directory.h"
#include "storage/store/files/volume.h"
#include "storage/store/restored_directory.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// Lets RocksDB copy the files to `db_path` in `volume`. Afterwards the files and their names are durable.
absl::Status CopyBack(const rocksdb::BackupEngineOptions& options, uint32_t engine_id, Volume* volume,
                      const std::string& db_path, BackupWork* work) {
  BackupAttempt attempt(volume, db_path, {}, work, nullptr);
  const std::unique_ptr<rocksdb::Env> env = MakeBackupEnv(&attempt);
  rocksdb::BackupEngineReadOnly* raw = nullptr;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::BackupEngineReadOnly::Open(options, env.get(), &raw),
                                Cat("open backup directory ", options.backup_dir)));
  const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(raw);
  const rocksdb::Status copied = engine->RestoreDBFromBackup(rocksdb::RestoreOptions(), engine_id, db_path, db_path);
  return FromRocks(copied, Cat("restore from ", options.backup_dir));
}

}  // namespace

absl::Status BackupRepository::Impl::CheckDataFormat(const BackupEntry& entry) const {
  if (entry.format_version <= kFormatVersion) return absl::OkStatus();
  return FailedPreconditionError(Cat("backup ", entry.id, " in ", files.path(), " has data format ",
                                     entry.format_version, "; this build reads formats up to ", kFormatVersion,
                                     ": use a newer armatured"));
}

absl::Status BackupRepository::Restore(BackupId id, Volume* volume, const std::string& data_dir,
                                       const BackupObserver& observer,
                                       const std::function<absl::Status(const std::string& db_path)>& before_finish) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeLock> held, impl_->files.Hold(id));
  ARM_ASSIGN_OR_RETURN(const KnownBackup known, impl_->files.Read(id));
  ARM_RETURN_IF_ERROR(known.state);
  ARM_RETURN_IF_ERROR(impl_->CheckDataFormat(known.entry));
  ARM_RETURN_IF_ERROR(RestoredDirectory::CheckFree(volume, data_dir));
  BackupWork work(observer, impl_->limiter.get());
  // All files are read by the verification, then read and written by the copy.
  work.Expect(2 * known.entry.size_bytes);
  ARM_RETURN_IF_ERROR(impl_->CheckContents(*known.manifest, &work));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<RestoredDirectory> directory, RestoredDirectory::Begin(volume, data_dir));
  const absl::Status copied = CopyBack(impl_->EngineOptions(impl_->volume().env()), known.manifest->engine_id, volume,
                                       directory->db_path(), &work);
  if (work.cancelled()) return absl::CancelledError("the restore was cancelled");
  ARM_RETURN_IF_ERROR(copied);
  ARM_FAULT_POINT("restore.copied");
  if (before_finish != nullptr) ARM_RETURN_IF_ERROR(before_finish(directory->db_path()));
  ARM_RETURN_IF_ERROR(directory->Finish(DataFormatText(known.entry.format_version, known.entry.database_id)));
  LOG(INFO) << "store: backup restored path=" << path() << " backup=" << id << " to=" << data_dir
            << " bytes=" << known.entry.size_bytes;
  return absl::OkStatus();
}

}  // namespace armature::store
