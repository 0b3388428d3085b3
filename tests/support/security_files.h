#ifndef ARMATURE_TESTS_SUPPORT_SECURITY_FILES_H_
#define ARMATURE_TESTS_SUPPORT_SECURITY_FILES_H_

// The files of a daemon with TLS and credentials, and the options of its clients.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "armature/client/client.h"
#include "tests/support/daemon_process.h"
#include "tests/support/test_certificates.h"

namespace armature::test {

// A directory with ca.pem, server.pem, server.key and credentials.json. The authority issues the certificates of the
// server and of clients.
class SecurityFiles {
 public:
  static constexpr char kRootSecret[] = "the-secret-of-root";

  // Policies: `root` permits everything; `reader` permits to read and describe the table `orders`; `restorer` permits
  // to restore tables named orders* from backups of such tables. Keys: AKROOT, AKREADER, AKRESTORER (one secret).
  // Certificates: `ops.example.org` has root, `spiffe://example.org/reader` has reader.
  SecurityFiles();

  std::string Path(std::string_view name) const { return directory_.path(name); }
  // Replaces a file of mode 600 atomically.
  void Write(std::string_view name, std::string_view text) const;
  std::string Read(std::string_view name) const;
  // Writes credentials.json with additional access keys, given as JSON.
  void WriteCredentials(const std::vector<std::string>& more_keys) const;

  // --tls_cert and similar flags, for all files that exist.
  std::vector<std::string> Flags() const;
  const TestAuthority& authority() const { return authority_; }

  // Client options: trust in `authority`, and an access key unless `id` is empty.
  static client::ClientOptions WithKey(const TestAuthority& authority, std::string_view id,
                                       std::string_view secret = kRootSecret);
  client::ClientOptions WithKey(std::string_view id, std::string_view secret = kRootSecret) const {
    return WithKey(authority_, id, secret);
  }
  // Client options: trust in our authority, and a certificate of `issuer`.
  client::ClientOptions WithCertificate(const TestAuthority& issuer, const std::string& common_name,
                                        const std::vector<std::string>& alternative_names) const;

 private:
  TempDir directory_;
  TestAuthority authority_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_SECURITY_FILES_H_
