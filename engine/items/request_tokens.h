#ifndef ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_
#define ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_

// Tokens of requests under way, and when the expired ones on disk are due to go.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strings.h"

namespace armature::engine {

// Who claims a token is the only one who looks at its record and writes it, until it is released.
//
// Thread-safety: thread-safe.
class TokenTable {
 public:
  // False if another request has it.
  bool Claim(std::string_view token);
  void Release(std::string_view token);

  // Whether expired tokens are due to be removed, which then is the caller's to do: one sweep at a time, one a second.
  bool BeginSweep(int64_t now_ms);
  // `resume`: where the next sweep begins. `more`: it is due at once.
  void EndSweep(std::string resume, bool more);
  std::string resume() const;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<std::string, StringHash, std::equal_to<>> claimed_ ABSL_GUARDED_BY(mutex_);
  bool sweeping_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t next_sweep_ms_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string resume_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_REQUEST_TOKENS_H_
