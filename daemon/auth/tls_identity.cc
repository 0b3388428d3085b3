#include "daemon/auth/tls_identity.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
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

// In seconds since the epoch.
int64_t ExpiryOf(const X509* certificate) {
  tm time = {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1) return 0;
  return timegm(&time);
}

struct Certificates {
  Owned<X509> first;  // of the file; null if there is none, or if another one is damaged
  int64_t earliest_expiry_s = std::numeric_limits<int64_t>::max();
};

Certificates ReadCertificates(const std::string& pem) {
  const Owned<BIO> reader = Reader(pem);
  Certificates found;
  while (Owned<X509> next{PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)}) {
    found.earliest_expiry_s = std::min(found.earliest_expiry_s, ExpiryOf(next.get()));
    if (found.first == nullptr) found.first = std::move(next);
  }
  const bool is_whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!is_whole) found.first = nullptr;
  return found;
}

Owned<EVP_PKEY> ReadKey(const std::string& pem) {
  // Without this callback OpenSSL asks for a password on the terminal.
  constexpr auto kNoPassword = [](char*, int, int, void*) { return -1; };
  return Owned<EVP_PKEY>(PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, kNoPassword, nullptr));
}

}  // namespace

absl::Status CompleteTlsIdentity(const TlsFiles& files, TlsIdentity* identity) {
  const Owned<X509> certificate = ReadCertificates(identity->certificate_pem).first;
  if (certificate == nullptr) return Unusable(files.certificate, "holds no certificate in PEM form, or a damaged one");
  const Owned<EVP_PKEY> key = ReadKey(identity->key_pem);
  if (key == nullptr) return Unusable(files.key, "holds no private key in PEM form without a password");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Unusable(files.key, Cat("is not the key of the certificate in ", files.certificate));
  }
  identity->certificate_expiry_s = ExpiryOf(certificate.get());
  if (files.client_ca.empty()) return absl::OkStatus();
  const Certificates authorities = ReadCertificates(identity->client_ca_pem);
  if (authorities.first == nullptr) {
    return Unusable(files.client_ca, "holds no certificate in PEM form, or a damaged one");
  }
  identity->client_ca_expiry_s = authorities.earliest_expiry_s;
  return absl::OkStatus();
}

absl::StatusOr<TlsIdentity> LoadTlsIdentity(const TlsFiles& files) {
  TlsIdentity identity;
  ARM_ASSIGN_OR_RETURN(identity.certificate_pem, ReadPublicFile(files.certificate, kCertificateBytesMax));
  ARM_ASSIGN_OR_RETURN(identity.key_pem, ReadPrivateFile(files.key, kKeyBytesMax));
  if (!files.client_ca.empty()) {
    ARM_ASSIGN_OR_RETURN(identity.client_ca_pem, ReadPublicFile(files.client_ca, kCertificateBytesMax));
  }
  ARM_RETURN_IF_ERROR(CompleteTlsIdentity(files, &identity));
  if (identity.certificate_expiry_s < absl::ToUnixSeconds(absl::Now())) {
    LOG(WARNING) << "tls: the certificate has expired path=" << files.certificate;
  }
  return identity;
}

}  // namespace armature::daemon
