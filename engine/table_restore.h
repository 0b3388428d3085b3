#ifndef ARMATURE_ENGINE_TABLE_RESTORE_H_
#define ARMATURE_ENGINE_TABLE_RESTORE_H_

// Fills tables from backups.

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "storage/base/strong_type.h"
#include "storage/base/thread_pool.h"
#include "storage/store/backup_repository.h"

namespace armature::engine {

struct Parts;

// One table at a time. A table whose restore fails is deleted; the log says why.
//
// Thread-safety: thread-safe. Lifetime: `parts` outlives it but for this; the destructor ends what is under way, which
// the next start deletes.
class TableRestores {
 public:
  struct Restore {
    std::string directory;
    store::BackupId backup = 0;
    TableId source;  // in the backup
    TableId target;  // of this database, made by Database::CreateTable as being restored
  };

  explicit TableRestores(Parts* parts) : parts_(parts) {}
  ~TableRestores() { is_stopping_ = true; }
  TableRestores(const TableRestores&) = delete;
  TableRestores& operator=(const TableRestores&) = delete;

  // Does not wait.
  void Start(const Restore& restore);

 private:
  void Run(const Restore& restore);
  absl::Status Fill(const Restore& restore);

  Parts* const parts_;
  std::atomic<bool> is_stopping_ = false;
  ThreadPool pool_{"arm-restore", 1, 1};
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLE_RESTORE_H_
