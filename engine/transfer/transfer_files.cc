#include "engine/transfer/transfer_files.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
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

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using DirectoryPtr = std::unique_ptr<DIR, CloseDirectory>;

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

// Nullopt if nothing has this name. A symbolic link is not followed.
absl::StatusOr<std::optional<struct stat>> StatOf(const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) == 0) return found;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  return FileError("look at", path, errno);
}

class InputLister {
 public:
  InputLister(const std::string& bucket, const std::string& prefix) : bucket_(bucket), prefix_(prefix) {}

  absl::StatusOr<std::vector<InputFile>> List() {
    // The directories that the prefix names are entered one by one, so that none of them is a symbolic link.
    std::string_view rest = prefix_;
    std::string directory;
    while (rest.find('/') != std::string_view::npos) {
      directory += Cat(TakePart(&rest), "/");
      ARM_ASSIGN_OR_RETURN(const std::optional<struct stat> found,
                           StatOf(Cat(bucket_, "/", directory.substr(0, directory.size() - 1))));
      if (!found.has_value() || !S_ISDIR(found->st_mode)) return std::vector<InputFile>();
    }
    ARM_RETURN_IF_ERROR(Walk(directory, 0));
    std::sort(files_.begin(), files_.end(), [](const InputFile& a, const InputFile& b) { return a.name < b.name; });
    return std::move(files_);
  }

 private:
  // `directory`: below the bucket; empty, or with a slash at its end.
  absl::Status Walk(const std::string& directory, int depth) {
    if (depth > kDepthMax) return UnavailableError(Cat("too many directories inside each other: ", directory));
    const std::string path = Cat(bucket_, "/", directory);
    const DirectoryPtr open(opendir(path.c_str()));
    if (open == nullptr) return FileError("read", path, errno);
    std::vector<std::string> below;
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(open.get());
      if (entry == nullptr) break;
      const std::string_view part = entry->d_name;
      if (part.front() == '.') continue;
      std::string name = Cat(directory, part);
      if (!name.starts_with(prefix_)) continue;
      ARM_ASSIGN_OR_RETURN(const std::optional<struct stat> found, StatOf(Cat(bucket_, "/", name)));
      if (!found.has_value()) continue;
      if (S_ISDIR(found->st_mode)) below.push_back(Cat(name, "/"));
      if (!S_ISREG(found->st_mode)) continue;
      if (files_.size() == kInputFilesMax) {
        return absl::ResourceExhaustedError(Cat("the input has more than ", kInputFilesMax, " files"));
      }
      files_.push_back({std::move(name), found->st_size});
    }
    if (errno != 0) return FileError("read", path, errno);
    for (const std::string& each : below) ARM_RETURN_IF_ERROR(Walk(each, depth + 1));
    return absl::OkStatus();
  }

  const std::string bucket_;
  const std::string prefix_;
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

absl::StatusOr<std::string> FindBucket(const std::string& root, const std::string& bucket) {
  if (root.empty()) return absl::NotFoundError("there is no directory of buckets");
  std::string path = Cat(root, "/", bucket);
  ARM_ASSIGN_OR_RETURN(const std::optional<struct stat> found, StatOf(path));
  if (!found.has_value() || !S_ISDIR(found->st_mode)) return absl::NotFoundError(Cat(bucket, " is no directory"));
  return path;
}

absl::StatusOr<std::string> MakeDirectories(const std::string& base, std::string_view path) {
  std::string made = base;
  while (!path.empty()) {
    made += Cat("/", TakePart(&path));
    if (mkdir(made.c_str(), kPrivateDirectory) == 0) continue;
    if (errno != EEXIST) return FileError("make the directory", made, errno);
    ARM_ASSIGN_OR_RETURN(const std::optional<struct stat> found, StatOf(made));
    if (!found.has_value() || !S_ISDIR(found->st_mode)) return FileError("make the directory", made, ENOTDIR);
  }
  return made;
}

absl::Status RemoveFiles(const std::string& directory) {
  const DirectoryPtr open(opendir(directory.c_str()));
  if (open == nullptr) return FileError("read", directory, errno);
  std::vector<std::string> paths;
  while (const dirent* const entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") paths.push_back(Cat(directory, "/", name));
  }
  for (const std::string& path : paths) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return FileError("remove", path, errno);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<InputFile>> ListInput(const std::string& bucket, const std::string& prefix) {
  return InputLister(bucket, prefix).List();
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

}  // namespace armature::engine
