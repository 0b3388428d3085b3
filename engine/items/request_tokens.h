#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_

// Idempotency tokens of requests in progress, their clock, and the schedule for removing expired tokens from disk.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strings.h"

namespace armature::engine {

// Only the request that has claimed a token reads and writes its record, until the token is released.
//
// Tokens expire by a clock of their own. It counts the time that the server runs, so the wall clock may be set: a token
// never expires early. It goes on from the newest token on disk, so time when the server is down does not count, nor
// the time between its last token and its end.
//
// Thread-safety: thread-safe.
class RequestTokens {
 public:
  using Then = absl::AnyInvocable<void() &&>;

  // Sets the clock of tokens to `now_ms` at the monotonic time `now_ns`. Called once, before all others.
  void SetClock(int64_t now_ms, int64_t now_ns) { origin_ms_ = now_ms - now_ns / kNsPerMs; }
  // The clock of tokens, in milliseconds, at the monotonic time `now_ns`.
  int64_t ClockMs(int64_t now_ns) const { return origin_ms_ + now_ns / kNsPerMs; }

  enum class Claimed : uint8_t {
    kYes,
    kInProgress,  // another request has it
    kLater,       // it is being swept: `then` will be called
  };
  // Claims the token, or keeps `then` until the sweep has ended.
  Claimed Claim(std::string_view token, Then then) {
    const absl::MutexLock lock(&mutex_);
    if (claimed_.insert(std::string(token)).second) return Claimed::kYes;
    if (!swept_.contains(token)) return Claimed::kInProgress;
    after_sweep_.push_back(std::move(then));
    return Claimed::kLater;
  }
  // Claims the token for the sweep. Returns false if a request has claimed it.
  bool ClaimForSweep(std::string_view token) {
    const absl::MutexLock lock(&mutex_);
    return claimed_.insert(std::string(token)).second && swept_.insert(std::string(token)).second;
  }
  // Releases what the sweep has claimed. The caller must then call the result, in this order.
  std::vector<Then> ReleaseSwept() {
    const absl::MutexLock lock(&mutex_);
    for (const std::string& token : swept_) claimed_.erase(token);
    swept_.clear();
    return std::exchange(after_sweep_, {});
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
  static constexpr int64_t kNsPerMs = 1'000'000;

  int64_t origin_ms_ = 0;  // the clock of tokens at the monotonic time 0
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<std::string, StringHash, std::equal_to<>> claimed_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string, StringHash, std::equal_to<>> swept_ ABSL_GUARDED_BY(mutex_);  // of claimed_
  std::vector<Then> after_sweep_ ABSL_GUARDED_BY(mutex_);
  bool sweeping_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t next_sweep_ms_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string resume_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_
