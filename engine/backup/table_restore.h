#ifndef ARMATURE_ENGINE_BACKUP_TABLE_RESTORE_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_RESTORE_H_

// Restores tables from backups, and from an archive.

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tables/table_description.h"
#include "storage/archive/table_past.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strong_type.h"
#include "storage/base/thread_pool.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/backup/backup_place.h"
#include "storage/store/backup/backup_reader.h"

namespace armature::engine {

struct Parts;

// Restores one table at a time. A table whose restore fails is deleted, and the reason is logged.
//
// Thread-safety: thread-safe. Lifetime: a member of `parts`, used until the destructor returns. The destructor stops
// the running restore; the next start deletes its table.
class TableRestores {
 public:
  struct Restore {
    store::BackupPlacePtr place{};                  // of the backup
    std::unique_ptr<store::BackupReader> backup{};  // open, so that the backup cannot be deleted
    std::unique_ptr<archive::TablePast> past{};     // in place of the two: a restore from an archive
    TableId source{};                               // in the backup or the archive
    TableId target{};                               // in this database, created by Catalog::Create in the restore
                                                    // state
  };

  explicit TableRestores(Parts* parts) : parts_(parts) {}
  ~TableRestores() { stopping_.Stop(); }
  TableRestores(const TableRestores&) = delete;
  TableRestores& operator=(const TableRestores&) = delete;

  // True if another restore may be started.
  bool HasRoom() const { return pool_.queue_length() < kWaitingMax; }
  // Starts a restore without waiting for it.
  void Start(Restore restore);

 private:
  static constexpr size_t kWaitingMax = 8;

  void Run(Restore restore);
  absl::Status Fill(const Restore& restore);
  absl::Status FillFromBackup(const Restore& restore);
  absl::Status FillFromPast(const Restore& restore);

  Parts* const parts_;
  StopSignal stopping_;
  ThreadPool pool_{"arm-restore", 1, 1};
};

// OK if a restore may make a table of this name. Errors: TableAlreadyExistsException; TableInUseException for a table
// that another restore is making.
absl::Status CheckRestoreTarget(const Parts& parts, std::string_view name);
// LimitExceededException.
absl::Status TooManyRestoresError();
// Creates the table and starts the restore of it. Errors: LimitExceededException while too many restores wait; as
// CheckRestoreTarget; those of Catalog::Create.
absl::StatusOr<TableDescription> StartRestore(Parts* parts, TableRestores::Restore restore,
                                              model::TableDescriptor target);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_RESTORE_H_
