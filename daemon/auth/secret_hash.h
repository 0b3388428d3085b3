#ifndef ARMATURE_DAEMON_AUTH_SECRET_HASH_H_
#define ARMATURE_DAEMON_AUTH_SECRET_HASH_H_

// Stored secrets that a reader of the file cannot use: scrypt with a salt. They are slow on purpose; a checker of its
// own spares calls that cost.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

// Text form: `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, salt and hash in base64.
//
// Only for secrets that clients send in clear, over TLS. Verifying an AWS signature needs the secret itself.
//
// Thread-safety: immutable.
class SecretHash {
 public:
  // Hashes `secret` with a new salt and today's parameters. Cost: as Matches.
  static SecretHash Of(std::string_view secret);

  // Errors: InvalidArgument if the form is wrong, a parameter is outside its range (ln 10..20, r 1..16, p 1..4, salt of
  // 8 to 64 bytes, hash of 32 bytes), or the parameters need more than 64 MiB.
  static absl::StatusOr<SecretHash> Parse(std::string_view text);

  // Cost: depends on the parameters; with those of Of() 32 MiB and about 0.1 s on the calling thread.
  bool Matches(std::string_view secret) const;

  std::string ToString() const;

 private:
  struct Cost {
    uint32_t log_n = 15;
    uint32_t r = 8;
    uint32_t p = 1;
  };

  SecretHash(Cost cost, std::string salt, std::string hash)
      : cost_(cost), salt_(std::move(salt)), hash_(std::move(hash)) {}
  static std::string Compute(const Cost& cost, std::string_view salt, std::string_view secret);

  Cost cost_;
  std::string salt_;
  std::string hash_;
};

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
  // share one computation. `may_compute` is asked, at most once and here, before a new computation is accepted; if it
  // returns false, the answer is kBusy.
  using MayCompute = absl::FunctionRef<bool()>;
  void Check(const SecretHash& hash, std::string secret, MayCompute may_compute, Done done);

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

#endif  // ARMATURE_DAEMON_AUTH_SECRET_HASH_H_
