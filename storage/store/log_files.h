#ifndef ARMATURE_STORAGE_STORE_LOG_FILES_H_
#define ARMATURE_STORAGE_STORE_LOG_FILES_H_

// The files of the write-ahead log, kept free of torn records when the disk is full. Inside the store only.

#include <atomic>
#include <cstdint>
#include <memory>

#include "rocksdb/env.h"
#include "rocksdb/io_status.h"

namespace armature::store {

// What becomes of the log's files.
//
// When a disk is full, the end of a record is missing in the log. RocksDB would, once it is resumed, write what it
// still has of that record to the same file, behind the torn part; a crash before the file is needed no more would
// leave a log with damage in its middle. So a file whose writing has failed is cut back to the last byte that was good,
// and closed for ever: what is refused is not there. While `resuming`, more for such a file is dropped without an
// error, so that RocksDB can turn to a new one.
//
// Such a failure is told as Busy, which RocksDB takes for a write that was not possible now. Told as the lack of space
// that it is, it would stop flushes: one that is under way at that moment is then forgotten, and resuming waits for it
// for ever. Whoever writes asks newest_is_closed() instead.
//
// Thread-safety: thread-safe.
class LogFiles {
 public:
  // Whether the newest file is closed for ever.
  bool newest_is_closed() const { return closed_.load() == made_.load() && made_.load() != 0; }
  void set_resuming(bool resuming) { resuming_.store(resuming); }

  // For the files.
  uint64_t OnMade() { return made_.fetch_add(1) + 1; }
  void OnClosed(uint64_t number) { closed_.store(number); }
  bool resuming() const { return resuming_.load(); }

 private:
  std::atomic<uint64_t> made_ = 0;
  std::atomic<uint64_t> closed_ = 0;  // the last that was closed for ever
  std::atomic<bool> resuming_ = false;
};

// `status` of a call that left `error` in errno: NoSpace for every way of having no more of it.
rocksdb::IOStatus NameNoSpace(rocksdb::IOStatus status, int error);

// The file system as RocksDB sees it: with log files as above, and with every way of having no more space (quota, limit
// of a file's size) told as that. `files` outlives it.
std::unique_ptr<rocksdb::Env> MakeEnv(LogFiles* files);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_FILES_H_
