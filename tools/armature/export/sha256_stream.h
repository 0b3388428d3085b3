#ifndef ARMATURE_TOOLS_ARMATURE_EXPORT_SHA256_STREAM_H_
#define ARMATURE_TOOLS_ARMATURE_EXPORT_SHA256_STREAM_H_

// Computes the SHA-256 of a stream of bytes.

#include <string>
#include <string_view>

namespace armature::cli {

// Not thread-safe.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void Add(std::string_view bytes);

  // The digest of all added bytes, in lower case. Called once.
  std::string Hex();

 private:
  void* const context_;  // an EVP_MD_CTX
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_EXPORT_SHA256_STREAM_H_
