#ifndef ARMATURE_STORAGE_RADOS_POOL_SPACE_H_
#define ARMATURE_STORAGE_RADOS_POOL_SPACE_H_

// Free space of a pool, asked for in the background. Inside this component only.

#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/worker.h"
#include "storage/rados/rados_session.h"
#include "storage/store/files/volume.h"

namespace armature::rados {

// The space of `pool` in the monitors' answer to "df" in JSON. False if the answer does not tell: only a manager knows
// how much space there is, and monitors answer with zeros without one.
bool ParsePoolSpace(std::string_view answer, std::string_view pool, store::DiskUsage* usage);

// The last known space of the session's pool. Monitors may be away while writes go on, so that nobody waits for them
// here.
//
// Thread-safety: thread-safe.
class PoolSpace {
 public:
  // Reported as long as the space is unknown: nothing stops before the pool itself refuses a write.
  static constexpr uint64_t kUnknownBytes = uint64_t{1} << 50;

  // Asks once, then begins to ask in the background.
  explicit PoolSpace(std::shared_ptr<RadosSession> session);
  PoolSpace(const PoolSpace&) = delete;
  PoolSpace& operator=(const PoolSpace&) = delete;

  store::DiskUsage last() const;

 private:
  Worker::Next Work();
  void Ask();

  const std::shared_ptr<RadosSession> session_;
  bool is_told_ = false;  // that the space is unknown
  mutable absl::Mutex mutex_;
  store::DiskUsage last_ ABSL_GUARDED_BY(mutex_) = {kUnknownBytes, kUnknownBytes};
  Worker worker_{"arm-pool-space", [this] { return Work(); }};
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_POOL_SPACE_H_
