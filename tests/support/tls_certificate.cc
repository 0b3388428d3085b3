#include "tests/support/tls_certificate.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace armature::test {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};

void Check(bool ok) {
  if (!ok) throw std::runtime_error("cannot make a certificate");
}

std::unique_ptr<std::FILE, Free> Create(const std::string& path) {
  std::unique_ptr<std::FILE, Free> file(std::fopen(path.c_str(), "w"));
  Check(file != nullptr);
  return file;
}

}  // namespace

CertificateFiles WriteCertificate(const std::string& directory, const std::string& common_name,
                                  const std::string& password) {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Free> certificate(X509_new());
  Check(key != nullptr && certificate != nullptr);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 24 * 3600);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  const auto* const text = reinterpret_cast<const unsigned char*>(common_name.c_str());
  Check(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key.get());
  Check(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);

  const CertificateFiles files = {.certificate = directory + "/" + common_name + ".crt",
                                  .key = directory + "/" + common_name + ".key"};
  Check(PEM_write_X509(Create(files.certificate).get(), certificate.get()) == 1);
  const EVP_CIPHER* const cipher = password.empty() ? nullptr : EVP_aes_256_cbc();
  Check(PEM_write_PrivateKey(Create(files.key).get(), key.get(), cipher,
                             password.empty() ? nullptr : reinterpret_cast<const unsigned char*>(password.c_str()),
                             static_cast<int>(password.size()), nullptr, nullptr) == 1);
  return files;
}

}  // namespace armature::test
