#ifndef ARMATURE_STORAGE_STORE_BACKUP_TABLE_BACKUP_NOTE_H_
#define ARMATURE_STORAGE_STORE_BACKUP_TABLE_BACKUP_NOTE_H_

// What the note of a backup says that was asked for by the API, as the backup of one table. docs/FORMAT.md, "Backup
// directory".

#include <cstdint>
#include <optional>
#include <string>

#include "storage/model/table_descriptor.h"

namespace armature::store {

struct TableBackupNote {
  std::string arn;
  std::string name;
  int64_t creation_time_ms = 0;  // since the epoch
  model::TableDescriptor table;  // as it was
  int64_t item_count = 0;
  int64_t size_bytes = 0;
};

// A line for people, and one for ParseTableBackupNote.
std::string EncodeTableBackupNote(const TableBackupNote& note);

// Nullopt for the note of a backup that stands for no table, or that this build cannot read.
std::optional<TableBackupNote> ParseTableBackupNote(const std::string& text);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_TABLE_BACKUP_NOTE_H_
