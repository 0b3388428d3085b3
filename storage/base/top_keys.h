#ifndef ARMATURE_STORAGE_BASE_TOP_KEYS_H_
#define ARMATURE_STORAGE_BASE_TOP_KEYS_H_

// The keys with the largest sums of weights among many, in bounded memory.
//
// Source: A. Metwally, D. Agrawal, A. El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data
// Streams", 2005 (SpaceSaving); the merge: M. Cafaro, M. Pulimeno, P. Tempesta, "A parallel space saving algorithm for
// frequent items", 2016.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace armature {

// Guarantees, with a total weight N and k = kCountersMax:
// - A key whose true sum is above N / k has a counter. A key without counter has a true sum of at most missing_max(),
//   which is at most N / k.
// - The true sum of a counter's key is between `sum - error` and `sum`; `error` is at most N / k. The bounds also hold
//   after Merge, for the total weight of both sides.
//
// Keys are told apart by a hash of 64 bits, which differs between processes. A key beyond kKeyBytesMax is counted
// exactly like others, but only its front is kept.
//
// Memory: at most k * (kKeyBytesMax + 120) bytes, about 48 KiB; nothing before the first key. Cost of Add: constant on
// average, without allocation once the counters are in use, except for longer keys. Thread-safety: none.
class TopKeys {
 public:
  static constexpr size_t kCountersMax = 128;
  static constexpr size_t kKeyBytesMax = 256;

  struct Counter {
    uint64_t hash = 0;
    uint64_t sum = 0;
    uint64_t error = 0;
    std::string key;
    bool cut = false;  // `key` is the front of a longer key
  };

  static uint64_t HashOf(std::string_view key);

  // Adds `weight`, above 0, to the key. `hash`: HashOf(key).
  void Add(std::string_view key, uint64_t hash, uint64_t weight);
  void Add(std::string_view key, uint64_t weight) { Add(key, HashOf(key), weight); }
  // Adds all that `other` has counted.
  void Merge(const TopKeys& other);
  // Forgets everything, and frees the memory.
  void Clear() { *this = TopKeys(); }

  uint64_t total() const { return total_; }
  uint64_t missing_max() const { return missing_max_; }
  // At most `max` counters, those with the largest sums first.
  std::vector<Counter> Largest(size_t max) const;

 private:
  size_t FindLeast();
  void IndexCounters();

  uint64_t total_ = 0;
  uint64_t missing_max_ = 0;
  std::vector<Counter> counters_;
  absl::flat_hash_map<uint64_t, uint32_t> places_;  // position in `counters_` by hash
  // The least sum does not decrease between merges. The search for a counter that has it goes on where the last one
  // ended, so that all counters with this sum are found in one pass.
  uint64_t least_ = 0;
  size_t hand_ = 0;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_TOP_KEYS_H_
