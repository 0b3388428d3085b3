#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_READER_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_READER_H_

// Reads a backup without restoring it. Used to restore single tables.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/database.h"

namespace armature::store {

// An open backup. While it is open no process can delete it.
//
// Thread-safety: owned by one thread.
class BackupReader {
 public:
  // Errors: those of BackupRepository::Open; NotFound; DataLoss, naming the file.
  static absl::StatusOr<std::unique_ptr<BackupReader>> Open(const std::string& directory, BackupId id);
  ~BackupReader();
  BackupReader(const BackupReader&) = delete;
  BackupReader& operator=(const BackupReader&) = delete;

  // Tables sorted by name, without those that were being created or deleted.
  const std::vector<model::TableDescriptor>& tables() const;

  // Calls `visit(key, value)` for all rows of the table's own keyspace in key order, until the visitor returns kStop.
  // Values are as stored. The views are valid during the visit. Errors: NotFound; DataLoss.
  absl::Status ReadTable(TableId table,
                         absl::FunctionRef<RowVerdict(std::string_view key, std::string_view value)> visit);

 private:
  struct Impl;
  explicit BackupReader(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_READER_H_
