#include "client/src/retrying_connection.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "armature/client/errors.h"

namespace armature::client {

RetryingConnection::RetryingConnection(std::shared_ptr<Connection> next, std::shared_ptr<const ClientOptions> options)
    : next_(std::move(next)), options_(std::move(options)) {}

bool RetryingConnection::MayRepeat(const Method& method, const CallContext& context,
                                   const google::protobuf::Message& request, const absl::Status& failure) const {
  return CertainlyNotApplied(failure) || context.assume_idempotent ||
         options_->idempotency->IsIdempotent(method, request);
}

absl::Status RetryingConnection::Call(const Method& method, const CallContext& context,
                                      const google::protobuf::Message& request, google::protobuf::Message* response) {
  bool maybe_applied = false;
  for (int attempts = 1;; ++attempts) {
    response->Clear();
    absl::Status status = next_->Call(method, context, request, response);
    if (!status.ok() && maybe_applied) status = MaybeApplied(std::move(status));
    if (status.ok() || !options_->retry->ShouldRetry(status, attempts) ||
        !MayRepeat(method, context, request, status)) {
      return status;
    }
    const absl::Duration delay = std::max(options_->backoff->DelayAfter(attempts), RetryAfter(status));
    if (options_->clock->Now() + delay >= context.deadline) return status;
    maybe_applied = maybe_applied || !CertainlyNotApplied(status);
    options_->clock->SleepFor(delay);
  }
}

}  // namespace armature::client
