#include "daemon/http/crc32.h"

#include <zlib.h>

#include <random>
#include <string>

#include "gtest/gtest.h"

namespace armature::daemon {
namespace {

TEST(Crc32, IsThatOfTheStandard) {
  EXPECT_EQ(Crc32(""), 0);
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926);
  EXPECT_EQ(Crc32(std::string(1 << 20, '\0')), 0xa738ea1c);
}

TEST(Crc32, AgreesWithZlibAtAllLengthsAndAlignments) {
  std::mt19937 random(20240607);
  std::string bytes(2000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t begin = 0; begin < 17; ++begin) {
    for (size_t size = 0; size < 1000; ++size) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      ASSERT_EQ(Crc32(part), crc32(0, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(size)))
          << begin << " " << size;
    }
  }
}

}  // namespace
}  // namespace armature::daemon
