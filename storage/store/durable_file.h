#ifndef ARMATURE_STORAGE_STORE_DURABLE_FILE_H_
#define ARMATURE_STORAGE_STORE_DURABLE_FILE_H_

// Small files of our own, written so that a crash leaves them whole, and files that processes lock. Inside the store
// only.

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::store {

// What WriteDurably adds to the name of a file that is not whole yet.
inline constexpr std::string_view kUnfinishedSuffix = ".new";

// errno `error` of doing `what` to `path`: ResourceExhausted if there is no space, Unavailable otherwise.
absl::Status ErrnoError(std::string_view what, std::string_view path, int error);
// Whether `error` is one of the ways to have no more space.
bool IsNoSpaceError(int error);

// Writes a file so that after a crash it is there whole or not at all, or as it was before.
absl::Status WriteDurably(const std::string& path, std::string_view text);
// Makes entries of a directory durable.
absl::Status SyncDirectory(const std::string& path);
// Makes directory `path` and what is missing above it, durably.
absl::Status MakeDirectories(const std::string& path);
// Whether `path` names a file or directory; false where that cannot be told.
bool PathExists(const std::string& path);
// Errors: NotFound, Unavailable.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// An open file with a lock (flock), until destroyed.
class LockedFile {
 public:
  enum class Mode { kShared, kAlone };
  LockedFile() = default;
  // Opens `path`, which is made with kAlone and `make`, and locks it if nobody else is in the way.
  // Errors: NotFound; FailedPrecondition if it is locked; Unavailable.
  static absl::StatusOr<LockedFile> Open(const std::string& path, Mode mode, bool make);
  LockedFile(LockedFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LockedFile& operator=(LockedFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~LockedFile();

  // Whether the file still has a name: it may have been removed before the lock was taken.
  bool IsLinked() const;

 private:
  explicit LockedFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DURABLE_FILE_H_
