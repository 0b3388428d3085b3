// Runs a fuzz target over all files of the given directories. Exit code 1 if there are none.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      // The name is printed first, because a failing target ends the process.
      std::cout << entry.path().filename().string() << std::endl;
      std::ifstream in(entry.path(), std::ios::binary);
      // A copy of exact size, so that the address sanitizer sees a read beyond the end.
      const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::cout << files << " inputs" << std::endl;
  return files > 0 ? 0 : 1;
}
