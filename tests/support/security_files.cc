#include "tests/support/security_files.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "grpcpp/security/credentials.h"
#include "storage/base/strings.h"

namespace armature::test {

SecurityFiles::SecurityFiles() : authority_("Test authority") {
  const CertificateAndKey server = authority_.Issue("armatured", {"IP:127.0.0.1"});
  Write("ca.pem", authority_.certificate_pem());
  Write("server.pem", server.certificate_pem);
  Write("server.key", server.key_pem);
  WriteCredentials({});
}

void SecurityFiles::Write(std::string_view name, std::string_view text) const {
  const std::string made = Path(Cat(name, ".new"));
  std::ofstream(made) << text;
  chmod(made.c_str(), 0600);
  std::filesystem::rename(made, Path(name));
}

std::string SecurityFiles::Read(std::string_view name) const {
  std::ifstream in(Path(name));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void SecurityFiles::WriteCredentials(const std::vector<std::string>& more_keys) const {
  std::string keys = Cat(R"({"id": "AKROOT", "secret": ")", kRootSecret, R"(", "policy": "root"},
      {"id": "AKREADER", "secret": ")",
                         kRootSecret, R"(", "policy": "reader"},
      {"id": "AKGROUPS", "secret": ")",
                         kRootSecret, R"(", "policy": "groups"},
      {"id": "AKRESTORER", "secret": ")",
                         kRootSecret, R"(", "policy": "restorer"})");
  for (const std::string& key : more_keys) keys += Cat(",\n      ", key);
  Write("credentials.json", Cat(R"({"access_keys": [)", keys, R"(],
    "certificates": [{"name": "ops.example.org", "policy": "root"},
                     {"name": "spiffe://example.org/reader", "policy": "reader"}],
    "policies": {
      "root": {"allow": [{"operations": ["*"], "tables": ["*"]}], "admin": true},
      "reader": {"allow": [{"operations": ["GetItem", "Query", "Scan", "Describe*"], "tables": ["orders"]}]},
      "groups": {"allow": [{"operations": ["Batch*", "PutItem", "ConditionCheckItem"], "tables": ["orders"]}]},
      "restorer": {"allow": [{"operations": ["RestoreTableFromBackup", "RestoreTableToPointInTime"],
                             "tables": ["orders*"]}]}}})"));
}

std::vector<std::string> SecurityFiles::Flags() const {
  return {"--tls_cert=" + Path("server.pem"), "--tls_key=" + Path("server.key"), "--tls_client_ca=" + Path("ca.pem"),
          "--credentials_file=" + Path("credentials.json")};
}

client::ClientOptions SecurityFiles::WithKey(const TestAuthority& authority, std::string_view id,
                                             std::string_view secret) {
  client::ClientOptions options;
  options.credentials = grpc::SslCredentials({authority.certificate_pem(), "", ""});
  if (!id.empty()) options.access_key = {std::string(id), std::string(secret)};
  return options;
}

client::ClientOptions SecurityFiles::WithCertificate(const TestAuthority& issuer, const std::string& common_name,
                                                     const std::vector<std::string>& alternative_names) const {
  const CertificateAndKey own = issuer.Issue(common_name, alternative_names);
  client::ClientOptions options;
  options.credentials = grpc::SslCredentials({authority_.certificate_pem(), own.key_pem, own.certificate_pem});
  return options;
}

}  // namespace armature::test
