#ifndef ARMATURE_STORAGE_STORE_DISK_GUARD_H_
#define ARMATURE_STORAGE_STORE_DISK_GUARD_H_

// Watches the free disk space of an open database.

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::store {

class DiskSpace;
class RocksDb;

// One thread that measures the free space once a second, and resumes the database after a write failed for lack of
// space.
//
// Thread-safety: owned by one thread. Lifetime: both arguments outlive it; the destructor joins the thread.
class DiskGuard {
 public:
  DiskGuard(RocksDb* db, DiskSpace* space);
  ~DiskGuard();
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

 private:
  void Work();
  void RunOnce();

  RocksDb* const db_;
  DiskSpace* const space_;
  absl::Mutex mutex_;
  absl::CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DISK_GUARD_H_
