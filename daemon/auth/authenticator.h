#ifndef ARMATURE_DAEMON_AUTH_AUTHENTICATOR_H_
#define ARMATURE_DAEMON_AUTH_AUTHENTICATOR_H_

// Tells who sent a request, on both front ends, by the credentials file of the moment.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/auth/access.h"
#include "daemon/auth/credentials.h"
#include "daemon/auth/failure_limiter.h"
#include "daemon/auth/failure_log.h"
#include "daemon/auth/secret_checker.h"
#include "daemon/auth/sigv4.h"
#include "daemon/http/http_message.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

struct AuthenticatorOptions {
  std::string credentials_file;
  SigV4Options signatures;
  FailureLimiterOptions limiter;
  absl::Duration delay = absl::Seconds(1);  // of a refusal, when its address has failed too often
  size_t delayed_max = 1'000;               // beyond, refusals are not held back
};

// Who calls over gRPC, as the transport tells it. Views live during the call of Authenticate only.
struct CallerIdentity {
  std::optional<std::string_view> authorization;    // the metadata of that name
  std::vector<std::string_view> certificate_names;  // of a verified certificate: alternative names, then the common one
  std::string_view peer;
};

// Refusals are counted and logged. An address that has failed too often gets them late; nobody else is slowed, and no
// thread waits.
//
// Thread-safety: thread-safe.
// Lifetime: destroy it when no more requests come and all have been answered; refusals that are held back are dropped.
class Authenticator {
 public:
  using Result = absl::StatusOr<std::shared_ptr<const Access>>;
  using Done = absl::AnyInvocable<void(Result) &&>;

  // Errors: those of Credentials::Load.
  static absl::StatusOr<std::unique_ptr<Authenticator>> Start(AuthenticatorOptions options);

  // Reads the file again. Requests that were admitted keep what they had; from now on only the new file counts. Errors:
  // those of Credentials::Load; then the old file goes on to count. Logs either way.
  absl::Status Reload();

  // Grows with each state of the file that was read. Who was authenticated under a number need not be known under the
  // next one.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Of a request over HTTP, by its signature. `*hold` is how long a refusal should be held back.
  Result AuthenticateRequest(const HttpRequest& request, absl::Time now, absl::Duration* hold);
  // The same; holds back by itself. `done` is called once, here or on the timers' thread. `request` need not live on.
  void AuthenticateRequest(const HttpRequest& request, Done done);

  // Of a call over gRPC: by `Basic` and the base64 form of `key id:secret`, or else by its certificate. `done` is
  // called once, here or on another thread.
  void AuthenticateCall(const CallerIdentity& caller, Done done);

  // How often, since the start.
  uint64_t count(AuthFailure failure) const { return log_->count(failure); }

 private:
  // What belongs to one state of the file.
  struct Snapshot {
    explicit Snapshot(const SigV4Options& options) : signatures(options) {}
    std::shared_ptr<const Credentials> credentials;
    SigV4Verifier signatures;
  };

  explicit Authenticator(AuthenticatorOptions options);

  std::shared_ptr<const Snapshot> Current() const;
  void AuthenticateByKey(std::string_view authorization, std::string_view peer, Done done);
  void AuthenticateByCertificate(const CallerIdentity& caller, Done done);
  void CheckHashedSecret(const AccessKey& key, std::string secret, std::string_view peer, Done done);

  // Counts, logs, and tells how long to hold the refusal back.
  absl::Duration Failed(AuthFailure failure, std::string_view peer, std::string_view key_id, absl::Time now);
  void Refuse(absl::Status status, AuthFailure failure, std::string_view peer, std::string_view key_id, Done done);
  void RefuseAsBusy(std::string_view peer, std::string_view key_id, Done done);
  void Hold(absl::Duration time, absl::Status status, Done done);

  const AuthenticatorOptions options_;
  const std::shared_ptr<FailureLog> log_ = std::make_shared<FailureLog>();
  FailureLimiter limiter_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> generation_ = 0;
  std::atomic<size_t> delayed_ = 0;
  TimerQueue timers_;
  SecretChecker secrets_;  // last: its thread uses the others
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_AUTHENTICATOR_H_
