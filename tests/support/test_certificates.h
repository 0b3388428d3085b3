#ifndef ARMATURE_TESTS_SUPPORT_TEST_CERTIFICATES_H_
#define ARMATURE_TESTS_SUPPORT_TEST_CERTIFICATES_H_

// Generated certificates, valid for a day unless a test asks for more.

#include <memory>
#include <string>
#include <vector>

namespace armature::test {

struct CertificateAndKey {
  std::string certificate_pem;
  std::string key_pem;
};

// A certificate authority.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  ~TestAuthority();

  const std::string& certificate_pem() const { return certificate_pem_; }
  // `alternative_names` in OpenSSL's form: "DNS:app.example.org", "IP:127.0.0.1", "URI:spiffe://example.org/app".
  // `password`: encrypts the key. `days`: until the end of the certificate, from now on.
  CertificateAndKey Issue(const std::string& common_name, const std::vector<std::string>& alternative_names,
                          const std::string& password = "", int days = 1) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string certificate_pem_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_TEST_CERTIFICATES_H_
