#ifndef ARMATURE_ENGINE_TRANSFER_TRANSFER_FILES_H_
#define ARMATURE_ENGINE_TRANSFER_TRANSFER_FILES_H_

// Directories and files of exports, imports and bulk operations. A bucket is a directory below the one that the
// operator has allowed, and a prefix is a path below the bucket. Neither may lead out of it: names like .. are refused,
// and symbolic links are not followed.
//
// All functions block. Directories are held open: what is opened, made or removed in one is below the bucket, whatever
// has been put in the place of its path meanwhile.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/transfer/item_files.h"
#include "storage/base/file_descriptor.h"

namespace armature::engine {

// Limit on files of one input.
inline constexpr size_t kInputFilesMax = 100'000;

// Checks a prefix, which may be empty or end with a slash: no part is empty, . or .., or has more than 255 bytes or a
// control character. Errors: ValidationException.
absl::Status CheckFilePrefix(std::string_view prefix);

// A directory that is open. Immutable.
struct OpenDirectory {
  FileDescriptor fd;
  std::string path;  // for messages
};
using DirectoryPtr = std::shared_ptr<const OpenDirectory>;

// The directory of the bucket. Errors: NotFound if it does not exist or is no directory; Unavailable.
absl::StatusOr<DirectoryPtr> FindBucket(const std::string& root, const std::string& bucket);

// Creates the directories of `path`, relative to `base`, for the daemon's user only. Returns the last one. Errors:
// Unavailable, with the directory and the reason.
absl::StatusOr<DirectoryPtr> MakeDirectories(const DirectoryPtr& base, std::string_view path);

// The place of a new file in `directory`, which must stay open as long as the file is written.
inline ItemFileTarget TargetIn(const OpenDirectory& directory, std::string name) {
  return {directory.fd.get(), directory.path, std::move(name)};
}

// Removes the files in `directory`, which has no directories of its own.
absl::Status RemoveFiles(const OpenDirectory& directory);

// Removes a file, if it is there.
absl::Status RemoveFile(const OpenDirectory& directory, const std::string& name);

// A file as it was when it was listed.
struct InputFile {
  std::string name;  // below the bucket
  int64_t size = 0;
  dev_t device = 0;
  ino_t inode = 0;
  int64_t changed_ns = 0;  // time of the last change of its content

  bool operator==(const InputFile&) const = default;
};

// The regular files whose names below `bucket` begin with `prefix`, in the order of their names. Names that begin with
// a dot are left out, as are symbolic links. Errors: ResourceExhausted beyond kInputFilesMax; Unavailable.
absl::StatusOr<std::vector<InputFile>> ListInput(const DirectoryPtr& bucket, const std::string& prefix);

// Opens a listed file. Errors: InputChangedFailure if it is gone, or another file or a symbolic link has its place;
// Unavailable.
absl::StatusOr<FileDescriptor> OpenInput(const DirectoryPtr& bucket, const InputFile& file);

// Errors: InputChangedFailure if the content of the open file has changed since it was listed.
absl::Status CheckInput(const FileDescriptor& opened, const InputFile& file);

// An error that ends a job, with the code that descriptions show. JobFailureCode returns it; for errors without one,
// "InternalServerError".
absl::Status JobFailure(std::string_view code, std::string_view text);
std::string JobFailureCode(const absl::Status& status);
// The error for a bucket that does not exist.
absl::Status NoSuchBucketFailure(std::string_view bucket);
// The code of the error for input that is not what it was when the job began.
inline constexpr std::string_view kInputChanged = "InputChanged";
// The error for an input file that is gone or has changed.
absl::Status InputChangedFailure(std::string_view file, std::string_view reason);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_TRANSFER_FILES_H_
