#ifndef ARMATURE_ENGINE_TRANSFER_TRANSFER_FILES_H_
#define ARMATURE_ENGINE_TRANSFER_TRANSFER_FILES_H_

// Directories and files of exports, imports and bulk operations. A bucket is a directory below the one that the
// operator has allowed, and a prefix is a path below the bucket. Neither may lead out of it: names like .. are refused,
// and symbolic links are not followed.
//
// All functions block.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::engine {

// Limit on files of one input.
inline constexpr size_t kInputFilesMax = 100'000;

// Checks a prefix, which may be empty or end with a slash: no part is empty, . or .., or has more than 255 bytes or a
// control character. Errors: ValidationException.
absl::Status CheckFilePrefix(std::string_view prefix);

// The directory of the bucket. Errors: NotFound if it does not exist or is no directory; Unavailable.
absl::StatusOr<std::string> FindBucket(const std::string& root, const std::string& bucket);

// Creates the directories of `path`, relative to `base`, for the daemon's user only. Returns the last one. Errors:
// Unavailable, with the directory and the reason.
absl::StatusOr<std::string> MakeDirectories(const std::string& base, std::string_view path);

// Removes the files in `directory`, which has no directories of its own.
absl::Status RemoveFiles(const std::string& directory);

struct InputFile {
  std::string name;  // below the bucket
  int64_t size = 0;
};

// The regular files whose names below `bucket` begin with `prefix`, in the order of their names. Names that begin with
// a dot are left out, as are symbolic links. Errors: ResourceExhausted beyond kInputFilesMax; Unavailable.
absl::StatusOr<std::vector<InputFile>> ListInput(const std::string& bucket, const std::string& prefix);

// An error that ends a job, with the code that descriptions show. JobFailureCode returns it; for errors without one,
// "InternalServerError".
absl::Status JobFailure(std::string_view code, std::string_view text);
std::string JobFailureCode(const absl::Status& status);
// The error for a bucket that does not exist.
absl::Status NoSuchBucketFailure(std::string_view bucket);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_TRANSFER_FILES_H_
