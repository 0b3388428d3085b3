#ifndef ARMATURE_STORAGE_STORE_KEYSPACE_STATS_H_
#define ARMATURE_STORAGE_STORE_KEYSPACE_STATS_H_

// Exact totals of a keyspace, persisted in the same batch as the rows they count.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace armature::store {

// Change to the totals of a keyspace by one write.
struct StatsDelta {
  int64_t items = 0;
  int64_t bytes = 0;  // item sizes as the API counts them, without the storage overhead
};

// Thread-safety: any thread may read. Add is called only by the thread that writes this keyspace (the committer for
// tables and local indexes, the index applier for global ones), before its batch is written.
class KeyspaceStats {
 public:
  KeyspaceStats(std::string family_name, StatsDelta totals)
      : family_name_(std::move(family_name)), items_(totals.items), bytes_(totals.bytes) {}

  const std::string& family_name() const { return family_name_; }
  int64_t items() const { return items_.load(std::memory_order_relaxed); }
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  void Add(StatsDelta delta) {
    items_.fetch_add(delta.items, std::memory_order_relaxed);
    bytes_.fetch_add(delta.bytes, std::memory_order_relaxed);
  }

 private:
  const std::string family_name_;
  std::atomic<int64_t> items_;
  std::atomic<int64_t> bytes_;
};

std::string EncodeStats(StatsDelta totals);
// Errors: DataLoss for another version or malformed bytes.
absl::StatusOr<StatsDelta> ParseStats(std::string_view value);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_KEYSPACE_STATS_H_
