#include "storage/base/fault_points.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace armature {
namespace {

struct Armed {
  std::string name;
  std::string file;  // file to wait for; empty: kill the process
  std::atomic<int> passes_left{0};
};

void Arm(std::string_view text, Armed* armed) {
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    armed->name = std::string(text.substr(0, at));
    armed->file = std::string(text.substr(at + 1));
    return;
  }
  const size_t colon = text.rfind(':');
  armed->name = std::string(text.substr(0, colon));
  int count = 1;
  if (colon != std::string_view::npos) std::from_chars(text.data() + colon + 1, text.data() + text.size(), count);
  armed->passes_left = count;
}

Armed& ArmedPoint() {
  static Armed armed;
  static const bool kRead = [] {
    if (const char* const text = std::getenv("ARMATURE_FAULT_POINT"); text != nullptr) Arm(text, &armed);
    return true;
  }();
  static_cast<void>(kRead);
  return armed;
}

// Does not wait if the file cannot be opened.
void WaitForFile(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  flock(descriptor, LOCK_SH);
  close(descriptor);
}

}  // namespace

void PassFaultPoint(std::string_view name) {
  Armed& armed = ArmedPoint();
  if (armed.name.empty() || armed.name != name) return;
  if (!armed.file.empty()) return WaitForFile(armed.file);
  if (armed.passes_left.fetch_sub(1) == 1) kill(getpid(), SIGKILL);
}

}  // namespace armature
