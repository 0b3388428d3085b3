#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SECURITY_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SECURITY_H_

// How a client knows its daemon, and how the daemon knows the client.

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace armature::client {

// An access key of the daemon's credentials file. It is sent with every call, so it needs a connection that nobody can
// overhear: TLS, or a Unix socket.
struct AccessKey {
  std::string id;
  std::string secret;
};

// Names of PEM files.
struct TlsOptions {
  std::string ca_file;           // authorities that may vouch for the daemon; empty: those that gRPC comes with
  std::string certificate_file;  // ours, followed by those between it and the root; empty: none
  std::string key_file;          // of that certificate
};

// For ClientOptions::credentials. The daemon's certificate must name the host of the target. Errors: INVALID_ARGUMENT
// if a file cannot be read, or certificate and key do not come together. Whether they are any good shows when the
// client connects.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsCredentials(const TlsOptions& options);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SECURITY_H_
