#ifndef ARMATURE_TESTS_FUZZ_ALLOCATED_BYTES_H_
#define ARMATURE_TESTS_FUZZ_ALLOCATED_BYTES_H_

// The memory that the process has allocated, for bounds on what an input may take.

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define ARMATURE_COUNTS_ALLOCATIONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARMATURE_COUNTS_ALLOCATIONS 1
#endif
#endif

#ifdef ARMATURE_COUNTS_ALLOCATIONS
#include <atomic>

// GCC has no header with them.
// NOLINTBEGIN(bugprone-reserved-identifier): names of the sanitizer's library
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, size_t),
                                                         void (*free_hook)(const volatile void*));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void* allocated);
// NOLINTEND(bugprone-reserved-identifier)
#else
#include <malloc.h>
#endif

namespace armature::fuzz {

// Bytes that are allocated and not freed, by all libraries. Only the difference of two results means anything.
inline int64_t AllocatedBytes() {
#ifdef ARMATURE_COUNTS_ALLOCATIONS
  // The address sanitizer's own figure includes what it keeps after it was freed.
  static std::atomic<int64_t> counted = 0;
  [[maybe_unused]] static const int kHooks = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t bytes) { counted += static_cast<int64_t>(bytes); },
      [](const volatile void* freed) { counted -= static_cast<int64_t>(__sanitizer_get_allocated_size(freed)); });
  return counted;
#else
  const auto info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
#endif
}

}  // namespace armature::fuzz

#endif  // ARMATURE_TESTS_FUZZ_ALLOCATED_BYTES_H_
