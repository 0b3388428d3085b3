#ifndef ARMATURE_STORAGE_STORE_COMMIT_INDEX_ROWS_H_
#define ARMATURE_STORAGE_STORE_COMMIT_INDEX_ROWS_H_

// Rows of global indexes that are written together with the rows of their table. Inside the store only.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "storage/store/commit/write_unit.h"

namespace armature::store {

class IndexBacklog;
class UnitBatch;

// Expands change records of one batch into the index rows that they name, where that is safe: then a record is neither
// logged nor read again, and the index has the change at the moment at which the table has it.
//
// The expansion is safe for a record whose indexes are built and have applied all records before it, because the rows
// of a later record must not be written before those of an earlier one. Other records are logged for the applier: while
// an index is built or has a backlog, and if the rows are many bytes, which would hold up the commits of the batch.
//
// Thread-safety: owned by one thread. Lifetime: the units outlive it, and it outlives the rows that it adds.
class IndexRows {
 public:
  // Bound for one record. A put of the largest item into 20 indexes writes 8 MB.
  static constexpr size_t kRecordBytesMax = size_t{64} << 10;
  // Bound for all records of a batch.
  static constexpr size_t kBatchBytesMax = size_t{4} << 20;

  // `is_enabled`: if not, all records are logged.
  explicit IndexRows(bool is_enabled) : is_enabled_(is_enabled) {}
  IndexRows(const IndexRows&) = delete;
  IndexRows& operator=(const IndexRows&) = delete;

  // Adds the index rows of the record of `unit`, and their changes of totals, to `batch`. Returns false, with nothing
  // added, if the record is to be logged. Called for the units of a batch in their order.
  bool Add(const WriteUnit& unit, UnitBatch* batch);

  // Number of changes of indexes.
  uint64_t added() const { return added_; }
  uint64_t logged() const { return logged_; }

 private:
  bool MayAdd(const WriteUnit& unit) const;
  bool AddRows(const WriteUnit& unit, UnitBatch* batch);

  const bool is_enabled_;
  size_t bytes_ = 0;
  uint64_t added_ = 0;
  uint64_t logged_ = 0;
  // Indexes of which a record of this batch is logged: their backlogs count it when it is written.
  absl::flat_hash_set<const IndexBacklog*> waiting_;
  std::deque<std::unique_ptr<const std::string>> joined_;  // bytes that rows point into
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_INDEX_ROWS_H_
