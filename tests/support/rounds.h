#ifndef ARMATURE_TESTS_SUPPORT_ROUNDS_H_
#define ARMATURE_TESTS_SUPPORT_ROUNDS_H_

// The length of tests that repeat with random data.

namespace armature::test {

// Sanitizers make code about eight times as slow, and look for other faults than a wrong result: those are in every
// round.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kFewerWithSanitizers = 5;
#else
inline constexpr int kFewerWithSanitizers = 1;
#endif

// `rounds`, or a part of them in a build with a sanitizer.
template <class Integer>
constexpr Integer Rounds(Integer rounds) {
  return rounds / static_cast<Integer>(kFewerWithSanitizers);
}

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_ROUNDS_H_
