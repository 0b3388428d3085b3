#ifndef ARMATURE_STORAGE_STORE_DAMAGED_FAMILIES_H_
#define ARMATURE_STORAGE_STORE_DAMAGED_FAMILIES_H_

// Column families with a damaged table file: docs/FORMAT.md, "Damaged families". Inside the store only, but for the
// facts.
//
// RocksDB ends all writes of the database when a compaction meets a damaged block. A damaged family is set apart
// instead: it is not compacted any more, and the others go on. So is one whose damage is known from an earlier run.

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace armature::store {

// A damaged table file of a family.
struct FamilyDamage {
  std::string family;
  std::string file;      // name below the directory of the database; empty: not known
  int64_t found_ms = 0;  // since the epoch
  std::string reason;    // as RocksDB tells it
};

// Value of a record `damaged/` in `meta`. The key names the family.
std::string EncodeDamageRecord(const FamilyDamage& damage);
// False for another version or malformed bytes. Leaves the family alone.
bool ParseDamageRecord(std::string_view value, FamilyDamage* damage);

// The damage in the words of an error: file and reason.
std::string DamageText(const FamilyDamage& damage);

// Thread-safety: thread-safe. Cost: any() is an atomic load.
class DamagedFamilies {
 public:
  // False until the first damage is added.
  bool any() const { return any_.load(std::memory_order_acquire); }
  // Nullopt: the family is whole, as far as is known.
  std::optional<FamilyDamage> Find(std::string_view family) const;
  std::vector<FamilyDamage> All() const;  // by family

  // Adds a damage. False if one of the family is known.
  bool Add(FamilyDamage damage);
  void Remove(std::string_view family);

  // The damages that were added since the last call.
  std::vector<FamilyDamage> TakeNew();

 private:
  std::atomic<bool> any_ = false;
  mutable absl::Mutex mutex_;
  std::map<std::string, FamilyDamage, std::less<>> damages_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> new_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DAMAGED_FAMILIES_H_
