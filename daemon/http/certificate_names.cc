#include "daemon/http/certificate_names.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace armature::daemon {
namespace {

constexpr int kV4Bytes = 4;
constexpr int kV6Bytes = 16;

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::string BytesOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<size_t>(ASN1_STRING_length(text))};
}

// Empty for what is no address.
std::string AddressText(const ASN1_OCTET_STRING* address) {
  const int size = ASN1_STRING_length(address);
  if (size != kV4Bytes && size != kV6Bytes) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(size == kV4Bytes ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text.data(), text.size());
  return text.data();
}

// Empty for other kinds of names.
std::string AlternativeName(const GENERAL_NAME* name) {
  switch (name->type) {
    case GEN_DNS:
      return BytesOf(name->d.dNSName);
    case GEN_URI:
      return BytesOf(name->d.uniformResourceIdentifier);
    case GEN_EMAIL:
      return BytesOf(name->d.rfc822Name);
    case GEN_IPADD:
      return AddressText(name->d.iPAddress);
    default:
      return {};
  }
}

void AddName(std::string name, std::vector<std::string>* names) {
  if (!name.empty() && name.find('\0') == std::string::npos) names->push_back(std::move(name));
}

std::vector<std::string> CommonNames(const X509* certificate) {
  std::vector<std::string> names;
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)));
    if (size < 0) continue;
    AddName(std::string(reinterpret_cast<const char*>(text), static_cast<size_t>(size)), &names);
    OPENSSL_free(text);
  }
  return names;
}

}  // namespace

std::vector<std::string> CertificateNames(const X509* certificate) {
  constexpr int kMissing = -1;
  ERR_clear_error();
  int critical = 0;
  const std::unique_ptr<GENERAL_NAMES, FreeNames> alternative(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, &critical, nullptr)));
  std::vector<std::string> names;
  if (alternative != nullptr) {
    for (int i = 0; i < sk_GENERAL_NAME_num(alternative.get()); ++i) {
      AddName(AlternativeName(sk_GENERAL_NAME_value(alternative.get(), i)), &names);
    }
  } else if (critical == kMissing) {  // otherwise damaged, or there are several lists
    names = CommonNames(certificate);
  }
  ERR_clear_error();
  return names;
}

}  // namespace armature::daemon
