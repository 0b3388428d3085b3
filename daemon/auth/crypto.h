#ifndef ARMATURE_DAEMON_AUTH_CRYPTO_H_
#define ARMATURE_DAEMON_AUTH_CRYPTO_H_

// The few primitives that signatures and secrets need, from OpenSSL.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace armature::daemon {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(std::string_view bytes);
Sha256Digest HmacSha256(std::string_view key, std::string_view message);

inline std::string_view BytesOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// In lower case.
std::string Hex(const Sha256Digest& digest);

// Takes the same time for equal and for different bytes of one length. The lengths are not secret.
bool EqualInConstantTime(std::string_view a, std::string_view b);

// From OpenSSL's random generator.
std::string RandomBytes(size_t count);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_CRYPTO_H_
