#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_

// Idempotency tokens of requests in progress, and the schedule for removing expired tokens from disk.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strings.h"

namespace armature::engine {

// Only the request that has claimed a token reads and writes its record, until the token is released.
//
// Thread-safety: thread-safe.
class RequestTokens {
 public:
  // Returns false if another request has claimed the token.
  bool Claim(std::string_view token) {
    const absl::MutexLock lock(&mutex_);
    return claimed_.insert(std::string(token)).second;
  }
  void Release(std::string_view token) {
    const absl::MutexLock lock(&mutex_);
    if (const auto found = claimed_.find(token); found != claimed_.end()) claimed_.erase(found);
  }

  // True if a sweep of expired tokens is due. The caller must then run it and call EndSweep. At most one sweep at a
  // time, and one per second.
  bool BeginSweep(int64_t now_ms) {
    const absl::MutexLock lock(&mutex_);
    if (sweeping_ || now_ms < next_sweep_ms_) return false;
    sweeping_ = true;
    next_sweep_ms_ = now_ms + kSweepIntervalMs;
    return true;
  }
  // `resume`: start of the next sweep. `more`: the next sweep is due at once.
  void EndSweep(std::string resume, bool more) {
    const absl::MutexLock lock(&mutex_);
    sweeping_ = false;
    if (more) next_sweep_ms_ = 0;
    resume_ = std::move(resume);
  }
  std::string resume() const {
    const absl::MutexLock lock(&mutex_);
    return resume_;
  }

 private:
  static constexpr int64_t kSweepIntervalMs = 1000;

  mutable absl::Mutex mutex_;
  absl::flat_hash_set<std::string, StringHash, std::equal_to<>> claimed_ ABSL_GUARDED_BY(mutex_);
  bool sweeping_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t next_sweep_ms_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string resume_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_
