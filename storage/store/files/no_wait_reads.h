#ifndef ARMATURE_STORAGE_STORE_FILES_NO_WAIT_READS_H_
#define ARMATURE_STORAGE_STORE_FILES_NO_WAIT_READS_H_

#include <cstddef>

#include "rocksdb/io_status.h"

namespace armature::store {

// Scope in which a thread's reads of random-access files of a volume do not wait for bytes of a medium: reads of bytes
// that are not in the memory of the machine, or exceed the budget, are answered by IOStatus::Incomplete. RocksDB passes
// the status on, and keeps nothing of it: the same read succeeds without the scope.
//
// The system may begin to read what is missing, and so wait for a place in the queue of the device. Volumes therefore
// ask less and less often about a file whose bytes are not in memory.
//
// Lets a thread that must not wait, such as one of a listener, read blocks of table files that the operating system has
// cached, instead of handing each over to a pool.
//
// Thread-safety: a scope belongs to the thread that made it. Scopes do not nest.
class NoWaitReads {
 public:
  // `bytes_max`: bound on the bytes that may be read within the scope, and so on the time that takes; below SIZE_MAX.
  explicit NoWaitReads(size_t bytes_max);
  ~NoWaitReads();
  NoWaitReads(const NoWaitReads&) = delete;
  NoWaitReads& operator=(const NoWaitReads&) = delete;

  // For volumes: how the calling thread may read `size` bytes. kReadMemory takes them from the budget.
  enum class May { kWait, kReadMemory, kNotRead };
  static May Take(size_t size);
  // Incomplete: the answer of a read that would have to wait.
  static rocksdb::IOStatus WouldWait();
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_FILES_NO_WAIT_READS_H_
