#ifndef ARMATURE_STORAGE_STORE_CATALOG_KEY_TRAFFIC_H_
#define ARMATURE_STORAGE_STORE_CATALOG_KEY_TRAFFIC_H_

// Counts of the keys of a table or a global index that are used most, in the last hour: contributor insights.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/top_keys.h"

namespace armature::store {

enum class KeyUse : uint8_t { kRead, kWrite, kThrottled };
inline constexpr size_t kKeyUses = 3;

// Counts in memory; a restart begins anew. Each minute has counters of its own. When a minute is ten minutes old, its
// counters are merged into those of its ten minutes, which are kept for an hour.
//
// Count never waits: while another thread counts or reads, it only adds to what was missed. Threads miss each other at
// random, not by key, so the order of keys stays right.
//
// Memory: at most 17 periods of six TopKeys, 5 MB; with keys of 30 bytes below 2 MB. Nothing before the first key.
// Times are nanoseconds of a monotonic clock; an earlier time counts as the latest one.
// Thread-safety: thread-safe.
class KeyTraffic {
 public:
  static constexpr int kMinutesMax = 60;

  // Adds `units` to an encoded partition key, and to `whole`, the key with its sort components, unless it is empty.
  // Capacity units are counted in halves.
  void Count(KeyUse use, std::string_view partition, std::string_view whole, double units, int64_t now_ns);

  struct Report {
    TopKeys keys;         // sums in halves of units
    uint64_t missed = 0;  // also in halves
    int64_t seconds = 0;  // time that is covered, up to now; at most the time since the first count
  };
  // The counts of the last `minutes`, 1 to kMinutesMax: beyond ten minutes, up to nine minutes more. `whole`: of whole
  // keys instead of partition keys.
  Report Read(KeyUse use, bool whole, int minutes, int64_t now_ns) const;

  static double UnitsOf(uint64_t halves) { return static_cast<double>(halves) / 2; }

 private:
  static constexpr int64_t kMinuteNs = 60'000'000'000;
  static constexpr int64_t kMinutesApart = 10;  // number of minutes that are kept apart
  static constexpr int64_t kTensKept = 7;       // enough for the tens that an hour touches

  struct Counts {
    std::array<TopKeys, 2> keys;  // partition keys, whole keys
    uint64_t missed = 0;
  };
  struct Period {
    int64_t number = -1;  // minutes, or tens of minutes, on the clock; -1: empty
    std::array<Counts, kKeyUses> uses;
    void Merge(const Period& other);
  };

  void BeginMinute(int64_t minute) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::array<std::atomic<uint64_t>, kKeyUses> missed_ = {};  // since the last count
  mutable absl::Mutex mutex_;
  int64_t begin_ns_ ABSL_GUARDED_BY(mutex_) = -1;  // of the first count; -1: nothing was counted
  int64_t minute_ ABSL_GUARDED_BY(mutex_) = -1;
  std::array<Period, kMinutesApart> minutes_ ABSL_GUARDED_BY(mutex_);
  std::array<Period, kTensKept> tens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_KEY_TRAFFIC_H_
