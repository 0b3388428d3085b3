#ifndef ARMATURE_STORAGE_STORE_KEYSPACE_SNAPSHOT_H_
#define ARMATURE_STORAGE_STORE_KEYSPACE_SNAPSHOT_H_

// A long-lived snapshot of one keyspace.

#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/store/database.h"

namespace armature::store {

class ColumnFamily;
class RocksDb;

// Made by Database::TakeSnapshot. Shows the rows of one point in time, regardless of later writes.
//
// While a snapshot lives, rows that were overwritten or deleted after it stay on disk, in all keyspaces. The holder
// must bound its lifetime and the number of snapshots.
//
// Thread-safety: thread-safe. Lifetime: the database and the owner of the keyspace must outlive it.
class KeyspaceSnapshot {
 public:
  // Called by the store only.
  static std::unique_ptr<KeyspaceSnapshot> Take(RocksDb* db, const ColumnFamily& family, ChangeSequence sequence);
  ~KeyspaceSnapshot();
  KeyspaceSnapshot(const KeyspaceSnapshot&) = delete;
  KeyspaceSnapshot& operator=(const KeyspaceSnapshot&) = delete;

  // Like Database::ReadRange, forward, and blocking. Blocks read from disk do not enter the block cache, because
  // snapshots are read as a whole.
  absl::StatusOr<RangeEnd> ReadRange(
      const KeyRange& range, absl::FunctionRef<RowVerdict(std::string_view key, std::string_view value)> visit) const;

  // The snapshot contains all changes up to this one. Changes committed while it was taken may be contained, too.
  ChangeSequence sequence() const { return sequence_; }

 private:
  struct Held;
  KeyspaceSnapshot(std::unique_ptr<Held> held, ChangeSequence sequence);

  const std::unique_ptr<Held> held_;
  const ChangeSequence sequence_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_KEYSPACE_SNAPSHOT_H_
