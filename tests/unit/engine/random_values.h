#ifndef ARMATURE_TESTS_UNIT_ENGINE_RANDOM_VALUES_H_
#define ARMATURE_TESTS_UNIT_ENGINE_RANDOM_VALUES_H_

// Random decisions, and random values of which few are different, so that they meet again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/engine/item_model.h"

namespace armature::engine {

class RandomValues {
 public:
  explicit RandomValues(uint64_t seed);

  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng_); }
  bool OneIn(size_t n) { return Below(n) == 0; }
  template <class T>
  const T& OneOf(const std::vector<T>& these) {
    return these[Below(these.size())];
  }
  template <class T>
  void Shuffle(std::vector<T>* these) {
    std::shuffle(these->begin(), these->end(), rng_);
  }

  // One of (at most) `of` values.
  Scalar Value(char type, size_t of);
  // One of about a hundred strings or binaries.
  Scalar LongValue(char type);
  // What does not fit an index key of `type`: of another type, empty, or too long.
  Scalar Unfit(char type);

  // The item on the wire as clients may write it: attributes in any order, numbers in any form.
  std::string Written(const ModelItem& item);

 private:
  std::mt19937_64 rng_;
  std::vector<std::string> numbers_;                    // plain, all different
  std::map<std::string, std::set<std::string>> texts_;  // all ways to write them
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_RANDOM_VALUES_H_
