#include "storage/store/keyspace_snapshot.h"

#include <utility>

#include "rocksdb/snapshot.h"
#include "storage/store/column_family.h"
#include "storage/store/range_reader.h"
#include "storage/store/rocks_db.h"

namespace armature::store {

struct KeyspaceSnapshot::Held {
  Held(RocksDb* db, const ColumnFamily& shown) : rocks(db), family(shown), snapshot(db->db()) {}

  RocksDb* const rocks;
  const ColumnFamily& family;
  rocksdb::ManagedSnapshot snapshot;
};

std::unique_ptr<KeyspaceSnapshot> KeyspaceSnapshot::Take(RocksDb* db, const ColumnFamily& family,
                                                         ChangeSequence sequence) {
  return std::unique_ptr<KeyspaceSnapshot>(new KeyspaceSnapshot(std::make_unique<Held>(db, family), sequence));
}

KeyspaceSnapshot::KeyspaceSnapshot(std::unique_ptr<Held> held, ChangeSequence sequence)
    : held_(std::move(held)), sequence_(sequence) {}

KeyspaceSnapshot::~KeyspaceSnapshot() = default;

absl::StatusOr<RangeEnd> KeyspaceSnapshot::ReadRange(
    const KeyRange& range, absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit) const {
  return ReadSnapshotRows(held_->rocks, held_->family, range, held_->snapshot.snapshot(), visit);
}

}  // namespace armature::store
