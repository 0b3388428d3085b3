#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_RETRY_POLICY_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_RETRY_POLICY_H_

// The policies of repeated calls. A program may replace each of them.
//
// A failed call is repeated if all of these are true:
// - The retry policy says that the error may pass.
// - The call has certainly changed nothing, or the idempotency policy says that it may be repeated.
// - The pause ends before the deadline of the call. The pause is the daemon's advice and the backoff behind it: the
//   advice is the same for all clients, and they should not repeat their calls together.
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
  // `attempts`: number of attempts made, at least 1. `status`: error of the last attempt.
  virtual bool ShouldRetry(const absl::Status& status, int attempts) const = 0;
};

class BackoffPolicy {
 public:
  virtual ~BackoffPolicy() = default;
  // The pause after the attempt of this number, counted from 1.
  virtual absl::Duration DelayAfter(int attempts) const = 0;
};

class IdempotencyPolicy {
 public:
  virtual ~IdempotencyPolicy() = default;
  // True if a repeated call leaves the same data and gives an equivalent answer, even if the first attempt was applied
  // and only its answer was lost.
  virtual bool IsIdempotent(const Method& method, const google::protobuf::Message& request) const = 0;
};

// True for errors that may pass with time:
// - UNAVAILABLE.
// - RESOURCE_EXHAUSTED with a throttling exception. LimitExceededException and ItemCollectionSizeLimitExceededException
//   have the same code, but do not pass.
// - ABORTED because of another transaction: TransactionConflictException, TransactionInProgressException, and
//   TransactionCanceledException if all its reasons are conflicts or throttling.
bool IsTransient(const absl::Status& status);

// Repeats calls whose error IsTransient. `attempts_max` includes the first attempt; at least 1.
std::shared_ptr<const RetryPolicy> LimitedAttempts(int attempts_max);
std::shared_ptr<const RetryPolicy> NoRetries();

struct BackoffSettings {
  absl::Duration initial = absl::Milliseconds(25);
  absl::Duration max = absl::Seconds(2);
  double factor = 2;
};

// A random time between one half of min(max, initial * factor^(n-1)) and all of it, so that clients that failed
// together do not repeat their calls together.
std::shared_ptr<const BackoffPolicy> ExponentialBackoff(BackoffSettings settings = {});

// Idempotent: all reads, PutItem and DeleteItem without condition and without return values, BatchWriteItem, and
// TransactWriteItems with a client_request_token. Not idempotent: UpdateItem, and changes of tables, whose repeat
// fails.
//
// A repeated put or delete may overwrite the write that another client made between the two attempts. Programs that
// must exclude this use conditions.
std::shared_ptr<const IdempotencyPolicy> DefaultIdempotency();

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_RETRY_POLICY_H_
