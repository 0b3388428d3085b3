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

// Lower case.
std::string Hex(const Sha256Digest& digest);

// Takes as long for equal as for different bytes. The lengths are no secret.
bool EqualInConstantTime(std::string_view a, std::string_view b);

// From the system's generator for keys.
std::string RandomBytes(size_t count);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_CRYPTO_H_
