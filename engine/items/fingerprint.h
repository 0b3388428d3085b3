#ifndef ARMATURE_ENGINE_ITEMS_FINGERPRINT_H_
#define ARMATURE_ENGINE_ITEMS_FINGERPRINT_H_

// Fingerprints of requests, by which a repeat of a request with a token is recognised.

#include <optional>
#include <string>
#include <string_view>

namespace armature::engine {

// Unambiguous serialization of the parts of a request: different parts have different bytes. Fingerprints are stored
// with their tokens, so they must not change between versions while tokens are valid.
//
// Thread-safety: thread-compatible.
class Fingerprint {
 public:
  void Add(std::string_view part);
  // An absent part differs from an empty one.
  void AddOptional(const std::optional<std::string>& part);
  // The hash of the parts, of store::TokenRecord::kFingerprintBytes.
  std::string Finish() const;

 private:
  std::string bytes_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_FINGERPRINT_H_
