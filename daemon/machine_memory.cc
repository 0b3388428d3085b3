#include "daemon/machine_memory.h"

#include <jemalloc/jemalloc.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The number that is the first line of `path`. Version 2 writes "max" for no limit, version 1 a number larger than
// any memory.
uint64_t LimitIn(const std::string& path) {
  const std::vector<std::string> lines = Lines(path);
  uint64_t bytes = 0;
  return !lines.empty() && absl::SimpleAtoi(Av(lines.front()), &bytes) ? bytes : kUnlimited;
}

uint64_t MachineMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The least limit of the group `path` below `mount` and of the groups above it.
uint64_t GroupLimit(const std::string& mount, std::string path, std::string_view file) {
  uint64_t limit = kUnlimited;
  while (true) {
    limit = std::min(limit, LimitIn(Cat(mount, path, path.ends_with('/') ? "" : "/", file)));
    const size_t end = path.find_last_of('/');
    if (end == std::string::npos || path.size() <= 1) return limit;
    path.resize(std::max<size_t>(end, 1));
  }
}

}  // namespace

uint64_t UsableMemory(const std::string& root) {
  uint64_t memory = MachineMemory();
  // Each line is "hierarchy:controllers:path". Inside a container the path may be that of the host, which is not
  // mounted there; the limit is then in the root of the mount.
  for (const std::string& line : Lines(root + "/proc/self/cgroup")) {
    const std::vector<std::string> fields = absl::StrSplit(Av(line), absl::MaxSplits(':', 2));
    if (fields.size() != 3 || !fields[2].starts_with('/')) continue;
    const std::vector<std::string> controllers = absl::StrSplit(Av(fields[1]), ',');
    if (fields[1].empty()) {
      memory = std::min(memory, GroupLimit(root + "/sys/fs/cgroup", fields[2], "memory.max"));
    } else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      memory = std::min(memory, GroupLimit(root + "/sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes"));
    }
  }
  return memory;
}

void GiveBackSoon() {
  ssize_t decay_ms = 500;
  // Arenas that are made later, then those that are there.
  mallctl("arenas.dirty_decay_ms", nullptr, nullptr, &decay_ms, sizeof decay_ms);
  unsigned arenas = 0;
  size_t size = sizeof arenas;
  if (mallctl("arenas.narenas", &arenas, &size, nullptr, 0) != 0) return;
  for (unsigned i = 0; i < arenas; ++i) {
    const std::string name = Cat("arena.", i, ".dirty_decay_ms");
    mallctl(name.c_str(), nullptr, nullptr, &decay_ms, sizeof decay_ms);
  }
}

}  // namespace armature::daemon
