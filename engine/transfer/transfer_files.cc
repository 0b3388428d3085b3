#include "engine/transfer/transfer_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/cord.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

constexpr mode_t kPrivateDirectory = 0700;
constexpr size_t kPartMaxBytes = 255;
constexpr int kDepthMax = 32;
constexpr char kFailureCodeUrl[] = "armature/transfer-failure-code";

struct CloseListing {
  void operator()(DIR* directory) const { closedir(directory); }
};
using ListingPtr = std::unique_ptr<DIR, CloseListing>;

absl::Status FileError(std::string_view action, std::string_view path, int error) {
  return UnavailableError(Cat("cannot ", action, " ", path, ": ", std::strerror(error)));
}

bool IsValidPart(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.size() <= kPartMaxBytes &&
         std::none_of(part.begin(), part.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

// Takes the part before the next slash off the front of `path`.
std::string_view TakePart(std::string_view* path) {
  const size_t slash = path->find('/');
  const std::string_view part = path->substr(0, slash);
  path->remove_prefix(slash == std::string_view::npos ? path->size() : slash + 1);
  return part;
}

// True if a path leads to nothing, or over something that is no directory, such as a symbolic link.
bool IsNothingThere(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

FileDescriptor OpenDirectoryIn(const OpenDirectory& parent, std::string_view part) {
  return FileDescriptor(
      openat(parent.fd.get(), std::string(part).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The directory of `name`, which is below `base`, with `*name` cut to the part in it. Null, with errno, if one on the
// way is gone or is no directory.
DirectoryPtr EnterParents(const DirectoryPtr& base, std::string_view* name) {
  DirectoryPtr directory = base;
  while (name->find('/') != std::string_view::npos) {
    const std::string_view part = TakePart(name);
    FileDescriptor below = OpenDirectoryIn(*directory, part);
    if (!below.is_open()) return nullptr;
    directory = std::make_shared<OpenDirectory>(OpenDirectory{std::move(below), Cat(directory->path, "/", part)});
  }
  return directory;
}

InputFile AsListed(std::string name, const struct stat& status) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  return {.name = std::move(name),
          .size = status.st_size,
          .device = status.st_dev,
          .inode = status.st_ino,
          .changed_ns = status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec};
}

// The entries of a directory. Errors: Unavailable.
absl::StatusOr<std::vector<std::string>> NamesIn(const OpenDirectory& directory) {
  const int copy = openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const ListingPtr open(copy < 0 ? nullptr : fdopendir(copy));
  if (open == nullptr) {
    const int error = errno;
    if (copy >= 0) close(copy);
    return FileError("read", directory.path, error);
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return FileError("read", directory.path, errno);
  return names;
}

class InputLister {
 public:
  explicit InputLister(std::string_view prefix) : prefix_(prefix) {}

  // `above`: the names of the directories above, below the bucket; empty, or with a slash at its end.
  absl::Status Walk(const OpenDirectory& directory, const std::string& above, int depth) {
    if (depth > kDepthMax) return UnavailableError(Cat("too many directories inside each other: ", directory.path));
    ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(directory));
    for (const std::string& part : names) {
      if (part.front() == '.') continue;
      std::string name = Cat(above, part);
      if (!name.starts_with(prefix_)) continue;
      struct stat found = {};
      if (fstatat(directory.fd.get(), part.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (IsNothingThere(errno)) continue;
        return FileError("look at", Cat(directory.path, "/", part), errno);
      }
      if (S_ISREG(found.st_mode)) ARM_RETURN_IF_ERROR(Add(AsListed(std::move(name), found)));
      if (!S_ISDIR(found.st_mode)) continue;
      const OpenDirectory below{OpenDirectoryIn(directory, part), Cat(directory.path, "/", part)};
      if (below.fd.is_open()) {
        ARM_RETURN_IF_ERROR(Walk(below, Cat(above, part, "/"), depth + 1));
      } else if (!IsNothingThere(errno)) {
        return FileError("read", below.path, errno);
      }
    }
    return absl::OkStatus();
  }

  std::vector<InputFile> Take() {
    std::sort(files_.begin(), files_.end(), [](const InputFile& a, const InputFile& b) { return a.name < b.name; });
    return std::move(files_);
  }

 private:
  absl::Status Add(InputFile file) {
    if (files_.size() == kInputFilesMax) {
      return absl::ResourceExhaustedError(Cat("the input has more than ", kInputFilesMax, " files"));
    }
    files_.push_back(std::move(file));
    return absl::OkStatus();
  }

  const std::string_view prefix_;
  std::vector<InputFile> files_;
};

}  // namespace

absl::Status CheckFilePrefix(std::string_view prefix) {
  std::string_view rest = prefix;
  while (!rest.empty()) {
    if (!IsValidPart(TakePart(&rest))) {
      return ValidationError(Cat("The prefix ", prefix, " is not a path below its bucket"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DirectoryPtr> FindBucket(const std::string& root, const std::string& bucket) {
  if (root.empty()) return absl::NotFoundError("there is no directory of buckets");
  const OpenDirectory above{FileDescriptor(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), root};
  if (above.fd.is_open()) {
    FileDescriptor found = OpenDirectoryIn(above, bucket);
    if (found.is_open()) {
      return std::make_shared<OpenDirectory>(OpenDirectory{std::move(found), Cat(root, "/", bucket)});
    }
  }
  if (IsNothingThere(errno)) return absl::NotFoundError(Cat(bucket, " is no directory"));
  return FileError("open", Cat(root, "/", bucket), errno);
}

absl::StatusOr<DirectoryPtr> MakeDirectories(const DirectoryPtr& base, std::string_view path) {
  DirectoryPtr made = base;
  while (!path.empty()) {
    const std::string part(TakePart(&path));
    std::string below = Cat(made->path, "/", part);
    if (mkdirat(made->fd.get(), part.c_str(), kPrivateDirectory) != 0 && errno != EEXIST) {
      return FileError("make the directory", below, errno);
    }
    FileDescriptor opened = OpenDirectoryIn(*made, part);
    if (!opened.is_open()) return FileError("make the directory", below, errno);
    made = std::make_shared<OpenDirectory>(OpenDirectory{std::move(opened), std::move(below)});
  }
  return made;
}

absl::Status RemoveFile(const OpenDirectory& directory, const std::string& name) {
  if (unlinkat(directory.fd.get(), name.c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  return FileError("remove", Cat(directory.path, "/", name), errno);
}

absl::Status RemoveFiles(const OpenDirectory& directory) {
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(directory));
  for (const std::string& name : names) ARM_RETURN_IF_ERROR(RemoveFile(directory, name));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<InputFile>> ListInput(const DirectoryPtr& bucket, const std::string& prefix) {
  std::string_view rest = prefix;
  const DirectoryPtr directory = EnterParents(bucket, &rest);
  if (directory == nullptr) {
    if (IsNothingThere(errno)) return std::vector<InputFile>();
    return FileError("read", Cat(bucket->path, "/", prefix), errno);
  }
  InputLister lister(prefix);
  ARM_RETURN_IF_ERROR(lister.Walk(*directory, prefix.substr(0, prefix.size() - rest.size()), 0));
  return lister.Take();
}

absl::StatusOr<FileDescriptor> OpenInput(const DirectoryPtr& bucket, const InputFile& file) {
  std::string_view part = file.name;
  const DirectoryPtr directory = EnterParents(bucket, &part);
  FileDescriptor opened;
  if (directory != nullptr) {
    // Opening a pipe in its place must not wait for a writer.
    constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    opened = FileDescriptor(openat(directory->fd.get(), std::string(part).c_str(), kFlags));
  }
  if (!opened.is_open()) {
    if (errno == ENOENT) return InputChangedFailure(file.name, "it is gone");
    if (IsNothingThere(errno)) return InputChangedFailure(file.name, "its path leads over a symbolic link or a file");
    return FileError("read", Cat(bucket->path, "/", file.name), errno);
  }
  ARM_RETURN_IF_ERROR(CheckInput(opened, file));
  return opened;
}

absl::Status CheckInput(const FileDescriptor& opened, const InputFile& file) {
  struct stat status = {};
  if (fstat(opened.get(), &status) != 0) return FileError("look at", file.name, errno);
  const InputFile found = AsListed(file.name, status);
  if (!S_ISREG(status.st_mode) || found.device != file.device || found.inode != file.inode) {
    return InputChangedFailure(file.name, "another file has its name");
  }
  if (found.size != file.size) {
    return InputChangedFailure(file.name, Cat("it has ", found.size, " bytes instead of ", file.size));
  }
  return found == file ? absl::OkStatus() : InputChangedFailure(file.name, "it was written");
}

absl::Status JobFailure(std::string_view code, std::string_view text) {
  absl::Status status = absl::FailedPreconditionError(Av(text));
  status.SetPayload(kFailureCodeUrl, absl::Cord(Av(code)));
  return status;
}

std::string JobFailureCode(const absl::Status& status) {
  const absl::optional<absl::Cord> code = status.GetPayload(kFailureCodeUrl);
  return code.has_value() ? std::string(*code) : "InternalServerError";
}

absl::Status NoSuchBucketFailure(std::string_view bucket) {
  return JobFailure("S3NoSuchBucket", Cat("The specified bucket does not exist: ", bucket));
}

absl::Status InputChangedFailure(std::string_view file, std::string_view reason) {
  return JobFailure(kInputChanged, Cat("The file ", file, " has changed since the job began: ", reason));
}

}  // namespace armature::engine
