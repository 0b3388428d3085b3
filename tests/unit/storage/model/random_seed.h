#ifndef ARMATURE_TESTS_UNIT_STORAGE_MODEL_RANDOM_SEED_H_
#define ARMATURE_TESTS_UNIT_STORAGE_MODEL_RANDOM_SEED_H_

// The seed of a property test: fresh in each run, and printed. Set ARMATURE_TEST_SEED to repeat a run.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace armature {

inline uint64_t PrintedTestSeed() {
  uint64_t seed = std::random_device()();
  if (const char* text = std::getenv("ARMATURE_TEST_SEED")) seed = std::strtoull(text, nullptr, 10);
  std::cout << "ARMATURE_TEST_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace armature

#endif  // ARMATURE_TESTS_UNIT_STORAGE_MODEL_RANDOM_SEED_H_
