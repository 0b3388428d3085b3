#include "daemon/auth/authenticator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "daemon/auth/canonical_request.h"
#include "daemon/auth/crypto.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kBasic = "Basic ";
// Larger than the base64 form of the longest id and secret.
constexpr size_t kAuthorizationBytesMax = 1024;
constexpr int64_t kBusyRetryMs = 1000;

struct IdAndSecret {
  std::string id;
  std::string secret;
};

bool HasSessionToken(const HttpRequest& request) {
  if (request.Find("x-amz-security-token") != nullptr) return true;
  const std::vector<QueryParameter> query = QueryOf(request.target);
  return std::any_of(query.begin(), query.end(),
                     [](const QueryParameter& each) { return each.name == "X-Amz-Security-Token"; });
}

std::optional<IdAndSecret> ParseBasic(std::string_view authorization) {
  if (authorization.size() > kAuthorizationBytesMax || !absl::StartsWithIgnoreCase(Av(authorization), Av(kBasic))) {
    return std::nullopt;
  }
  authorization.remove_prefix(kBasic.size());
  std::string text;
  if (!absl::Base64Unescape(Av(authorization), &text)) return std::nullopt;
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return IdAndSecret{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

Authenticator::Authenticator(AuthenticatorOptions options) : options_(std::move(options)), limiter_(options_.limiter) {}

absl::StatusOr<std::unique_ptr<Authenticator>> Authenticator::Start(AuthenticatorOptions options) {
  std::unique_ptr<Authenticator> made(new Authenticator(std::move(options)));
  ARM_RETURN_IF_ERROR(made->Reload());
  return made;
}

absl::Status Authenticator::Reload() {
  absl::StatusOr<std::shared_ptr<const Credentials>> loaded = Credentials::Load(options_.credentials_file, log_);
  if (!loaded.ok()) {
    LOG(ERROR) << "auth: credentials are not read: " << loaded.status().message();
    return loaded.status();
  }
  auto snapshot = std::make_shared<Snapshot>(options_.signatures);
  snapshot->credentials = *std::move(loaded);
  LOG(INFO) << "auth: credentials read access_keys=" << snapshot->credentials->key_count()
            << " certificates=" << snapshot->credentials->certificate_count();
  absl::MutexLock lock(&mutex_);
  snapshot_ = std::move(snapshot);
  generation_.fetch_add(1, std::memory_order_release);
  return absl::OkStatus();
}

std::shared_ptr<const Authenticator::Snapshot> Authenticator::Current() const {
  absl::MutexLock lock(&mutex_);
  return snapshot_;
}

absl::Duration Authenticator::Failed(AuthFailure failure, std::string_view peer, std::string_view key_id,
                                     absl::Time now) {
  log_->Failed(failure, peer, key_id, now);
  return limiter_.Failed(peer, now) ? options_.delay : absl::ZeroDuration();
}

void Authenticator::Hold(absl::Duration time, absl::Status status, Done done) {
  if (time <= absl::ZeroDuration()) return std::move(done)(std::move(status));
  if (delayed_.fetch_add(1) >= options_.delayed_max) {
    delayed_.fetch_sub(1);
    return std::move(done)(std::move(status));
  }
  timers_.At(Deadline::After(time), [this, status = std::move(status), done = std::move(done)]() mutable {
    delayed_.fetch_sub(1);
    std::move(done)(std::move(status));
  });
}

void Authenticator::Refuse(absl::Status status, AuthFailure failure, std::string_view peer, std::string_view key_id,
                           Done done) {
  Hold(Failed(failure, peer, key_id, absl::Now()), std::move(status), std::move(done));
}

// Delays the answer, but does not count a failure of the caller.
void Authenticator::RefuseAsBusy(std::string_view peer, std::string_view key_id, Done done) {
  log_->Failed(AuthFailure::kOverloaded, peer, key_id, absl::Now());
  Hold(options_.delay, ThrottlingError("Too many secrets wait to be checked; try again later", kBusyRetryMs),
       std::move(done));
}

Authenticator::Result Authenticator::AuthenticateRequest(const HttpRequest& request, absl::Time now,
                                                         absl::Duration* hold) {
  *hold = absl::ZeroDuration();
  const std::shared_ptr<const Snapshot> snapshot = Current();
  const AccessKey* key = nullptr;
  const SigV4Outcome outcome =
      snapshot->signatures.Verify(request, now, [&](std::string_view id) -> const std::string* {
        key = snapshot->credentials->FindKey(id);
        // A hash cannot verify a signature: for signatures the key does not exist.
        return key == nullptr || key->secret.empty() ? nullptr : &key->secret;
      });
  // Keys of the credentials file are for good, and sessions are not ours. The answer is that of the service (captured
  // in September 2026). The request is no guess of a secret, so it does not count as one.
  if (outcome.status.ok() && HasSessionToken(request)) return InvalidSessionTokenError();
  if (outcome.status.ok()) return key->access;
  *hold = Failed(outcome.failure, request.peer, outcome.key_id, now);
  return outcome.status;
}

void Authenticator::AuthenticateCall(const CallerIdentity& caller, Done done) {
  if (caller.authorization.has_value()) {
    AuthenticateByKey(*caller.authorization, caller.peer, std::move(done));
  } else {
    AuthenticateByCertificate(caller, std::move(done));
  }
}

void Authenticator::AuthenticateByCertificate(const CallerIdentity& caller, Done done) {
  if (caller.certificate_names.empty()) {
    return Refuse(MissingAuthenticationTokenError(), AuthFailure::kMissing, caller.peer, "", std::move(done));
  }
  const std::shared_ptr<const Snapshot> snapshot = Current();
  for (const std::string_view name : caller.certificate_names) {
    if (auto access = snapshot->credentials->FindCertificate(name)) return std::move(done)(std::move(access));
  }
  Refuse(UnrecognizedClientError(), AuthFailure::kUnknownCertificate, caller.peer, caller.certificate_names.front(),
         std::move(done));
}

void Authenticator::AuthenticateByKey(std::string_view authorization, std::string_view peer, Done done) {
  std::optional<IdAndSecret> sent = ParseBasic(authorization);
  if (!sent.has_value()) {
    return Refuse(IncompleteSignatureError("The metadata 'authorization' must be 'Basic ', followed by the base64 form "
                                           "of the access key's id, a colon, and its secret."),
                  AuthFailure::kMalformed, peer, "", std::move(done));
  }
  const std::shared_ptr<const Snapshot> snapshot = Current();
  const AccessKey* const key = snapshot->credentials->FindKey(sent->id);
  if (key == nullptr) {
    return Refuse(UnrecognizedClientError(), AuthFailure::kUnknownKey, peer, sent->id, std::move(done));
  }
  if (key->secret_hash.has_value()) return CheckHashedSecret(*key, std::move(sent->secret), peer, std::move(done));
  // Digests have equal length, so that the comparison does not reveal the length of the secret.
  if (EqualInConstantTime(BytesOf(Sha256(key->secret)), BytesOf(Sha256(sent->secret)))) {
    return std::move(done)(key->access);
  }
  Refuse(UnrecognizedClientError(), AuthFailure::kWrongSecret, peer, sent->id, std::move(done));
}

void Authenticator::CheckHashedSecret(const AccessKey& key, std::string secret, std::string_view peer, Done done) {
  if (secrets_.IsKnown(*key.secret_hash, secret)) return std::move(done)(key.access);
  // An address that guesses secrets must not block the checker for others, so each computation counts as a failure
  // until the secret turns out to be right. Calls that share a computation do not.
  const auto counted = std::make_shared<bool>(false);
  secrets_.Check(
      *key.secret_hash, std::move(secret), [&] { return *counted = !limiter_.Failed(peer, absl::Now()); },
      [this, counted, access = key.access, key_id = key.id, from = std::string(peer),
       done = std::move(done)](SecretChecker::Answer answer) mutable {
        if (answer != SecretChecker::Answer::kWrong && *counted) limiter_.TakeBack(from, absl::Now());
        switch (answer) {
          case SecretChecker::Answer::kRight:
            return std::move(done)(std::move(access));
          case SecretChecker::Answer::kWrong:
            if (!*counted) {
              return Refuse(UnrecognizedClientError(), AuthFailure::kWrongSecret, from, key_id, std::move(done));
            }
            log_->Failed(AuthFailure::kWrongSecret, from, key_id, absl::Now());
            return std::move(done)(UnrecognizedClientError());
          case SecretChecker::Answer::kBusy:
            return RefuseAsBusy(from, key_id, std::move(done));
        }
      });
}

}  // namespace armature::daemon
