#include "armature/client/security.h"

#include <fstream>
#include <sstream>

#include "grpcpp/security/credentials.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || text.str().empty()) return absl::InvalidArgumentError(Cat("cannot read ", path, ", or it is empty"));
  return text.str();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsCredentials(const TlsOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError("a certificate of the client and its key come together");
  }
  grpc::SslCredentialsOptions ssl;
  ARM_ASSIGN_OR_RETURN(ssl.pem_root_certs, ReadFile(options.ca_file));
  ARM_ASSIGN_OR_RETURN(ssl.pem_cert_chain, ReadFile(options.certificate_file));
  ARM_ASSIGN_OR_RETURN(ssl.pem_private_key, ReadFile(options.key_file));
  return grpc::SslCredentials(ssl);
}

}  // namespace armature::client
