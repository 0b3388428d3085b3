#ifndef ARMATURE_ENGINE_BACKUP_TABLE_RESTORE_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_RESTORE_H_

// Fills tables from backups.

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "storage/base/strong_type.h"
#include "storage/base/thread_pool.h"
#include "storage/store/backup/backup_reader.h"

namespace armature::engine {

struct Parts;

// One table at a time. A table whose restore fails is deleted; the log says why.
//
// Thread-safety: thread-safe. Lifetime: `parts` outlives it but for this; the destructor ends what is under way, which
// the next start deletes.
class TableRestores {
 public:
  struct Restore {
    std::unique_ptr<store::BackupReader> backup;  // keeps it from being deleted
    TableId source;                               // in the backup
    TableId target;                               // of this database, made by Database::CreateTable as being restored
  };

  explicit TableRestores(Parts* parts) : parts_(parts) {}
  ~TableRestores() { stopping_.Notify(); }
  TableRestores(const TableRestores&) = delete;
  TableRestores& operator=(const TableRestores&) = delete;

  // Whether there is room for another one.
  bool HasRoom() const { return pool_.queue_length() < kWaitingMax; }
  // Does not wait.
  void Start(Restore restore);

 private:
  static constexpr size_t kWaitingMax = 8;

  void Run(Restore restore);
  absl::Status Fill(const Restore& restore);

  Parts* const parts_;
  absl::Notification stopping_;
  ThreadPool pool_{"arm-restore", 1, 1};
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_RESTORE_H_
