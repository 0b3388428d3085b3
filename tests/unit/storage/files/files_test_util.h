#ifndef ARMATURE_TESTS_UNIT_STORAGE_FILES_FILES_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_STORAGE_FILES_FILES_TEST_UTIL_H_

// A directory for one test, and its files.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "storage/files/output_file.h"

namespace armature::files {

class FilesTest : public testing::Test {
 protected:
  FilesTest()
      : directory_(Cat(testing::TempDir(), "/",
                       testing::UnitTest::GetInstance()->current_test_info()->test_suite_name(), "_",
                       testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
  }
  ~FilesTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(std::string_view name) const { return Cat(directory_, "/", name); }

  std::string Write(std::string_view name, std::string_view content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }

  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  // The text, compressed.
  std::string Packed(std::string_view text, Compression compression) const {
    const auto file = OutputFile::Create(Path("packed"), compression);
    EXPECT_TRUE(file.ok() && (*file)->Write(text).ok() && (*file)->Finish().ok());
    return Read(Path("packed"));
  }

  const std::string directory_;
};

}  // namespace armature::files

#endif  // ARMATURE_TESTS_UNIT_STORAGE_FILES_FILES_TEST_UTIL_H_
