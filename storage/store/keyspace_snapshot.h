#ifndef ARMATURE_STORAGE_STORE_KEYSPACE_SNAPSHOT_H_
#define ARMATURE_STORAGE_STORE_KEYSPACE_SNAPSHOT_H_

// One keyspace at one moment, for reads that are longer than a call.

#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/store/database.h"

namespace armature::store {

class ColumnFamily;
class RocksDb;

// Made by Database::TakeSnapshot. Shows the rows as they were then, whatever is written meanwhile.
//
// While it lives, nothing of what it shows is thrown away: versions of rows that were overwritten or deleted since stay
// on disk, in all keyspaces. So whoever holds one bounds how long, and how many there are.
//
// Thread-safety: thread-safe. Lifetime: its database and what keeps the keyspace must outlive it.
class KeyspaceSnapshot {
 public:
  // For the store.
  static std::unique_ptr<KeyspaceSnapshot> Take(RocksDb* db, const ColumnFamily& family, ChangeSequence sequence);
  ~KeyspaceSnapshot();
  KeyspaceSnapshot(const KeyspaceSnapshot&) = delete;
  KeyspaceSnapshot& operator=(const KeyspaceSnapshot&) = delete;

  // As Database::ReadRange, forward and waiting for the disk. Rows that are not in memory do not take the place of
  // those that are: it is meant for whole tables.
  absl::StatusOr<RangeEnd> ReadRange(
      const KeyRange& range, absl::FunctionRef<RowVerdict(std::string_view key, std::string_view value)> visit) const;

  // All changes up to this one are in it. Later ones may be, too: those that were committed while it was taken.
  ChangeSequence sequence() const { return sequence_; }

 private:
  struct Held;
  KeyspaceSnapshot(std::unique_ptr<Held> held, ChangeSequence sequence);

  const std::unique_ptr<Held> held_;
  const ChangeSequence sequence_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_KEYSPACE_SNAPSHOT_H_
