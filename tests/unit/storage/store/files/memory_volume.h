#ifndef ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_MEMORY_VOLUME_H_
#define ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_MEMORY_VOLUME_H_

// A volume in memory, with crashes and faults.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "storage/store/files/volume.h"

namespace armature::store {

class MemoryState;

// Files that outlast crashes. Content that was not synced, and names in directories that were not synced, are lost by
// Crash().
//
// Thread-safety: thread-safe.
class MemoryDisk {
 public:
  MemoryDisk();
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  // The disk as a volume. It may be destroyed after the disk.
  std::unique_ptr<Volume> Mount();

  // Loses everything that is not durable. All mounted volumes refuse all calls from now on, so that nothing of before
  // changes the disk. `keep` chooses how much of a file stays that was appended to since it was synced: from `synced`
  // to `written` bytes. Null: nothing.
  using Keep = std::function<uint64_t(std::string_view path, uint64_t synced, uint64_t written)>;
  void Crash(const Keep& keep = nullptr);

  // Called before each action, without locks held. The action fails with the status that it returns, and does nothing.
  // kName: a name is made, changed or removed.
  enum class Action { kRead, kWrite, kSync, kName, kSyncNames };
  using Fault = std::function<absl::Status(Action action, std::string_view path)>;
  void SetFault(Fault fault);

  // 1 GiB at first.
  void SetSize(uint64_t bytes);

 private:
  const std::shared_ptr<MemoryState> state_;
};

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_MEMORY_VOLUME_H_
