#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CONNECTION_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CONNECTION_H_

// The seam between Client and the network, which tests replace.

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

struct Stubs;  // The generated stubs of one channel; known to the gRPC connection only.

// Pairs of lower-case name and value that travel with a call.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// One operation of the API.
struct Method {
  std::string_view name;  // As in service.proto, such as "GetItem". Static storage.
  // Makes the blocking call; of use to the gRPC connection only, null is legal for all others.
  grpc::Status (*invoke)(Stubs& stubs, grpc::ClientContext* context, const google::protobuf::Message& request,
                         google::protobuf::Message* response) = nullptr;
};

// What belongs to a call beside its request.
struct CallContext {
  absl::Time deadline = absl::InfiniteFuture();  // Of the whole call, all attempts together.
  Metadata metadata;
  // Said by the caller, who knows better than the idempotency policy. True: see CallOptions.
  bool assume_idempotent = false;
};

// Carries one call to a daemon and its answer back.
//
// Thread-safety: implementations must be thread-safe.
class Connection {
 public:
  virtual ~Connection() = default;

  // Blocks until the answer is there, the deadline has passed or the call has failed. `request` and
  // `response` have the types of the method; `response` is unspecified after an error. Errors: what
  // the daemon or the network said, with the payloads that errors.h reads.
  virtual absl::Status Call(const Method& method, const CallContext& context, const google::protobuf::Message& request,
                            google::protobuf::Message* response) = 0;

  // The stubs of a channel that is connected, for a stream; they live as long as the connection. Blocks until the
  // deadline of `context`. Errors: UNAVAILABLE or DEADLINE_EXCEEDED if there is no daemon; UNIMPLEMENTED if the
  // connection has no streams, as those of tests.
  virtual absl::StatusOr<Stubs*> StubsForStream(const CallContext& /*context*/) {
    return absl::UnimplementedError("this connection has no streams");
  }
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CONNECTION_H_
