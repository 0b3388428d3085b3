#ifndef ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_MEMORY_VOLUME_STATE_H_
#define ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_MEMORY_VOLUME_STATE_H_

// Files and names of a MemoryDisk, now and after a crash.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/store/files/volume.h"
#include "tests/unit/storage/store/files/memory_volume.h"

namespace armature::store {

// Content of a file. Guarded by the mutex of its state.
struct MemoryNode {
  explicit MemoryNode(uint64_t number) : id(number) {}

  const uint64_t id;  // of the file, also behind a crash
  std::string bytes;
  std::string durable;
  bool is_rewritten = false;  // `durable` is not the begin of `bytes`
  size_t shared_locks = 0;
  bool is_locked_alone = false;
};

using MemoryNodePtr = std::shared_ptr<MemoryNode>;
// Files, and directories (null), by normal path.
using MemoryNames = std::map<std::string, MemoryNodePtr, std::less<>>;

// Thread-safety: thread-safe.
class MemoryState {
 public:
  void Crash(const MemoryDisk::Keep& keep);
  void SetFault(MemoryDisk::Fault fault);
  void SetSize(uint64_t bytes);

 private:
  friend class MemoryMount;
  friend class MemoryFile;
  friend class MemoryLock;

  uint64_t Used() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  absl::Status CheckRoom(uint64_t more) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  mutable absl::Mutex mutex;
  uint64_t boot ABSL_GUARDED_BY(mutex) = 1;
  uint64_t number ABSL_GUARDED_BY(mutex) = 0;
  uint64_t size ABSL_GUARDED_BY(mutex) = uint64_t{1} << 30;
  MemoryNames names ABSL_GUARDED_BY(mutex) = {{"/", nullptr}};
  MemoryNames durable ABSL_GUARDED_BY(mutex) = {{"/", nullptr}};
  MemoryDisk::Fault fault ABSL_GUARDED_BY(mutex);
};

class MemoryMount;

// An open file.
//
// Thread-safety: thread-safe.
class MemoryFile {
 public:
  MemoryFile(std::shared_ptr<const MemoryMount> mount, std::string path, MemoryNodePtr node)
      : mount_(std::move(mount)), path_(std::move(path)), node_(std::move(node)) {}

  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* to) const;
  absl::Status Append(std::string_view bytes);
  absl::Status WriteAt(uint64_t offset, std::string_view bytes);
  // Shortens the file, not durably.
  absl::Status Cut(uint64_t size);
  absl::Status Sync();
  uint64_t Size() const;
  uint64_t id() const { return node_->id; }

 private:
  std::shared_ptr<const MemoryMount> mount_;
  std::string path_;
  MemoryNodePtr node_;
};

// The files of a state until its next crash. Paths need not be normal. Errors as Volume's, and AlreadyExists.
//
// Thread-safety: thread-safe.
class MemoryMount : public std::enable_shared_from_this<MemoryMount> {
 public:
  explicit MemoryMount(std::shared_ptr<MemoryState> state);

  static std::string Normal(std::string_view path);

  absl::StatusOr<MemoryFile> Open(const std::string& path) const;
  // Makes a file, or empties it.
  absl::StatusOr<MemoryFile> Create(const std::string& path) const;
  absl::StatusOr<bool> Exists(const std::string& path) const;
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) const;
  absl::Status MakeDirectory(const std::string& path) const;
  absl::Status SyncDirectory(const std::string& path) const;
  absl::StatusOr<bool> Remove(const std::string& path) const;
  absl::Status Rename(const std::string& from, const std::string& to) const;
  absl::Status Link(const std::string& from, const std::string& to) const;
  absl::StatusOr<std::unique_ptr<VolumeLock>> Lock(const std::string& path, bool alone, bool make) const;
  DiskUsage Measure() const;
  uint64_t NextNumber() const;
  uint64_t boot() const { return boot_; }

  // Errors: Unavailable behind a crash; those of the fault.
  absl::Status Begin(MemoryDisk::Action action, std::string_view path) const;
  absl::Status CheckBoot() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mutex);
  MemoryState* state() const { return state_.get(); }

 private:
  // Errors: NotFound unless the directory of `path` is there.
  absl::Status CheckParent(const std::string& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mutex);

  const std::shared_ptr<MemoryState> state_;
  const uint64_t boot_;
};

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_MEMORY_VOLUME_STATE_H_
