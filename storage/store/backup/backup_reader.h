#ifndef ARMATURE_STORAGE_STORE_BACKUP_BACKUP_READER_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BACKUP_READER_H_

// Backups of single tables: their notes, and reading a backup without restoring it.
//
//   note := "table backup " name " of " table line message
//   message := TableBackupNote of records/backup.proto, in base64
//   line := "\n"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/rows.h"

namespace armature::store {

// An open backup. While it is open no process can delete it.
//
// Thread-safety: owned by one thread.
class BackupReader {
 public:
  // Opens a backup of `directory` in `volume`. Errors: those of BackupRepository::Open; NotFound; DataLoss, naming the
  // file.
  static absl::StatusOr<std::unique_ptr<BackupReader>> Open(Volume* volume, const std::string& directory, BackupId id);
  ~BackupReader();
  BackupReader(const BackupReader&) = delete;
  BackupReader& operator=(const BackupReader&) = delete;

  // Tables sorted by name, without those that were being created or deleted.
  const std::vector<model::TableDescriptor>& tables() const;

  // Calls `visit(key, value)` for all rows of the table's own keyspace in key order, until the visitor returns kStop.
  // Values are as stored. Errors: NotFound; DataLoss.
  absl::Status ReadTable(TableId table, RowVisitor visit);
  // ReadTable for any table, also one that was being created; one that the backup does not have is empty. Errors:
  // DataLoss.
  absl::Status ReadRowsOf(TableId table, RowVisitor visit);

 private:
  struct Impl;
  explicit BackupReader(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

// The note of a backup that was created through the API as a backup of one table. docs/reference/format.md, "Backup
// directory".
struct TableBackupNote {
  std::string arn;
  std::string name;
  int64_t creation_time_ms = 0;  // since the epoch
  model::TableDescriptor table;  // descriptor at the time of the backup
  int64_t item_count = 0;
  int64_t size_bytes = 0;
};

// The note's text: one line for people, and one line for ParseTableBackupNote.
std::string EncodeTableBackupNote(const TableBackupNote& note);

// Nullopt if the note belongs to a backup without a table, or is of an unknown version.
std::optional<TableBackupNote> ParseTableBackupNote(const std::string& text);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BACKUP_READER_H_
