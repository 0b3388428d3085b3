#include "storage/store/durable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

namespace fs = std::filesystem;

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

bool IsShortageError(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE || error == ENFILE;
}

// The texts of EMFILE and ENFILE begin alike.
bool IsAboutDescriptors(std::string_view text) { return text.find("Too many open files") != std::string_view::npos; }

absl::Status ErrnoError(std::string_view what, std::string_view path, int error) {
  const std::string message = Cat(what, " ", path, ": ", std::strerror(error));
  return IsShortageError(error) ? absl::ResourceExhaustedError(message) : UnavailableError(message);
}

absl::Status WriteDurably(const std::string& path, std::string_view text) {
  const std::string temporary = Cat(path, kUnfinishedSuffix);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoError("cannot write", temporary, errno);
  const bool written = WriteAll(fd, text) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (!written) {
    unlink(temporary.c_str());
    return ErrnoError("cannot write", temporary, error);
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) return ErrnoError("cannot write", path, errno);
  return SyncDirectory(fs::path(path).parent_path());
}

absl::Status SyncDirectory(const std::string& path) {
  // The parent of a relative path may be the current directory.
  const int directory = open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return ErrnoError("cannot open directory", path, errno);
  // Some file systems cannot sync a directory. Nothing better is possible there.
  const bool synced = fsync(directory) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int error = errno;
  close(directory);
  return synced ? absl::OkStatus() : ErrnoError("cannot sync directory", path, error);
}

absl::Status MakeDirectories(const std::string& path) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path()) missing.push_back(at);
  fs::create_directories(path, error);
  if (error) return ErrnoError("cannot make directory", path, error.value());
  for (const fs::path& made : missing) ARM_RETURN_IF_ERROR(SyncDirectory(made.parent_path()));
  return absl::OkStatus();
}

bool PathExists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return absl::NotFoundError(Cat(path, " is missing"));
  if (fd < 0) return ErrnoError("cannot read", path, errno);
  std::string text;
  std::vector<char> buffer(size_t{64} << 10);
  while (true) {
    const ssize_t size = read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    const int error = errno;
    if (size <= 0) close(fd);
    if (size < 0) return ErrnoError("cannot read", path, error);
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(size));
  }
}

absl::StatusOr<LockedFile> LockedFile::Open(const std::string& path, Mode mode, bool make) {
  const int flags = make ? O_RDWR | O_CREAT : O_RDONLY;
  LockedFile file(open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (file.fd_ < 0 && errno == ENOENT) return absl::NotFoundError(Cat(path, " is missing"));
  if (file.fd_ < 0) return ErrnoError("cannot open", path, errno);
  if (flock(file.fd_, (mode == Mode::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return file;
  if (errno == EWOULDBLOCK) return FailedPreconditionError(Cat(path, " is locked"));
  if (mode == Mode::kSharedIfPossible) return file;
  return ErrnoError("cannot lock", path, errno);
}

LockedFile::~LockedFile() {
  if (fd_ >= 0) close(fd_);
}

bool LockedFile::IsLinked() const {
  struct stat status = {};
  return fstat(fd_, &status) == 0 && status.st_nlink > 0;
}

}  // namespace armature::store
