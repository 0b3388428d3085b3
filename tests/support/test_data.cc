#include "tests/support/test_data.h"

namespace armature::test {

std::string TestDataPath(std::string_view file) { return std::string(ARMATURE_TEST_DATA "/").append(file); }

}  // namespace armature::test
