#include "daemon/auth/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr size_t kBlockBytes = 64;  // block size of SHA-256

// Fetched once: with EVP_sha256(), OpenSSL would search its providers at every call.
const EVP_MD* Sha256Method() {
  static const EVP_MD* const kMethod = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kMethod;
}

// One per thread, because creating a context costs more than a short hash.
class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new()) { CHECK(context_ != nullptr); }
  ~Hasher() { EVP_MD_CTX_free(context_); }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Sha256Digest Hash(std::string_view first, std::string_view second) {
    Sha256Digest digest;
    CHECK(EVP_DigestInit_ex2(context_, Sha256Method(), nullptr) == 1 &&
          EVP_DigestUpdate(context_, first.data(), first.size()) == 1 &&
          EVP_DigestUpdate(context_, second.data(), second.size()) == 1 &&
          EVP_DigestFinal_ex(context_, digest.data(), nullptr) == 1);
    return digest;
  }

 private:
  EVP_MD_CTX* const context_;
};

Sha256Digest Hash(std::string_view first, std::string_view second) {
  thread_local Hasher hasher;
  return hasher.Hash(first, second);
}

}  // namespace

Sha256Digest Sha256(std::string_view bytes) { return Hash(bytes, {}); }

// RFC 2104. OpenSSL's HMAC takes ten times as long for short messages, because it allocates its state anew.
Sha256Digest HmacSha256(std::string_view key, std::string_view message) {
  std::array<char, kBlockBytes> inner{};
  if (key.size() > kBlockBytes) {
    const Sha256Digest short_key = Sha256(key);
    std::copy(short_key.begin(), short_key.end(), inner.begin());
  } else {
    std::copy(key.begin(), key.end(), inner.begin());
  }
  std::array<char, kBlockBytes> outer = inner;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  const Sha256Digest inner_digest = Hash({inner.data(), inner.size()}, message);
  return Hash({outer.data(), outer.size()}, BytesOf(inner_digest));
}

std::string Hex(const Sha256Digest& digest) { return absl::BytesToHexString(Av(BytesOf(digest))); }

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
  return bytes;
}

}  // namespace armature::daemon
