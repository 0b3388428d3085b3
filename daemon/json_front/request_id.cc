#include "daemon/json_front/request_id.h"

#include <sys/random.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace armature::daemon {
namespace {

constexpr size_t kLength = 52;
constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345";
constexpr unsigned kBitsPerLetter = 5;
constexpr unsigned kLettersPerNumber = 12;

// xoshiro256**, a public-domain generator by Blackman and Vigna: a few instructions per 64 bits.
class Generator {
 public:
  Generator() {
    if (getrandom(state_.data(), sizeof(state_), 0) == static_cast<ssize_t>(sizeof(state_))) return;
    // Unlikely. Ids then depend on the time and the thread only.
    state_ = {static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()),
              reinterpret_cast<uint64_t>(this), 1, 2};
  }

  uint64_t Next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

 private:
  std::array<uint64_t, 4> state_{};
};

}  // namespace

std::string NewRequestId() {
  thread_local Generator generator;
  std::string id(kLength, '\0');
  uint64_t bits = 0;
  for (size_t i = 0; i < kLength; ++i) {
    if (i % kLettersPerNumber == 0) bits = generator.Next();
    id[i] = kLetters[bits & ((1U << kBitsPerLetter) - 1)];
    bits >>= kBitsPerLetter;
  }
  return id;
}

}  // namespace armature::daemon
