#include "storage/base/fault_points.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

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

struct PointCall {
  std::atomic<bool> is_set{false};
  absl::Mutex mutex;
  std::string name ABSL_GUARDED_BY(mutex);
  std::function<void()> call ABSL_GUARDED_BY(mutex);
};

PointCall& TheCall() {
  static PointCall call;
  return call;
}

void MakeCall(std::string_view name) {
  PointCall& point = TheCall();
  if (!point.is_set.load(std::memory_order_acquire)) return;
  const absl::MutexLock lock(&point.mutex);
  if (point.call != nullptr && point.name == name) point.call();
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
  MakeCall(name);
  Armed& armed = ArmedPoint();
  if (armed.name.empty() || armed.name != name) return;
  if (!armed.file.empty()) return WaitForFile(armed.file);
  if (armed.passes_left.fetch_sub(1) == 1) kill(getpid(), SIGKILL);
}

void SetFaultPointCall(std::string name, std::function<void()> call) {
  PointCall& point = TheCall();
  const absl::MutexLock lock(&point.mutex);
  point.is_set.store(call != nullptr, std::memory_order_release);
  point.name = std::move(name);
  point.call = std::move(call);
}

}  // namespace armature
