#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SECURITY_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SECURITY_H_

// Authentication: of the daemon by its certificate, of the client by an access key or a certificate.

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace armature::client {

// An access key of the daemon's credentials file. It is sent with every call and therefore needs a private connection:
// TLS, or a Unix socket.
struct AccessKey {
  std::string id;
  std::string secret;
};

// Names of PEM files.
struct TlsOptions {
  std::string ca_file;           // authorities that sign the daemon's certificate; empty: the default roots of gRPC
  std::string certificate_file;  // certificate of the client, then its intermediates; empty: none
  std::string key_file;          // private key of the client's certificate
};

// The value of ClientOptions::credentials. The daemon's certificate must name the host of the target. Errors:
// INVALID_ARGUMENT if a file cannot be read, or if only one of certificate and key is given. Their contents are checked
// when the client connects.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsCredentials(const TlsOptions& options);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SECURITY_H_
