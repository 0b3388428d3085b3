#ifndef ARMATURE_STORAGE_STORE_KEYSPACE_H_
#define ARMATURE_STORAGE_STORE_KEYSPACE_H_

// The address of the rows of a table or an index, and their totals.
//
//   totals := 0x01 items bytes
//   items, bytes := varint

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"

namespace armature::store {

// Change to the totals of a keyspace by one write.
struct StatsDelta {
  int64_t items = 0;
  int64_t bytes = 0;  // item sizes as the API counts them, without the storage overhead
};

// Thread-safety: any thread may read. Add is called only by the thread that writes this keyspace (the committer for
// tables and local indexes; for global ones the committer and the index applier, never both at one time), before its
// batch is written.
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

// Defined inside the store only.
class ColumnFamily;

// Identifies the rows of one table or index in every operation of the store. Today each keyspace has its own column
// family. Code above the store must not rely on that: many small tables may share a family later.
//
// Lifetime: valid while the Table or CatalogSnapshot it came from, or the lease of its table or index, is held.
struct Keyspace {
  ColumnFamily* family = nullptr;
  // Totals of this keyspace, updated exactly with every commit. Null if none are kept.
  KeyspaceStats* stats = nullptr;
};

// Name for error messages, unique within a database.
std::string NameOf(const Keyspace& keyspace);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_KEYSPACE_H_
