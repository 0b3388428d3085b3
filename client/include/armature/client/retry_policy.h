#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_RETRY_POLICY_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_RETRY_POLICY_H_

// Whether, when and which failed calls are repeated. Each question is an object of its own that a
// program may replace.
//
// A failed call is repeated if the retry policy says its error may pass, and if either the call has
// certainly changed nothing or the idempotency policy says that a repeat does no harm; after the
// longer of the backoff and the daemon's own advice; and only if that ends before the deadline of
// the call.
//
// Thread-safety: all policies are shared by all calls of a client and must be thread-safe.

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/client/connection.h"
#include "google/protobuf/message.h"

namespace armature::client {

class RetryPolicy {
 public:
  virtual ~RetryPolicy() = default;
  // `attempts` have been made, at least 1; the last one ended with `status`, which is not OK.
  virtual bool ShouldRetry(const absl::Status& status, int attempts) const = 0;
};

class BackoffPolicy {
 public:
  virtual ~BackoffPolicy() = default;
  // How long to wait after the attempt of this number, counted from 1.
  virtual absl::Duration DelayAfter(int attempts) const = 0;
};

class IdempotencyPolicy {
 public:
  virtual ~IdempotencyPolicy() = default;
  // True if a repeat leaves the same data and gives the caller an answer as good as the first one,
  // even if the first one was applied and only its answer was lost.
  virtual bool IsIdempotent(const Method& method, const google::protobuf::Message& request) const = 0;
};

// True for UNAVAILABLE, and for RESOURCE_EXHAUSTED if the exception is a throttling one:
// LimitExceededException and ItemCollectionSizeLimitExceededException share that code, but do not
// pass with time. True also for ABORTED if another transaction was in the way: for
// TransactionConflictException, TransactionInProgressException, and TransactionCanceledException if
// all its reasons are conflicts or throttling.
bool IsTransient(const absl::Status& status);

// Repeats what IsTransient says. `attempts_max` counts the first attempt too; at least 1.
std::shared_ptr<const RetryPolicy> LimitedAttempts(int attempts_max);
std::shared_ptr<const RetryPolicy> NoRetries();

struct BackoffSettings {
  absl::Duration initial = absl::Milliseconds(25);
  absl::Duration max = absl::Seconds(2);
  double factor = 2;
};

// A random time between half of min(max, initial * factor^(n-1)) and all of it: clients that failed
// together do not come back together.
std::shared_ptr<const BackoffPolicy> ExponentialBackoff(BackoffSettings settings = {});

// Idempotent are all reads, PutItem and DeleteItem without condition and without return values,
// BatchWriteItem, and TransactWriteItems with a client_request_token. UpdateItem never is, and
// neither are changes of tables, whose repeat fails.
//
// A repeated put or delete may undo what another client wrote between the two attempts. Programs
// that cannot bear that use conditions.
std::shared_ptr<const IdempotencyPolicy> DefaultIdempotency();

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_RETRY_POLICY_H_
