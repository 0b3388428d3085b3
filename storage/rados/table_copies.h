#ifndef ARMATURE_STORAGE_RADOS_TABLE_COPIES_H_
#define ARMATURE_STORAGE_RADOS_TABLE_COPIES_H_

// Copies of table files on a local disk. Inside this component only. Format: docs/reference/format.md, "Copies of table
// files".
//
//   copy := byte* sum* "ARMCOPY1" size hash zero    the bytes of the file first
//   sum := fixed32                                 XXH3-64, lower half, of each 16 KiB; little-endian
//   size := fixed64                                of the file
//   hash := fixed64                                XXH3-64 of all sums, seeded with size
//   zero := 8 zeros

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/worker.h"
#include "storage/rados/volume_facts.h"

namespace armature::rados {

// A complete copy of one file. Table files never change, so it is never out of date.
//
// Thread-safety: thread-safe.
class TableCopy {
 public:
  // Takes the descriptor. `sums`: checksums of its chunks.
  TableCopy(std::string path, int descriptor, uint64_t size, std::vector<uint32_t> sums);
  ~TableCopy();
  TableCopy(const TableCopy&) = delete;
  TableCopy& operator=(const TableCopy&) = delete;

  // Reads up to `size` bytes; `*got` are fewer at the end only. kGone: the copy was removed meanwhile. kDamaged: it
  // cannot be read, or does not have the bytes that were written.
  enum class Result : uint8_t { kRead, kGone, kDamaged };
  Result ReadAt(uint64_t offset, size_t size, char* to, size_t* got);
  // Removes the file, and gives its disk space back: no descriptor of ours stays.
  void Remove();

  uint64_t size() const { return size_; }
  int64_t used_ns() const { return used_ns_.load(std::memory_order_relaxed); }

 private:
  // Reads `size` bytes from the chunk `first` on, which end with a chunk, and compares their checksums.
  bool ReadChunks(uint64_t first, size_t size, char* to) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const uint64_t size_;
  const std::vector<uint32_t> sums_;
  std::atomic<int64_t> used_ns_;
  absl::Mutex mutex_;
  int descriptor_ ABSL_GUARDED_BY(mutex_);
};

// A copy that is being made. Errors of the disk end it silently: it is only a copy.
//
// Thread-safety: thread-compatible.
class CopyWriter {
 public:
  ~CopyWriter();  // removes it unless it was finished
  CopyWriter(const CopyWriter&) = delete;
  CopyWriter& operator=(const CopyWriter&) = delete;

  // False after an error: nothing is copied any more.
  bool is_usable() const { return descriptor_ >= 0; }
  // True if the writer is not usable because of an error of the disk.
  bool has_disk_failed() const { return has_disk_failed_; }
  void Append(std::string_view bytes);
  // The file has all its bytes.
  void Finish();

 private:
  friend class TableCopies;
  CopyWriter(class TableCopies* copies, std::string id);
  void Write(std::string_view bytes);

  class TableCopies* const copies_;
  const std::string id_;
  const std::string path_;  // until it is finished
  bool is_made_ = false;    // the file of this name is ours
  int descriptor_ = -1;     // -1 after an error, or when it is finished
  bool has_disk_failed_ = false;
  uint64_t size_ = 0;
  uint64_t reserved_ = 0;  // counted as used by the copies
  std::string chunk_;      // the last one, not full
  std::vector<uint32_t> sums_;
};

// All copies in a directory, bounded by their bytes, and by an eighth of the descriptors that the process may have
// open, since each has one; those that were used least recently go first. They survive a restart. The directory may be
// deleted at any time: no copies are made then.
//
// Thread-safety: thread-safe. Lifetime: outlives the copies that are being made.
class TableCopies {
 public:
  // Reads bytes of a file from the cluster. Returns their number; 0 after an error.
  using Source = std::function<size_t(uint64_t offset, size_t size, char* to)>;

  // Makes the directory if it is missing, and removes copies of other volumes. Errors: FailedPrecondition if another
  // process uses it, or it cannot be written.
  static absl::StatusOr<std::unique_ptr<TableCopies>> Open(const std::string& directory, uint64_t bytes_max,
                                                           const std::string& volume_id);
  // Ends fetches under way.
  ~TableCopies();
  TableCopies(const TableCopies&) = delete;
  TableCopies& operator=(const TableCopies&) = delete;

  // The copy of the file `id`, or null. Counts as a use.
  std::shared_ptr<TableCopy> Find(const std::string& id);
  // Begins a copy of a file that is being written. Null if there is one, or it cannot be made. A copy of more than a
  // quarter of the bytes of all is given up.
  std::unique_ptr<CopyWriter> Begin(const std::string& id);
  // Makes a copy of a complete file in the background, unless there is one, it is too large, too many wait, or the disk
  // has just failed. `source` must not keep a removed file alive.
  void Fetch(const std::string& id, uint64_t size, Source source);
  // The file is no more: removes its copy, and the wish for one.
  void Remove(const std::string& id);
  // Removes and counts a copy that is of no use, unless another one has taken its place.
  void RemoveDamaged(const std::string& id, const TableCopy* copy);
  void CountRead(bool is_hit) { (is_hit ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed); }

  TableCopiesCounters counters() const;
  // State of the fetches, for tests.
  bool are_fetches_paused() const;
  size_t fetches_wanted() const;

 private:
  friend class CopyWriter;
  struct Wanted {
    std::string id;
    uint64_t size = 0;
    Source source;
  };

  TableCopies(std::string directory, uint64_t bytes_max, std::string volume_id, int lock);
  absl::Status Load();
  std::string PathOf(const std::string& id) const;
  // Counts `bytes` as used, after room was made for them. False if there is none.
  bool Reserve(uint64_t bytes);
  void Release(uint64_t bytes);
  void Add(const std::string& id, std::shared_ptr<TableCopy> copy, uint64_t reserved);
  // Takes the copy of `id` out if it is `expected`, or whatever it is if `expected` is null. Null if there is none.
  std::shared_ptr<TableCopy> TakeOut(const std::string& id, const TableCopy* expected)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False if the disk has failed.
  bool MakeOne(const Wanted& wanted);
  Worker::Next Work();

  const std::string directory_;
  const uint64_t bytes_max_;
  const size_t files_max_;
  const std::string volume_id_;
  const int lock_;  // descriptor of the file that is locked
  std::atomic<uint64_t> hits_ = 0;
  std::atomic<uint64_t> misses_ = 0;
  std::atomic<uint64_t> damaged_ = 0;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<TableCopy>> copies_ ABSL_GUARDED_BY(mutex_);  // by id
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Wanted> wanted_ ABSL_GUARDED_BY(mutex_);
  std::string making_ ABSL_GUARDED_BY(mutex_);  // id of the file that is being fetched; empty: none, or it was removed
  int64_t paused_until_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  Worker worker_{"arm-copies", [this] { return Work(); }};
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_TABLE_COPIES_H_
