#ifndef ARMATURE_STORAGE_STORE_DURABLE_FILE_H_
#define ARMATURE_STORAGE_STORE_DURABLE_FILE_H_

// Small files written atomically with respect to crashes, and files used as process locks. Inside the store only.

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::store {

// Suffix of a file that WriteDurably has not completed yet.
inline constexpr std::string_view kUnfinishedSuffix = ".new";

// Status for errno `error` of the action `what` on `path`: ResourceExhausted if space or descriptors are lacking,
// Unavailable otherwise.
absl::Status ErrnoError(std::string_view what, std::string_view path, int error);
// True if `error` means that no more space is available, or that the process or the system has no descriptor left: a
// retry may succeed later.
bool IsShortageError(int error);
// True if `text`, which quotes a system error, is about a lack of descriptors.
bool IsAboutDescriptors(std::string_view text);

// Writes a file atomically: after a crash the file is complete, or as it was before.
absl::Status WriteDurably(const std::string& path, std::string_view text);
// Makes the entries of a directory durable.
absl::Status SyncDirectory(const std::string& path);
// Creates directory `path` and its missing parents, durably.
absl::Status MakeDirectories(const std::string& path);
// True if `path` names a file or directory; false also where the file system cannot tell.
bool PathExists(const std::string& path);
// Errors: NotFound, Unavailable.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// An open file, locked with flock until destroyed.
class LockedFile {
 public:
  // kSharedIfPossible tolerates a file system without locks, which is read-only as a rule.
  enum class Mode { kShared, kSharedIfPossible, kAlone };
  LockedFile() = default;
  // Opens and locks `path`. kAlone with `make` creates a missing file. Errors: NotFound; FailedPrecondition if another
  // process holds a conflicting lock; Unavailable.
  static absl::StatusOr<LockedFile> Open(const std::string& path, Mode mode, bool make);
  LockedFile(LockedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LockedFile& operator=(LockedFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~LockedFile();

  // False if the file was removed, perhaps before the lock was taken.
  bool IsLinked() const;

 private:
  explicit LockedFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DURABLE_FILE_H_
