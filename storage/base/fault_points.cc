#include "storage/base/fault_points.h"

#include <signal.h>
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
  std::atomic<int> passes_left{0};
};

Armed& ArmedPoint() {
  static Armed armed;
  static const bool kRead = [] {
    const char* text = std::getenv("ARMATURE_FAULT_POINT");
    if (text == nullptr) return true;
    const std::string_view all(text);
    const size_t colon = all.rfind(':');
    armed.name = std::string(all.substr(0, colon));
    int count = 1;
    if (colon != std::string_view::npos) {
      std::from_chars(all.data() + colon + 1, all.data() + all.size(), count);
    }
    armed.passes_left = count;
    return true;
  }();
  static_cast<void>(kRead);
  return armed;
}

}  // namespace

void PassFaultPoint(std::string_view name) {
  Armed& armed = ArmedPoint();
  if (armed.name.empty() || armed.name != name) return;
  if (armed.passes_left.fetch_sub(1) == 1) kill(getpid(), SIGKILL);
}

}  // namespace armature
