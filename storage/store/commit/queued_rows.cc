#include "storage/store/commit/queued_rows.h"

#include <utility>

namespace armature::store {

std::shared_ptr<const QueuedRow> QueuedRows::Find(TableId table, std::string_view key) const {
  // The lock of the row orders this after the Add of its last holder. Acquire: a row that Settle removed is in the
  // store.
  if (size_.load(std::memory_order_acquire) == 0) return nullptr;
  const Name name(table, key);
  const Shard& shard = shards_[ShardOf(name)];
  const absl::MutexLock lock(&shard.mutex);
  const auto found = shard.rows.find(name);
  return found == shard.rows.end() ? nullptr : found->second;
}

void QueuedRows::Add(std::shared_ptr<QueuedRow> row, CommitEpoch epoch) {
  const Name name(row->table_, row->key_);
  Shard& shard = shards_[ShardOf(name)];
  std::shared_ptr<QueuedRow> before;  // freed behind the lock
  const absl::MutexLock lock(&shard.mutex);
  if (row->is_settled_) return;
  row->epoch_ = epoch;
  row->is_counted_ = true;
  bytes_.fetch_add(row->byte_size(), std::memory_order_relaxed);
  if (const auto found = shard.rows.find(name); found != shard.rows.end()) {
    // The name refers to the key of the value.
    before = std::move(found->second);
    shard.rows.erase(found);
  } else {
    size_.fetch_add(1, std::memory_order_relaxed);
  }
  shard.rows.emplace(name, std::move(row));
}

void QueuedRows::Settle(QueuedRow* row) {
  const Name name(row->table_, row->key_);
  Shard& shard = shards_[ShardOf(name)];
  std::shared_ptr<QueuedRow> before;
  const absl::MutexLock lock(&shard.mutex);
  row->is_settled_ = true;
  if (row->is_counted_) bytes_.fetch_sub(row->byte_size(), std::memory_order_relaxed);
  const auto found = shard.rows.find(name);
  // A later write of the row may have taken the place.
  if (found == shard.rows.end() || found->second.get() != row) return;
  before = std::move(found->second);
  shard.rows.erase(found);
  size_.fetch_sub(1, std::memory_order_release);
}

}  // namespace armature::store
