#ifndef ARMATURE_DAEMON_AUTH_AUTHENTICATOR_H_
#define ARMATURE_DAEMON_AUTH_AUTHENTICATOR_H_

// Authenticates requests of both front ends by the latest state of the credentials file.

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
#include "daemon/auth/credentials.h"
#include "daemon/auth/failures.h"
#include "daemon/auth/policy.h"
#include "daemon/auth/secret_hash.h"
#include "daemon/auth/sigv4.h"
#include "daemon/http/http_message.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

struct AuthenticatorOptions {
  std::string credentials_file;
  SigV4Options signatures;
  FailureLimiterOptions limiter;
  absl::Duration delay = absl::Seconds(1);  // of a refusal to an address with too many failures
  size_t delayed_max = 1'000;               // refusals held back at once; further ones are answered at once
};

// The identity of the caller of a call over gRPC. The views are used during AuthenticateCall only.
struct CallerIdentity {
  std::optional<std::string_view> authorization;    // metadata "authorization"
  std::vector<std::string_view> certificate_names;  // of a verified certificate: alternative names, or else common name
  std::string_view peer;
};

// Refusals are counted and logged. A refusal to an address with too many failures is held back without blocking a
// thread.
//
// Thread-safety: thread-safe.
// Lifetime: destroy it after all requests have been answered. Refusals that are held back are dropped.
class Authenticator {
 public:
  using Result = absl::StatusOr<std::shared_ptr<const Access>>;
  using Done = absl::AnyInvocable<void(Result) &&>;

  // Errors: those of Credentials::Load.
  static absl::StatusOr<std::unique_ptr<Authenticator>> Start(AuthenticatorOptions options);

  // Reads the file again. Requests that were authenticated before keep their access. Errors: those of
  // Credentials::Load; the old credentials then stay in force. Logs either way.
  absl::Status Reload();

  // Increases with each successful reload. An identity authenticated under one generation may be unknown in the next.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Authenticates a request over HTTP by its signature. `*hold` is set to the time for which a refusal should be held
  // back.
  Result AuthenticateRequest(const HttpRequest& request, absl::Time now, absl::Duration* hold);

  // Authenticates a call over gRPC: by `Basic` and the base64 form of `key id:secret`, or else by the certificate.
  // `done` is called once, here or on another thread.
  void AuthenticateCall(const CallerIdentity& caller, Done done);

  // Number of failures since the start.
  uint64_t count(AuthFailure failure) const { return log_->count(failure); }

 private:
  // The state that belongs to one version of the file.
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

  // Counts and logs the failure. Returns how long to hold the refusal back.
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
  SecretChecker secrets_;  // last: its thread uses the other members
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_AUTHENTICATOR_H_
