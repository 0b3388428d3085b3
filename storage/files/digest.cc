#include "storage/files/digest.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "glog/logging.h"

namespace armature::files {

void DigestStream::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

// OpenSSL fails here only if it is out of memory.
DigestStream::DigestStream(const evp_md_st* kind) : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr);
  CHECK_EQ(EVP_DigestInit_ex(context_.get(), kind, nullptr), 1);
}

void DigestStream::Add(std::string_view bytes) {
  CHECK_EQ(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()), 1);
}

std::string DigestStream::Bytes() {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  CHECK_EQ(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), &size), 1);
  digest.resize(size);
  return digest;
}

Sha256Stream::Sha256Stream() : DigestStream(EVP_sha256()) {}
std::string Sha256Stream::Hex() { return absl::BytesToHexString(Bytes()); }

Md5Stream::Md5Stream() : DigestStream(EVP_md5()) {}
std::string Md5Stream::Base64() { return absl::Base64Escape(Bytes()); }

}  // namespace armature::files
