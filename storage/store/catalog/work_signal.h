#ifndef ARMATURE_STORAGE_STORE_CATALOG_WORK_SIGNAL_H_
#define ARMATURE_STORAGE_STORE_CATALOG_WORK_SIGNAL_H_

#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/store/catalog/catalog.h"

namespace armature::store {

// Calls the listener for work of the catalog: drops, creations and changes that wait for something that has happened.
//
// Thread-safety: thread-safe. Lifetime: shared with leases, which may outlive the catalog.
struct Catalog::WorkSignal {
  absl::Mutex mutex;
  std::function<void()> listener ABSL_GUARDED_BY(mutex);

  void Fire() {
    const absl::MutexLock lock(&mutex);
    if (listener) listener();
  }
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_WORK_SIGNAL_H_
