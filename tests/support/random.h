#ifndef ARMATURE_TESTS_SUPPORT_RANDOM_H_
#define ARMATURE_TESTS_SUPPORT_RANDOM_H_

// Random decisions of tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace armature::test {

// Equal seeds make equal decisions.
//
// Thread-safety: thread-compatible.
class Random {
 public:
  explicit Random(uint64_t seed) : rng_(seed) {}

  // 0 to n - 1.
  template <class Integer>
  Integer Below(Integer n) {
    return std::uniform_int_distribution<Integer>(0, n - 1)(rng_);
  }
  template <class Integer>
  bool OneIn(Integer n) {
    return Below(n) == 0;
  }
  template <class Container>
  const auto& Pick(const Container& container) {
    return *std::next(std::begin(container), static_cast<ptrdiff_t>(Below(std::size(container))));
  }
  template <class T>
  void Shuffle(std::vector<T>* these) {
    std::shuffle(these->begin(), these->end(), rng_);
  }

  std::mt19937_64& rng() { return rng_; }

 private:
  std::mt19937_64 rng_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_RANDOM_H_
