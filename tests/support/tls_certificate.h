#ifndef ARMATURE_TESTS_SUPPORT_TLS_CERTIFICATE_H_
#define ARMATURE_TESTS_SUPPORT_TLS_CERTIFICATE_H_

// Certificates for tests.

#include <string>

namespace armature::test {

struct CertificateFiles {
  std::string certificate;  // PEM
  std::string key;          // PEM
};

// Writes a new self-signed certificate for `common_name`, valid for a day, and its key, into `directory`, as
// <common_name>.crt and .key. `password`: encrypts the key. Throws std::runtime_error.
CertificateFiles WriteCertificate(const std::string& directory, const std::string& common_name,
                                  const std::string& password = "");

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_TLS_CERTIFICATE_H_
