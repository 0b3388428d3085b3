#ifndef ARMATURE_STORAGE_STORE_BACKUP_TABLE_BACKUP_NOTE_H_
#define ARMATURE_STORAGE_STORE_BACKUP_TABLE_BACKUP_NOTE_H_

// The note of a backup that was created through the API as a backup of one table. docs/FORMAT.md, "Backup directory".

#include <cstdint>
#include <optional>
#include <string>

#include "storage/model/table_descriptor.h"

namespace armature::store {

struct TableBackupNote {
  std::string arn;
  std::string name;
  int64_t creation_time_ms = 0;  // since the epoch
  model::TableDescriptor table;  // descriptor at the time of the backup
  int64_t item_count = 0;
  int64_t size_bytes = 0;
};

// One line for people, and one line for ParseTableBackupNote.
std::string EncodeTableBackupNote(const TableBackupNote& note);

// Nullopt if the note belongs to a backup without a table, or is of an unknown version.
std::optional<TableBackupNote> ParseTableBackupNote(const std::string& text);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_TABLE_BACKUP_NOTE_H_
