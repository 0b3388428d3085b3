#ifndef ARMATURE_STORAGE_STORE_BACKUP_BATCH_REPLAY_H_
#define ARMATURE_STORAGE_STORE_BACKUP_BATCH_REPLAY_H_

// Batches of an archived write-ahead log, written to the database of a directory that is being restored.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"
#include "storage/store/wal/log_batch.h"

namespace armature::store {

// Thread-safety: owned by one thread. The database is closed, and durable, when Finish has returned.
class BatchReplay {
 public:
  // Opens the database `db_path`, as a backup left it. Errors: those of Database::Open.
  static absl::StatusOr<std::unique_ptr<BatchReplay>> Open(Volume* volume, const std::string& db_path);
  ~BatchReplay();
  BatchReplay(const BatchReplay&) = delete;
  BatchReplay& operator=(const BatchReplay&) = delete;

  // Sequence of the last write that the backup has. Batches up to it are in the database.
  uint64_t sequence() const;
  // Writes a batch, of a later sequence than all before it. Makes the families that it is the first to name. Errors:
  // DataLoss if `batch` is none, or names a family that is not in `families`; ResourceExhausted; Unavailable.
  absl::Status Apply(std::string_view batch, const FamilyNamesById& families);
  // Errors: ResourceExhausted; Unavailable.
  absl::Status Finish();

 private:
  struct Impl;
  explicit BatchReplay(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKUP_BATCH_REPLAY_H_
