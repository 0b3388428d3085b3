#ifndef ARMATURE_TESTS_CONFORMANCE_TRANSFER_DIRECTORIES_H_
#define ARMATURE_TESTS_CONFORMANCE_TRANSFER_DIRECTORIES_H_

// The directories of exports and imports, with the files that the cases read.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "storage/base/strings.h"
#include "tests/support/temp_dir.h"

namespace armature::conformance {

// A bucket `bucket` in each directory.
class TransferDirectories {
 public:
  TransferDirectories() {
    std::filesystem::create_directories(directory_.path("out/bucket"));
    Write("items/1.json", R"({"Item": {"p": {"S": "a"}, "n": {"N": "1"}}}
{"Item": {"p": {"S": "b"}, "n": {"N": "2"}}}
)");
    Write("items/2.json", R"({"Item": {"p": {"S": "c"}}}
no item
{"Item": {"q": {"S": "without a key"}}}
)");
    Write("good/1.json", R"({"Item": {"p": {"S": "a"}}}{"Item": {"p": {"S": "b"}}} {"Item": {"p": {"S": "c"}}}
{"Item": {"p": {"S": "d"}}}
)");
    Write("bare.json", R"({"p": {"S": "a"}}
{"Item": {"p": {"S": "b"}}}
)");
    Write("table.csv", "p,n\na,1\nb,2\n");
    Write("semicolon.txt", "a;1\nb;2\nc;3\n");
  }

  std::string out() const { return directory_.path("out"); }
  std::string in() const { return directory_.path("in"); }

 private:
  void Write(std::string_view name, std::string_view text) const {
    const std::filesystem::path path = directory_.path(Cat("in/bucket/", name));
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  test::TempDir directory_;
};

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_TRANSFER_DIRECTORIES_H_
