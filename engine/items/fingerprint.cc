#include "engine/items/fingerprint.h"

#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "storage/base/strings.h"
#include "storage/store/commit/idempotency.h"

namespace armature::engine {

void Fingerprint::Add(std::string_view part) { absl::StrAppend(&bytes_, part.size(), ":", Av(part)); }

void Fingerprint::AddOptional(const std::optional<std::string>& part) {
  if (part.has_value()) {
    Add(*part);
  } else {
    bytes_ += '-';
  }
}

std::string Fingerprint::Finish() const {
  static_assert(sizeof(XXH128_canonical_t) == store::TokenRecord::kFingerprintBytes);
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes_.data(), bytes_.size()));
  return {reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest)};
}

}  // namespace armature::engine
