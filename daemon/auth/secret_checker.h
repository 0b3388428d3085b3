#ifndef ARMATURE_DAEMON_AUTH_SECRET_CHECKER_H_
#define ARMATURE_DAEMON_AUTH_SECRET_CHECKER_H_

// Checks secrets against their hashes, which are slow on purpose, without that cost on every call.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "daemon/auth/secret_hash.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

// Computes on a thread of its own. Remembers right secrets by a keyed hash only.
//
// Thread-safety: thread-safe. Lifetime: the destructor finishes the accepted checks.
class SecretChecker {
 public:
  enum class Answer : uint8_t { kRight, kWrong, kBusy };
  using Done = absl::AnyInvocable<void(Answer) &&>;

  static constexpr size_t kRememberedMax = 10'000;
  static constexpr size_t kComputationsMax = 64;  // queued for the thread
  static constexpr size_t kAskersMax = 10'000;    // callers that wait for a computation

  SecretChecker();

  // True if this secret is remembered as right for the hash. Does not compute.
  bool IsKnown(const SecretHash& hash, std::string_view secret);

  // Calls `done` once, here or on the checker's thread; kBusy if too many wait. Callers with the same hash and secret
  // share one computation.
  void Check(const SecretHash& hash, std::string secret, Done done);

 private:
  std::string NameOf(const SecretHash& hash, std::string_view secret) const;
  void Finish(const std::string& name, bool right);

  const std::string key_;  // random per process, so that the keyed hashes are of no use elsewhere
  absl::Mutex mutex_;
  absl::flat_hash_set<std::string> remembered_ ABSL_GUARDED_BY(mutex_);
  StringMap<std::vector<Done>> computing_ ABSL_GUARDED_BY(mutex_);
  size_t askers_ ABSL_GUARDED_BY(mutex_) = 0;
  ThreadPool pool_;  // last: its tasks use the other members
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_SECRET_CHECKER_H_
