#ifndef ARMATURE_DAEMON_AUTH_SIGV4_H_
#define ARMATURE_DAEMON_AUTH_SIGV4_H_

// AWS Signature Version 4: verifies that a request was signed with the secret of an access key.
//
// Source: "Signature Version 4 signing process"; order and texts of errors as the service's.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/auth/canonical_request.h"
#include "daemon/auth/crypto.h"
#include "daemon/auth/failures.h"
#include "daemon/http/http_message.h"
#include "storage/base/strings.h"

namespace armature::daemon {

struct SigV4Options {
  std::string service = "dynamodb";
  std::string region = {};  // empty: any well-formed region
  // Largest difference between the signature's time and our clock, either way.
  absl::Duration window = absl::Minutes(15);
};

struct SigV4Outcome {
  // MissingAuthenticationToken, IncompleteSignature, InvalidSignature or UnrecognizedClient. Texts repeat values of the
  // request at most, never the expected signature.
  absl::Status status;
  AuthFailure failure = AuthFailure::kMissing;  // only if the status is an error
  std::string key_id;                           // as claimed; empty if it was not parsed
};

// Verifies signatures in the Authorization header and in the query.
//
// Checks beyond the service's documentation: an unsigned X-Amz-Target is refused, because it names the operation. A
// signed header that is missing, a list of signed headers that does not ascend, and repeated parts are refused.
// X-Amz-Content-Sha256, if present, must be the hash of the body. X-Amz-Expires shortens the window. A security token
// is an ordinary header or parameter: it is checked if signed, and otherwise ignored.
//
// Up to kSigningKeysMax signing keys are cached per access key, day and region. They depend on the secrets: use a new
// verifier with new secrets.
//
// Thread-safety: thread-safe.
// Cost: a hash of the body on the calling thread (about a millisecond per MB), but only for known access keys.
class SigV4Verifier {
 public:
  // Returns the secret of an access key, or null. The secret must live until Verify returns.
  using SecretOf = absl::FunctionRef<const std::string*(std::string_view key_id)>;
  static constexpr size_t kSigningKeysMax = 4096;

  explicit SigV4Verifier(SigV4Options options) : options_(std::move(options)) {}
  SigV4Verifier(const SigV4Verifier&) = delete;
  SigV4Verifier& operator=(const SigV4Verifier&) = delete;

  SigV4Outcome Verify(const HttpRequest& request, absl::Time now, SecretOf secret_of) const;

 private:
  struct Fields;
  struct Scope;

  absl::Status CheckTime(const Fields& fields, absl::Time now) const;
  absl::Status CheckScope(const Fields& fields, const Scope& scope) const;
  bool SignatureIsRight(const HttpRequest& request, const Fields& fields, const Scope& scope,
                        const std::string& secret) const;

  const SigV4Options options_;
  mutable absl::Mutex mutex_;
  mutable StringMap<Sha256Digest> signing_keys_ ABSL_GUARDED_BY(mutex_);  // by credential: key id and scope
};

struct SigV4Fields {
  std::string algorithm;
  std::string credential;
  std::string signed_headers;
  std::string signature;
  std::string date;                    // ISO 8601 basic, not yet checked
  std::optional<std::string> expires;  // X-Amz-Expires of the query
  std::vector<QueryParameter> query;   // all parameters
};

// Errors: MissingAuthenticationToken without a signature; InvalidSignature with two; IncompleteSignature if a part is
// missing or repeated.
absl::StatusOr<SigV4Fields> ReadSigV4Fields(const HttpRequest& request);

// "20150830T123600Z". Nullopt if the form is wrong, or the date does not exist.
std::optional<absl::Time> ParseBasicTime(std::string_view text);
std::string FormatBasicTime(absl::Time time);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_SIGV4_H_
