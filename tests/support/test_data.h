#ifndef ARMATURE_TESTS_SUPPORT_TEST_DATA_H_
#define ARMATURE_TESTS_SUPPORT_TEST_DATA_H_

#include <string>
#include <string_view>

namespace armature::test {

// The absolute path of a file in tests/data, wherever the test runs. (__FILE__ will not do: compiler caches make it
// relative.)
std::string TestDataPath(std::string_view file);

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_TEST_DATA_H_
