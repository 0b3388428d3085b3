#ifndef ARMATURE_DAEMON_MACHINE_MEMORY_H_
#define ARMATURE_DAEMON_MACHINE_MEMORY_H_

// The memory that this process may use. Budgets that are not configured are parts of it.

#include <cstdint>
#include <string>

namespace armature::daemon {

// Bytes: the memory of the machine, or the limit of this process's control group or of a group above it, whichever is
// least. Control groups of version 2 and the memory groups of version 1 are understood; unreadable files set no limit.
// `root` is put before the paths in /proc and /sys.
uint64_t UsableMemory(const std::string& root = {});

// Memory below which the process gives free memory back soon.
inline constexpr uint64_t kSmallMemory = uint64_t{1} << 30;

// Has the allocator give free memory back to the system after half a second instead of ten. It costs time: pages that
// are used again are zeroed by the system.
void GiveBackSoon();

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MACHINE_MEMORY_H_
