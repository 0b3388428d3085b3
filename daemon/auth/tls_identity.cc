#include "daemon/auth/tls_identity.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>

#include "daemon/auth/private_file.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// A bundle of authorities may be large.
constexpr size_t kCertificateBytesMax = 4 << 20;
constexpr size_t kKeyBytesMax = 64 << 10;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

absl::Status Unusable(const std::string& path, std::string_view why) {
  ERR_clear_error();
  return absl::InvalidArgumentError(Cat(path, ": ", why));
}

Owned<BIO> Reader(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// The first certificate of the file. Null if there is none, or if another one is damaged.
Owned<X509> ReadCertificate(const std::string& pem) {
  const Owned<BIO> reader = Reader(pem);
  Owned<X509> first(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
  if (first == nullptr) return nullptr;
  while (Owned<X509>(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) != nullptr) {
  }
  const bool is_whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return is_whole ? std::move(first) : nullptr;
}

Owned<EVP_PKEY> ReadKey(const std::string& pem) {
  // Without this callback OpenSSL asks for a password on the terminal.
  constexpr auto kNoPassword = [](char*, int, int, void*) { return -1; };
  return Owned<EVP_PKEY>(PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, kNoPassword, nullptr));
}

}  // namespace

absl::StatusOr<TlsIdentity> LoadTlsIdentity(const TlsFiles& files) {
  TlsIdentity identity;
  ARM_ASSIGN_OR_RETURN(identity.certificate_pem, ReadPublicFile(files.certificate, kCertificateBytesMax));
  ARM_ASSIGN_OR_RETURN(identity.key_pem, ReadPrivateFile(files.key, kKeyBytesMax));
  const Owned<X509> certificate = ReadCertificate(identity.certificate_pem);
  if (certificate == nullptr) return Unusable(files.certificate, "holds no certificate in PEM form, or a damaged one");
  const Owned<EVP_PKEY> key = ReadKey(identity.key_pem);
  if (key == nullptr) return Unusable(files.key, "holds no private key in PEM form without a password");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Unusable(files.key, Cat("is not the key of the certificate in ", files.certificate));
  }
  if (X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0) {
    LOG(WARNING) << "tls: the certificate has expired path=" << files.certificate;
  }
  if (!files.client_ca.empty()) {
    ARM_ASSIGN_OR_RETURN(identity.client_ca_pem, ReadPublicFile(files.client_ca, kCertificateBytesMax));
    if (ReadCertificate(identity.client_ca_pem) == nullptr) {
      return Unusable(files.client_ca, "holds no certificate in PEM form, or a damaged one");
    }
  }
  return identity;
}

}  // namespace armature::daemon
