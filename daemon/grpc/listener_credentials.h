#ifndef ARMATURE_DAEMON_GRPC_LISTENER_CREDENTIALS_H_
#define ARMATURE_DAEMON_GRPC_LISTENER_CREDENTIALS_H_

// How a gRPC listener secures its connections, and what it lets through to the services.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "daemon/auth/authenticator.h"
#include "daemon/auth/tls_identity.h"
#include "grpc/grpc_security.h"
#include "grpcpp/security/server_credentials.h"
#include "storage/base/strings.h"

namespace armature::daemon {

// Every call passes the authenticator here, unless its method is open or answers for itself: so reflection, unknown
// methods, and whatever gRPC may add, too. What is refused here is UNAUTHENTICATED without details, for gRPC's core
// cannot send any; CallGate can.
struct CallFilter {
  Authenticator* authenticator = nullptr;  // must outlive the server
  // As in `/package.Service/Method`: of the health service, and those that ask CallGate.
  absl::flat_hash_set<std::string, StringHash, std::equal_to<>> passed_methods;
};

// Made on gRPC's C interface, because the C++ one cannot take a new certificate at a moment of our choice, nor add a
// filter to connections without TLS. A new certificate counts for the handshakes after a reload; connections go on.
//
// TLS 1.2 and later, with the cipher suites of gRPC.
//
// Thread-safety: as grpc::ServerCredentials; for one listener. Lifetime: must outlive the server.
class ListenerCredentials final : public grpc::ServerCredentials {
 public:
  // `tls`: null for plain connections; must outlive the server. `filter`: its authenticator null for no filter.
  static std::shared_ptr<ListenerCredentials> Make(const TlsKeeper* tls, CallFilter filter);
  ~ListenerCredentials() override;

  // There is one already, made of `filter`.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) override;

 private:
  ListenerCredentials(const TlsKeeper* tls, CallFilter filter);

  int AddPortToServer(const std::string& address, grpc_server* server) override;
  grpc_ssl_certificate_config_reload_status NextCertificate(grpc_ssl_server_certificate_config** config);

  const TlsKeeper* const tls_;
  uint64_t tls_version_ = 0;  // of what gRPC has; it asks under a lock of its own
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_LISTENER_CREDENTIALS_H_
