#ifndef ARMATURE_TESTS_SUPPORT_TEMP_DIR_H_
#define ARMATURE_TESTS_SUPPORT_TEMP_DIR_H_

// Temporary directories of tests.

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace armature::test {

// A new directory below $TMPDIR or `parent`, removed with its content by the destructor.
//
// Errors: throws std::system_error if it cannot be created.
class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_((parent / "armature_test_XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp " + path_);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // The path of a file or directory in it, which need not exist.
  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_TEMP_DIR_H_
