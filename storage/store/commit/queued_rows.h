#ifndef ARMATURE_STORAGE_STORE_COMMIT_QUEUED_ROWS_H_
#define ARMATURE_STORAGE_STORE_COMMIT_QUEUED_ROWS_H_

// Rows whose last write is queued and not yet durable, for requests that hold the row's lock.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"
#include "storage/store/commit/committer.h"

namespace armature::store {

// A queued write of one row.
class QueuedRow {
 public:
  // `value`: the row as stored, nullopt if the write deletes it.
  QueuedRow(TableId table, std::string key, std::optional<std::string> value)
      : table_(table), key_(std::move(key)), value_(std::move(value)) {}

  const std::optional<std::string>& value() const { return value_; }
  // The epoch in which the write was queued. Whoever decides on the value passes it to the committer.
  CommitEpoch epoch() const { return epoch_; }
  // Memory held, for CommitTerms.
  size_t byte_size() const { return sizeof(QueuedRow) + key_.size() + (value_.has_value() ? value_->size() : 0); }

 private:
  friend class QueuedRows;

  const TableId table_;
  const std::string key_;
  const std::optional<std::string> value_;
  CommitEpoch epoch_;  // written by Add, before others can see the row
  // Guarded by the shard's mutex.
  bool is_counted_ = false;
  bool is_settled_ = false;
};

// An overlay in front of the store. A writer may release the lock of its row when its write is queued, if it adds the
// row to the overlay; the next holder of the lock decides on the value in the overlay. All others read the store, where
// a write appears only when it is durable.
//
// The steps of a writer that holds the lock: commit; Add, with the epoch of the commit; release the lock. In the
// commit's callback: Settle. So a row is in the overlay from the release of its lock until its write is durable or has
// failed. A value of a failed write may stay for a moment: a commit that was decided on it is refused by its epoch.
//
// Bounds: is_full tells writers to keep their locks until their writes are durable, so that the values of one row with
// large items do not fill the commit queue, which would throttle the writers of all rows. Beyond the limit there is at
// most one write of each thread that saw it free, and the limits of the commit queue hold (CommitTerms::held_bytes).
//
// Thread-safety: thread-safe. Cost: Find is one atomic load while the overlay is empty.
class QueuedRows {
 public:
  // `bytes_max`: limit on the bytes of values whose writes are queued, also if a later value took their place.
  explicit QueuedRows(size_t bytes_max = SIZE_MAX) : bytes_max_(bytes_max) {}

  // The last value of the row. The caller holds the row's lock.
  std::shared_ptr<const QueuedRow> Find(TableId table, std::string_view key) const;

  // Adds a row that was queued in `epoch`, in place of an earlier value. Does nothing if the commit was answered
  // already. The caller holds the row's lock.
  void Add(std::shared_ptr<QueuedRow> row, CommitEpoch epoch);

  // The commit was answered: the store has the row, or the write has failed.
  void Settle(QueuedRow* row);

  // Number of rows.
  size_t size() const { return size_.load(std::memory_order_relaxed); }
  // True if no more locks should be released early.
  bool is_full() const { return bytes_.load(std::memory_order_relaxed) >= bytes_max_; }

 private:
  using Name = std::pair<TableId, std::string_view>;  // the key is that of the value
  static constexpr size_t kShards = 64;
  struct alignas(64) Shard {
    mutable absl::Mutex mutex;
    absl::flat_hash_map<Name, std::shared_ptr<QueuedRow>> rows ABSL_GUARDED_BY(mutex);
  };

  static size_t ShardOf(const Name& name) { return absl::Hash<Name>{}(name) % kShards; }

  const size_t bytes_max_;
  std::atomic<size_t> size_ = 0;
  std::atomic<size_t> bytes_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_QUEUED_ROWS_H_
