#ifndef ARMATURE_STORAGE_STORE_DAMAGED_FAMILIES_H_
#define ARMATURE_STORAGE_STORE_DAMAGED_FAMILIES_H_

// Column families with a damaged table file: docs/reference/format.md, "Damaged families". Inside the store only, but
// for the facts.
//
// RocksDB ends all writes of the database when a compaction meets a damaged block. A damaged family is set apart
// instead: it is not compacted any more, and the others go on. A family whose damage is known from an earlier run is
// set apart, too.
//
//   damage := 0x01 found length file reason
//   found := varint                                milliseconds since 1970
//   length := varint                               of the file's name
//   file, reason := byte*

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
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
  std::string reason;    // in RocksDB's words
};

// Value of a record `damaged/` in `meta`. The key names the family.
std::string EncodeDamageRecord(const FamilyDamage& damage);
// False for another version or malformed bytes. Sets all members but the family.
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

  // `kYes`: the damage is on record already.
  enum class IsKept : uint8_t { kNo, kYes };
  // Adds a damage. False if one of the family is known.
  bool Add(FamilyDamage damage, IsKept is_kept = IsKept::kNo);
  void Remove(std::string_view family);
  // Removes a damage whose file is whole, unless another one of the family was added since. False if this was done for
  // the file before: then the damage stays.
  bool Withdraw(const FamilyDamage& damage);

  // The damages that are not on record yet. SetKept notes that one is; it leaves another damage of the family alone.
  std::vector<FamilyDamage> NotKept() const;
  void SetKept(const FamilyDamage& damage);

  // Calls `found` when a damage is added, on the thread that adds it. It must only take a note. Null removes it; it is
  // not running when the call returns.
  void SetListener(std::function<void()> found);

 private:
  struct Known {
    FamilyDamage damage;
    bool is_kept = false;
  };

  // Null if the family has no damage, or another one.
  Known* FindSame(const FamilyDamage& damage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> any_ = false;
  mutable absl::Mutex mutex_;
  std::map<std::string, Known, std::less<>> damages_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> withdrawn_ ABSL_GUARDED_BY(mutex_);  // names of files
  absl::Mutex listener_mutex_;
  std::function<void()> on_found_ ABSL_GUARDED_BY(listener_mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DAMAGED_FAMILIES_H_
