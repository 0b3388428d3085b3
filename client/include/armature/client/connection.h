#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CONNECTION_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CONNECTION_H_

// The interface between Client and the network. Tests replace it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"

namespace grpc {
class ClientContext;
class Status;
}  // namespace grpc

namespace armature::client {

struct Stubs;  // the generated stubs of one channel, defined for the gRPC connection only

// Pairs of a lower-case name and a value, sent with a call.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// One operation of the API.
struct Method {
  std::string_view name;  // the name in service.proto, such as "GetItem"; static storage
  // Makes the blocking call. Only the gRPC connection uses it; may be null for other connections.
  grpc::Status (*invoke)(Stubs& stubs, grpc::ClientContext* context, const google::protobuf::Message& request,
                         google::protobuf::Message* response) = nullptr;
};

// The parts of a call other than its request.
struct CallContext {
  absl::Time deadline = absl::InfiniteFuture();  // deadline of the whole call, with all attempts
  Metadata metadata;
  // CallOptions::idempotent, which overrides the idempotency policy.
  bool assume_idempotent = false;
};

// Carries one call to a daemon and its answer back.
//
// Thread-safety: implementations must be thread-safe.
class Connection {
 public:
  virtual ~Connection() = default;

  // Blocks until the response arrives, the deadline passes or the call fails. `request` and `response` have the types
  // of the method. `response` is unspecified after an error. Errors: the error of the daemon or the network, with the
  // payloads that errors.h reads.
  virtual absl::Status Call(const Method& method, const CallContext& context, const google::protobuf::Message& request,
                            google::protobuf::Message* response) = 0;

  // The stubs of a connected channel, for a stream. They live as long as the connection. Blocks at most until the
  // deadline of `context`. Errors: UNAVAILABLE or DEADLINE_EXCEEDED if the daemon cannot be reached; UNIMPLEMENTED if
  // the connection has no streams, like the connections of tests.
  virtual absl::StatusOr<Stubs*> StubsForStream(const CallContext& /*context*/) {
    return absl::UnimplementedError("this connection has no streams");
  }
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CONNECTION_H_
