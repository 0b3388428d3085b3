#ifndef ARMATURE_TESTS_UNIT_ENGINE_RANDOM_VALUES_H_
#define ARMATURE_TESTS_UNIT_ENGINE_RANDOM_VALUES_H_

// Random decisions, and random values with few different ones, so that values are often equal.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/random.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine {

class RandomValues : public test::Random {
 public:
  explicit RandomValues(uint64_t seed);

  // One of at most `of` values.
  Scalar Value(char type, size_t of);
  // One of about a hundred strings or binaries.
  Scalar LongValue(char type);
  // A value that does not fit an index key of `type`: of another type, empty, or too long.
  Scalar Unfit(char type);

  // The item in wire form as a client may send it: attributes in any order, numbers in any text form.
  std::string Written(const ModelItem& item);

 private:
  std::vector<std::string> numbers_;                    // plain, all different
  std::map<std::string, std::set<std::string>> texts_;  // all their texts
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_RANDOM_VALUES_H_
