#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_OPTIONS_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_OPTIONS_H_

// Settings of a client and of a single call.

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/client/connection.h"
#include "armature/client/retry_policy.h"
#include "armature/client/security.h"
#include "google/protobuf/message.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace armature::client {

// The clock of the client. Tests replace it so that no wait takes real time.
//
// Thread-safety: thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() = 0;
  virtual void SleepFor(absl::Duration duration) = 0;
};

std::shared_ptr<Clock> SystemClock();

// Maximum size in bytes of a request message. The daemon does not read larger requests.
inline constexpr size_t kRequestBytesMax = (16 << 20) + (64 << 10);

// All members have usable defaults.
struct ClientOptions {
  // Timeout of a call with all its attempts, unless CallOptions has another one. Positive.
  absl::Duration timeout = absl::Seconds(10);

  std::shared_ptr<const RetryPolicy> retry = LimitedAttempts(20);
  std::shared_ptr<const BackoffPolicy> backoff = ExponentialBackoff();
  std::shared_ptr<const IdempotencyPolicy> idempotency = DefaultIdempotency();
  std::shared_ptr<Clock> clock = SystemClock();

  // Maximum sizes of messages, in bytes. A response of BatchGetItem has up to 16 MB of items.
  int receive_bytes_max = 64 * 1024 * 1024;
  int send_bytes_max = 64 * 1024 * 1024;

  // Number of connections, which the calls use in turns. Several connections help programs with many threads. 1 to 64.
  int channel_count = 1;

  // Null: no encryption. See TlsCredentials.
  std::shared_ptr<grpc::ChannelCredentials> credentials;

  // Absent: the daemon identifies the client by its certificate, or does not authenticate clients. Connect refuses to
  // send a key over a connection that is neither encrypted nor a Unix socket.
  std::optional<AccessKey> access_key;

  // Sent with every call.
  Metadata metadata;

  // Called with the request and the final status of each call that fails, before the call returns; for programs that
  // explain errors to people. Streams are left out. Must be thread-safe and quick. Null: nothing is called.
  std::function<void(const google::protobuf::Message& request, const absl::Status& status)> on_failure;
};

// Settings of one call.
struct CallOptions {
  // Absent: the timeout of the client. InfiniteDuration is legal.
  std::optional<absl::Duration> timeout = std::nullopt;

  // Sent beside ClientOptions::metadata.
  Metadata metadata = {};

  // True: this call may be repeated, whatever the idempotency policy says. Example: an UpdateItem that only sets
  // attributes to constants.
  bool idempotent = false;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_OPTIONS_H_
