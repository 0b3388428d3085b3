#ifndef ARMATURE_STORAGE_STORE_DEAD_RANGES_H_
#define ARMATURE_STORAGE_STORE_DEAD_RANGES_H_

// Ranges of keys that are known to hold no row, so that range reads do not step over the same deleted rows again and
// again. Inside the store only.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::store {

// The ranges of all column families. A read that passes many deleted rows adds the range in which they are. Later reads
// jump over it. A put into a range takes its key out of the range before the put is visible. Nothing of this is on
// disk.
//
// A family is watched from the first long read on, and until its last range is gone. While no family is watched, a read
// pays for one atomic load, and a write (a batch, not a row) takes a mutex twice for an instant. While any family is
// watched, each read and each put takes the mutex, too.
//
// Thread-safety: thread-safe. All of it is bounded: families, ranges, remembered puts.
class DeadRanges {
 public:
  // Number of deleted rows that make it worth to watch a family, or to remember a range.
  static constexpr uint64_t kManySkipped = 64;
  static constexpr uint64_t kRangeSkippedMin = 16;

  // State of a family at the begin of a read. Taken before the read's iterator or snapshot is made.
  struct Mark {
    bool is_watched;
    uint64_t first_write;  // first write that the read may not see
    uint64_t sequence;     // the read sees all up to this
  };
  // Keys in [begin, end); an empty `end` is the end of the family.
  struct Range {
    std::string begin;
    std::string end;
  };

  // `last_sequence`: RocksDB's last sequence number before the call.
  Mark BeginRead(uint32_t family, uint64_t last_sequence);
  // The first range that ends behind `key` (forward), or the last one that begins before it (reverse; an empty key is
  // the end of the family), among those that hold for the read. Called after the read's iterator was made.
  std::optional<Range> Next(uint32_t family, const Mark& mark, std::string_view key, bool forward);
  // Remembers that a read with `mark` found no row in `range`. `sequence`: RocksDB's last sequence number after the
  // read's iterator was made.
  void Add(uint32_t family, const Mark& mark, Range range, uint64_t sequence);
  // A read of the family, which is not watched, skipped many deleted rows.
  void Watch(uint32_t family);
  void Forget(uint32_t family);

  // Writes: Begin; then, if any family is watched, NotePut for each put; then the write; then End.
  uint64_t BeginWrite();
  bool is_any_watched() const { return watched_.load(std::memory_order_acquire) > 0; }
  void NotePut(uint64_t write, uint32_t family, std::string_view key);
  void EndWrite(uint64_t write);

 private:
  static constexpr size_t kFamiliesMax = 256;
  static constexpr size_t kRangesMax = 1024;
  static constexpr size_t kPutsMax = 4096;
  static constexpr size_t kPutBytesMax = 256 << 10;

  struct Dead {
    std::string end;
    uint64_t sequence;  // no row is in the range for reads that see this
  };
  using Ranges = std::map<std::string, Dead, std::less<>>;
  struct Family {
    uint64_t since = 0;  // the first write that is noted
    Ranges ranges;
    std::deque<std::pair<uint64_t, std::string>> puts;  // the last ones: write and key
    size_t put_bytes = 0;
    uint64_t puts_from = 0;  // puts of this write and of later ones are all in `puts`
  };

  Family* Find(uint32_t family) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void TakeOut(std::string_view key, Ranges* ranges);

  absl::Mutex mutex_;
  std::atomic<size_t> watched_ = 0;
  uint64_t next_write_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<uint64_t> writes_ ABSL_GUARDED_BY(mutex_);  // in progress, ascending
  std::map<uint32_t, Family> families_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DEAD_RANGES_H_
