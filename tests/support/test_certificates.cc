#include "tests/support/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace armature::test {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void Require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL: ") + what);
}

template <class Write>
std::string Pem(Write write) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  Require(write(bio.get()) == 1, "PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string PemOf(X509* certificate) {
  return Pem([certificate](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

std::string PemOf(EVP_PKEY* key, const std::string& password) {
  const EVP_CIPHER* const cipher = password.empty() ? nullptr : EVP_aes_256_cbc();
  const auto* const text = password.empty() ? nullptr : reinterpret_cast<const unsigned char*>(password.data());
  return Pem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key, cipher, text, static_cast<int>(password.size()), nullptr, nullptr);
  });
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, value.c_str());
  X509_EXTENSION_free(extension);
}

// An unsigned certificate.
Owned<X509> Blank(const std::string& common_name, EVP_PKEY* key, int days = 1) {
  constexpr long kDaySeconds = 86'400;
  Owned<X509> certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDaySeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), days * kDaySeconds);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

Owned<EVP_PKEY> NewKey() {
  Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  Require(key != nullptr, "no key");
  return key;
}

}  // namespace

struct TestAuthority::Impl {
  Owned<EVP_PKEY> key;
  Owned<X509> certificate;
};

TestAuthority::TestAuthority(const std::string& name) : impl_(std::make_unique<Impl>()) {
  impl_->key = NewKey();
  impl_->certificate = Blank(name, impl_->key.get());
  X509* const certificate = impl_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  Require(X509_sign(certificate, impl_->key.get(), EVP_sha256()) != 0, "sign");
  certificate_pem_ = PemOf(certificate);
}

TestAuthority::~TestAuthority() = default;

CertificateAndKey TestAuthority::Issue(const std::string& common_name,
                                       const std::vector<std::string>& alternative_names, const std::string& password,
                                       int days) const {
  const Owned<EVP_PKEY> key = NewKey();
  const Owned<X509> certificate = Blank(common_name, key.get(), days);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(impl_->certificate.get()));
  std::string names;
  for (const std::string& name : alternative_names) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) {
    AddExtension(certificate.get(), impl_->certificate.get(), NID_subject_alt_name, names);
  }
  Require(X509_sign(certificate.get(), impl_->key.get(), EVP_sha256()) != 0, "sign");
  return {PemOf(certificate.get()), PemOf(key.get(), password)};
}

}  // namespace armature::test
