#include "tools/armature/export/sha256_stream.h"

#include <openssl/evp.h>

#include <array>

#include "absl/strings/escaping.h"
#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

EVP_MD_CTX* Context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

// OpenSSL fails here only if it is out of memory.
Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr);
  CHECK_EQ(EVP_DigestInit_ex(Context(context_), EVP_sha256(), nullptr), 1);
}

Sha256Stream::~Sha256Stream() { EVP_MD_CTX_free(Context(context_)); }

void Sha256Stream::Add(std::string_view bytes) {
  CHECK_EQ(EVP_DigestUpdate(Context(context_), bytes.data(), bytes.size()), 1);
}

std::string Sha256Stream::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  CHECK_EQ(EVP_DigestFinal_ex(Context(context_), digest.data(), &size), 1);
  return absl::BytesToHexString(Av(std::string_view(reinterpret_cast<const char*>(digest.data()), size)));
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256Stream stream;
  stream.Add(bytes);
  return stream.Hex();
}

}  // namespace armature::cli
