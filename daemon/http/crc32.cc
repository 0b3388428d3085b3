#include "daemon/http/crc32.h"

#include <zlib.h>

#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace armature::daemon {
namespace {

uint32_t WithZlib(uint32_t crc, std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if defined(__x86_64__)

constexpr size_t kBlock = 64;  // four registers
constexpr size_t kLane = 16;

// The method and its constants are those of Intel's "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", for the reflected polynomial: powers of x modulo the polynomial, by which a register is moved that many
// bits ahead.
constexpr int64_t kAhead512High = 0x154442bd4;
constexpr int64_t kAhead512Low = 0x1c6e41596;
constexpr int64_t kAhead128High = 0x1751997d0;
constexpr int64_t kAhead128Low = 0x0ccaa009e;
constexpr int64_t kAhead64 = 0x163cd6124;
constexpr int64_t kPolynomial = 0x1db710641;
constexpr int64_t kReciprocal = 0x1f7011641;

#define ARM_CLMUL __attribute__((target("pclmul,sse4.1")))

ARM_CLMUL inline __m128i Load(const char* bytes) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)); }

ARM_CLMUL inline __m128i Fold(__m128i folded, __m128i ahead, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(folded, ahead, 0x00);
  const __m128i high = _mm_clmulepi64_si128(folded, ahead, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// From 128 bits to 64, and by Barrett's reduction to 32.
ARM_CLMUL uint32_t Reduce(__m128i folded) {
  const __m128i mask = _mm_setr_epi32(-1, 0, -1, 0);
  const __m128i ahead = _mm_set_epi64x(kAhead128Low, kAhead128High);
  folded = _mm_xor_si128(_mm_srli_si128(folded, 8), _mm_clmulepi64_si128(folded, ahead, 0x10));
  const __m128i upper = _mm_srli_si128(folded, 4);
  folded = _mm_clmulepi64_si128(_mm_and_si128(folded, mask), _mm_set_epi64x(0, kAhead64), 0x00);
  folded = _mm_xor_si128(folded, upper);
  const __m128i barrett = _mm_set_epi64x(kReciprocal, kPolynomial);
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(folded, mask), barrett, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, mask), barrett, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(folded, quotient), 1));
}

// `bytes`: at least one block, and whole lanes.
ARM_CLMUL uint32_t WithClmul(std::string_view bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  __m128i a = _mm_xor_si128(Load(p), _mm_cvtsi32_si128(-1));
  __m128i b = Load(p + kLane);
  __m128i c = Load(p + 2 * kLane);
  __m128i d = Load(p + 3 * kLane);
  const __m128i ahead_512 = _mm_set_epi64x(kAhead512Low, kAhead512High);
  for (p += kBlock; end - p >= static_cast<ptrdiff_t>(kBlock); p += kBlock) {
    a = Fold(a, ahead_512, Load(p));
    b = Fold(b, ahead_512, Load(p + kLane));
    c = Fold(c, ahead_512, Load(p + 2 * kLane));
    d = Fold(d, ahead_512, Load(p + 3 * kLane));
  }
  const __m128i ahead_128 = _mm_set_epi64x(kAhead128Low, kAhead128High);
  __m128i folded = Fold(Fold(Fold(a, ahead_128, b), ahead_128, c), ahead_128, d);
  for (; p < end; p += kLane) folded = Fold(folded, ahead_128, Load(p));
  return ~Reduce(folded);
}

#undef ARM_CLMUL

bool HasClmul() {
  static const bool kHas = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return kHas;
}

#endif

}  // namespace

uint32_t Crc32(std::string_view bytes) {
#if defined(__x86_64__)
  if (bytes.size() >= kBlock && HasClmul()) {
    const size_t whole = bytes.size() / kLane * kLane;
    return WithZlib(WithClmul(bytes.substr(0, whole)), bytes.substr(whole));
  }
#endif
  return WithZlib(0, bytes);
}

}  // namespace armature::daemon
