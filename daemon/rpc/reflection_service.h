#ifndef ARMATURE_DAEMON_RPC_REFLECTION_SERVICE_H_
#define ARMATURE_DAEMON_RPC_REFLECTION_SERVICE_H_

// The standard service grpc.reflection.v1.ServerReflection, and the same as v1alpha: names and descriptors of the
// services, for tools (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/rpc/reflection_answers.h"
#include "daemon/rpc/rpc_call.h"
#include "daemon/rpc/rpc_front.h"

namespace armature::daemon {

// A stream answers one request after another, and reads no further ones while the client leaves 256 KB of answers
// unread. It ends with OK when the client has sent all requests and all are answered.
//
// Errors that end a stream: UNAUTHENTICATED; INVALID_ARGUMENT for requests that are malformed or larger than 64 KB;
// RESOURCE_EXHAUSTED if there is no memory for an answer; UNAVAILABLE if the daemon has too much to do.
//
// Thread-safety: thread-safe. Lifetime: outlives the server.
class ReflectionService {
 public:
  static constexpr char kMethod[] = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  static constexpr char kAlphaMethod[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

  // Decides whether a call may go on, before anything is read: calls `done` once, on any thread, also at once. An error
  // ends the call with UNAUTHENTICATED and its text.
  using Allowed = absl::AnyInvocable<void(absl::Status) &&>;
  using Allow = std::function<void(const std::shared_ptr<RpcCall>& call, Allowed done)>;

  // Adds both methods to `front`. `services`: full names, to be listed. `allow`: null allows all calls.
  ReflectionService(RpcFront* front, std::vector<std::string> services, Allow allow);
  ReflectionService(const ReflectionService&) = delete;
  ReflectionService& operator=(const ReflectionService&) = delete;

 private:
  void Open(const std::shared_ptr<RpcCall>& call);

  const std::vector<std::string> services_;
  const Allow allow_;
  DescriptorFiles files_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_RPC_REFLECTION_SERVICE_H_
