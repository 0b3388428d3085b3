#ifndef ARMATURE_TESTS_SUPPORT_TEST_DATA_H_
#define ARMATURE_TESTS_SUPPORT_TEST_DATA_H_

#include <string>
#include <string_view>

namespace armature::test {

// The absolute path of a file in tests/data, independent of the working directory. (__FILE__ is no help: compiler
// caches make it relative.)
std::string TestDataPath(std::string_view file);

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_TEST_DATA_H_
