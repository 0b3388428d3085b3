#ifndef ARMATURE_CLIENT_SRC_RETRYING_CONNECTION_H_
#define ARMATURE_CLIENT_SRC_RETRYING_CONNECTION_H_

#include <memory>

#include "absl/status/status.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"

namespace armature::client {

// Repeats failed calls of another connection according to the policies of the options: see retry_policy.h.
//
// Thread-safety: thread-safe.
// Errors: those of the last attempt. CertainlyNotApplied is true only if it is true for each attempt.
class RetryingConnection final : public Connection {
 public:
  // The policies and the clock must not be null.
  RetryingConnection(std::shared_ptr<Connection> next, std::shared_ptr<const ClientOptions> options);

  absl::Status Call(const Method& method, const CallContext& context, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override;
  // Streams are not repeated.
  absl::StatusOr<Stubs*> StubsForStream(const CallContext& context) override { return next_->StubsForStream(context); }

 private:
  bool MayRepeat(const Method& method, const CallContext& context, const google::protobuf::Message& request,
                 const absl::Status& failure) const;

  const std::shared_ptr<Connection> next_;
  const std::shared_ptr<const ClientOptions> options_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_RETRYING_CONNECTION_H_
