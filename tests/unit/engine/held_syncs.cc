#include "tests/unit/engine/held_syncs.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <string_view>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace armature::engine {
namespace {

constexpr absl::Duration kSyncPatience = absl::Seconds(60);

struct SyncState {
  absl::Mutex mutex;
  bool held ABSL_GUARDED_BY(mutex) = false;
  int waiting ABSL_GUARDED_BY(mutex) = 0;
  int error ABSL_GUARDED_BY(mutex) = 0;
};

SyncState& TheSyncs() {
  static auto* const state = new SyncState;
  return *state;
}

bool IsLog(int descriptor) {
  char name[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = readlink(link.c_str(), name, sizeof(name));
  return size > 0 && std::string_view(name, static_cast<size_t>(size)).ends_with(".log");
}

// Returns the errno of a sync, 0 if it may succeed.
int PassSync() {
  SyncState& state = TheSyncs();
  const absl::MutexLock lock(&state.mutex);
  ++state.waiting;
  const auto is_free = [&state] {
    state.mutex.AssertHeld();
    return !state.held;
  };
  EXPECT_TRUE(state.mutex.AwaitWithTimeout(absl::Condition(&is_free), kSyncPatience));
  --state.waiting;
  return state.error;
}

}  // namespace

void HeldSyncs::Begin() {
  const absl::MutexLock lock(&TheSyncs().mutex);
  TheSyncs().held = true;
}

void HeldSyncs::AwaitOne() {
  SyncState& state = TheSyncs();
  const absl::MutexLock lock(&state.mutex);
  const auto is_held = [&state] {
    state.mutex.AssertHeld();
    return state.waiting > 0;
  };
  EXPECT_TRUE(state.mutex.AwaitWithTimeout(absl::Condition(&is_held), kSyncPatience));
}

void HeldSyncs::End(int error) {
  const absl::MutexLock lock(&TheSyncs().mutex);
  TheSyncs().held = false;
  TheSyncs().error = error;
}

}  // namespace armature::engine

// Takes the place of the C library's function for RocksDB.
extern "C" int fdatasync(int descriptor) {
  if (armature::engine::IsLog(descriptor)) {
    if (const int error = armature::engine::PassSync(); error != 0) {
      errno = error;
      return -1;
    }
  }
  return static_cast<int>(syscall(SYS_fdatasync, descriptor));
}
