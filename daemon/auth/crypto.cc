#include "daemon/auth/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "glog/logging.h"

namespace armature::daemon {
namespace {

// Looked up once: by name, OpenSSL would search its providers at every call.
const EVP_MD* Sha256Method() {
  static const EVP_MD* const kMethod = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kMethod;
}

const unsigned char* Unsigned(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

}  // namespace

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, Sha256Method(), nullptr) == 1);
  return digest;
}

Sha256Digest HmacSha256(std::string_view key, std::string_view message) {
  Sha256Digest digest;
  CHECK(HMAC(Sha256Method(), key.data(), static_cast<int>(key.size()), Unsigned(message), message.size(), digest.data(),
             nullptr) != nullptr);
  return digest;
}

std::string Hex(const Sha256Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
  return bytes;
}

}  // namespace armature::daemon
