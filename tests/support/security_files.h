#ifndef ARMATURE_TESTS_SUPPORT_SECURITY_FILES_H_
#define ARMATURE_TESTS_SUPPORT_SECURITY_FILES_H_

// The files that a daemon with TLS and credentials needs, and clients that it knows.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "armature/client/client.h"
#include "tests/support/daemon_process.h"
#include "tests/support/test_certificates.h"

namespace armature::test {

// A directory with ca.pem, server.pem, server.key and credentials.json. The authority vouches for the server and for
// clients.
class SecurityFiles {
 public:
  static constexpr char kRootSecret[] = "the-secret-of-root";

  // Policies: `root` may do everything; `reader` reads and describes the table `orders`; `restorer` restores
  // tables whose names begin so from backups of such. Keys: AKROOT, AKREADER, AKRESTORER (the same secret).
  // Certificates: `ops.example.org` has root, `spiffe://example.org/reader` has reader.
  SecurityFiles();

  std::string Path(std::string_view name) const { return (directory_.path() / name).string(); }
  // Of mode 600, whole at once.
  void Write(std::string_view name, std::string_view text) const;
  std::string Read(std::string_view name) const;
  // Adds access keys, as they stand in the file.
  void WriteCredentials(const std::vector<std::string>& more_keys) const;

  // --tls_cert and the like, for all that is there.
  std::vector<std::string> Flags() const;
  const TestAuthority& authority() const { return authority_; }

  // What a client needs: trust in `authority`, and a key, if an id is given.
  static client::ClientOptions WithKey(const TestAuthority& authority, std::string_view id,
                                       std::string_view secret = kRootSecret);
  client::ClientOptions WithKey(std::string_view id, std::string_view secret = kRootSecret) const {
    return WithKey(authority_, id, secret);
  }
  // Trust in our authority, and a certificate of `issuer`.
  client::ClientOptions WithCertificate(const TestAuthority& issuer, const std::string& common_name,
                                        const std::vector<std::string>& alternative_names) const;

 private:
  TemporaryDirectory directory_;
  TestAuthority authority_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_SECURITY_FILES_H_
