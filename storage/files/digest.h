#ifndef ARMATURE_STORAGE_FILES_DIGEST_H_
#define ARMATURE_STORAGE_FILES_DIGEST_H_

// Digests of streams of bytes.

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // of OpenSSL
struct evp_md_st;

namespace armature::files {

// Not thread-safe.
class DigestStream {
 public:
  void Add(std::string_view bytes);

 protected:
  explicit DigestStream(const evp_md_st* kind);
  ~DigestStream() = default;
  // The digest of all added bytes. Called once.
  std::string Bytes();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

class Sha256Stream final : public DigestStream {
 public:
  Sha256Stream();

  // The digest of all added bytes, in lower case. Called once.
  std::string Hex();
};

// For formats that document an MD5. It finds accidental damage only.
class Md5Stream final : public DigestStream {
 public:
  Md5Stream();

  // The digest of all added bytes. Called once.
  std::string Base64();
};

}  // namespace armature::files

#endif  // ARMATURE_STORAGE_FILES_DIGEST_H_
