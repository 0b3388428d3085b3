#ifndef ARMATURE_DAEMON_GRPC_LISTENER_CREDENTIALS_H_
#define ARMATURE_DAEMON_GRPC_LISTENER_CREDENTIALS_H_

// Connection security of a gRPC listener, and the filter of its calls.

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

// Every call is authenticated here, including reflection and unknown methods, unless its method is in `passed_methods`.
// A refusal here is UNAUTHENTICATED without details, because gRPC's core cannot send any; CallGate can.
struct CallFilter {
  Authenticator* authenticator = nullptr;  // must outlive the server
  // Methods as `/package.Service/Method`: those of the health service, and those that use CallGate.
  absl::flat_hash_set<std::string, StringHash, std::equal_to<>> passed_methods;
};

// Implemented with gRPC's C interface, because the C++ one cannot reload certificates on demand, nor filter calls on
// connections without TLS. Handshakes after a reload use the new certificate; open connections continue.
//
// TLS 1.2 and later, with the cipher suites of gRPC.
//
// Thread-safety: like grpc::ServerCredentials; for one listener. Lifetime: must outlive the server.
class ListenerCredentials final : public grpc::ServerCredentials {
 public:
  // `tls`: null for plain connections; must outlive the server. `filter`: without an authenticator, no filter is
  // installed.
  static std::shared_ptr<ListenerCredentials> Make(const TlsKeeper* tls, CallFilter filter);
  ~ListenerCredentials() override;

  // Not supported: the filter of Make is already installed.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) override;

 private:
  ListenerCredentials(const TlsKeeper* tls, CallFilter filter);

  int AddPortToServer(const std::string& address, grpc_server* server) override;
  grpc_ssl_certificate_config_reload_status NextCertificate(grpc_ssl_server_certificate_config** config);

  const TlsKeeper* const tls_;
  uint64_t tls_version_ = 0;  // of gRPC's certificate; gRPC calls under a lock of its own
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_LISTENER_CREDENTIALS_H_
