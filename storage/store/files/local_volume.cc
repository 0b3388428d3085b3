// The volume of this machine's file systems.

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"
#include "storage/base/file_descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/files/file_error.h"
#include "storage/store/files/random_file.h"
#include "storage/store/files/volume.h"

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

// Small files and locks are for the owner only, whatever the umask of the process is.
constexpr mode_t kPrivateFile = 0600;

class LocalFile final : public VolumeFile {
 public:
  LocalFile(std::string path, Volume::Access access, FileDescriptor file)
      : path_(std::move(path)), access_(access), file_(std::move(file)) {}

  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* to) const override {
    size_t filled = 0;
    while (filled < size) {
      const ssize_t got = pread(file_.get(), to + filled, size - filled, static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoError("cannot read", path_, errno);
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    return filled;
  }
  absl::Status WriteAt(uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrnoError("cannot write", path_, errno);
      offset += static_cast<uint64_t>(written);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }
  absl::Status Sync() override {
    // A file that is read was written by another process, perhaps by another program: all of it is synced.
    const int failed = access_ == Volume::Access::kRead ? fsync(file_.get()) : fdatasync(file_.get());
    return failed == 0 ? absl::OkStatus() : ErrnoError("cannot sync", path_, errno);
  }
  absl::Status Truncate(uint64_t size) override {
    const bool is_cut = ftruncate(file_.get(), static_cast<off_t>(size)) == 0 && fsync(file_.get()) == 0;
    return is_cut ? absl::OkStatus() : ErrnoError("cannot truncate", path_, errno);
  }
  absl::StatusOr<uint64_t> Size() const override {
    struct stat status = {};
    if (fstat(file_.get(), &status) != 0) return ErrnoError("cannot read", path_, errno);
    return static_cast<uint64_t>(status.st_size);
  }
  void DropCached() override { posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED); }

 private:
  const std::string path_;
  const Volume::Access access_;
  const FileDescriptor file_;
};

// flock of an open file.
class LocalLock final : public VolumeLock {
 public:
  explicit LocalLock(FileDescriptor file) : file_(std::move(file)) {}

  bool IsLinked() const override {
    struct stat status = {};
    return fstat(file_.get(), &status) == 0 && status.st_nlink > 0;
  }

 private:
  const FileDescriptor file_;
};

class LocalFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  LocalFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  const char* Name() const override { return "ArmatureLocalFileSystem"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions&,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext*) override {
    return OpenRandomFile(path, file);
  }
};

class PosixVolume final : public Volume {
 public:
  PosixVolume() : Volume(std::make_shared<LocalFileSystem>()) {}

  absl::StatusOr<std::string> Read(const std::string& path) override;
  absl::Status WriteDurably(const std::string& path, std::string_view text) override;
  absl::StatusOr<std::unique_ptr<VolumeFile>> Open(const std::string& path, Access access) override;
  absl::Status Allocate(const std::string& path, uint64_t bytes) override;
  absl::StatusOr<bool> Exists(const std::string& path) override;
  absl::StatusOr<uint64_t> Size(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::Status MakeDirectories(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& path) override;
  absl::StatusOr<bool> Remove(const std::string& path) override;
  absl::Status RemoveTree(const std::string& path) override;
  absl::Status Link(const std::string& from, const std::string& to, LinkKind kind) override;
  absl::StatusOr<std::string> MakeScratchDirectory() override;
  absl::StatusOr<std::unique_ptr<VolumeLock>> Lock(const std::string& path, LockMode mode, bool make) override;
  absl::StatusOr<DiskUsage> Measure(const std::string& path) override;
  std::string Absolute(const std::string& path) const override;
  absl::Status CloseToOthers(const std::string& directory) override;
  unsigned OpenToOthers(const std::string& directory) override;
  absl::StatusOr<std::string> IdentityOf(const std::string& path) override;
  uint64_t boot() const override;
};

absl::StatusOr<std::string> PosixVolume::Read(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return absl::NotFoundError(Cat(path, " is missing"));
  if (!file.is_open()) return ErrnoError("cannot read", path, errno);
  std::string text;
  std::vector<char> buffer(size_t{64} << 10);
  while (true) {
    const ssize_t size = read(file.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoError("cannot read", path, errno);
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(size));
  }
}

absl::Status PosixVolume::WriteDurably(const std::string& path, std::string_view text) {
  const std::string temporary = Cat(path, kUnfinishedSuffix);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivateFile);
  if (fd < 0) return ErrnoError("cannot write", temporary, errno);
  const bool written = WriteAll(fd, text) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (!written) {
    unlink(temporary.c_str());
    return ErrnoError("cannot write", temporary, error);
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) return ErrnoError("cannot write", path, errno);
  return SyncDirectory(std::string(ParentOf(path)));
}

absl::StatusOr<std::unique_ptr<VolumeFile>> PosixVolume::Open(const std::string& path, Access access) {
  FileDescriptor file(open(path.c_str(), (access == Access::kRead ? O_RDONLY : O_RDWR) | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return absl::NotFoundError(Cat(path, " is missing"));
  if (!file.is_open()) return ErrnoError(access == Access::kRead ? "cannot read" : "cannot open", path, errno);
  return std::make_unique<LocalFile>(path, access, std::move(file));
}

absl::Status PosixVolume::Allocate(const std::string& path, uint64_t bytes) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && static_cast<uint64_t>(status.st_size) == bytes) return absl::OkStatus();
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kPrivateFile));
  // The file must take space, so the size alone is not enough.
  const int error = file.is_open() ? posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) : errno;
  if (error == 0) return absl::OkStatus();
  if (file.is_open()) unlink(path.c_str());
  return ErrnoError("cannot make", path, error);
}

absl::StatusOr<bool> PosixVolume::Exists(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return ErrnoError("cannot read", path, errno);
}

absl::StatusOr<uint64_t> PosixVolume::Size(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) return static_cast<uint64_t>(status.st_size);
  if (errno == ENOENT || errno == ENOTDIR) return absl::NotFoundError(Cat(path, " is missing"));
  return ErrnoError("cannot read", path, errno);
}

absl::StatusOr<std::vector<std::string>> PosixVolume::List(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (!error) return names;
  absl::Status failed = ErrnoError("cannot read directory", directory, error.value());
  if (error == std::errc::no_such_file_or_directory) return absl::NotFoundError(failed.message());
  if (error == std::errc::not_a_directory) return absl::FailedPreconditionError(failed.message());
  return failed;
}

absl::Status PosixVolume::MakeDirectories(const std::string& path) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path()) missing.push_back(at);
  fs::create_directories(path, error);
  if (error) return ErrnoError("cannot make directory", path, error.value());
  for (const fs::path& made : missing) ARM_RETURN_IF_ERROR(SyncDirectory(made.parent_path()));
  return absl::OkStatus();
}

absl::Status PosixVolume::SyncDirectory(const std::string& path) {
  // The parent of a relative path may be the current directory.
  const FileDescriptor directory(open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) {
    const int error = errno;
    absl::Status failed = ErrnoError("cannot open directory", path, error);
    return error == ENOENT ? absl::NotFoundError(failed.message()) : failed;
  }
  // Some file systems cannot sync a directory. Nothing better is possible there.
  const bool synced = fsync(directory.get()) == 0 || errno == EINVAL || errno == ENOTSUP;
  return synced ? absl::OkStatus() : ErrnoError("cannot sync directory", path, errno);
}

absl::StatusOr<bool> PosixVolume::Remove(const std::string& path) {
  std::error_code error;
  const bool was_there = fs::remove(path, error);
  if (error) return ErrnoError("cannot remove", path, error.value());
  return was_there;
}

absl::Status PosixVolume::RemoveTree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? ErrnoError("cannot remove", path, error.value()) : absl::OkStatus();
}

absl::Status PosixVolume::Link(const std::string& from, const std::string& to, LinkKind kind) {
  std::error_code error;
  if (kind == LinkKind::kSymbolic) {
    fs::create_symlink(fs::absolute(from), to, error);
  } else {
    fs::create_hard_link(from, to, error);
    if (error) fs::copy_file(from, to, error);
  }
  return error ? ErrnoError("cannot copy", from, error.value()) : absl::OkStatus();
}

absl::StatusOr<std::string> PosixVolume::MakeScratchDirectory() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "armature-inspect-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) return UnavailableError(Cat("cannot make ", name));
  return name;
}

absl::StatusOr<std::unique_ptr<VolumeLock>> PosixVolume::Lock(const std::string& path, LockMode mode, bool make) {
  const int flags = make ? O_RDWR | O_CREAT : O_RDONLY;
  FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC, kPrivateFile));
  if (!file.is_open() && errno == ENOENT) return absl::NotFoundError(Cat(path, " is missing"));
  if (!file.is_open()) return ErrnoError("cannot open", path, errno);
  if (flock(file.get(), (mode == LockMode::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return FailedPreconditionError(Cat(path, " is locked"));
    if (mode != LockMode::kSharedIfPossible) return ErrnoError("cannot lock", path, errno);
  }
  return std::make_unique<LocalLock>(std::move(file));
}

absl::StatusOr<DiskUsage> PosixVolume::Measure(const std::string& path) {
  struct statvfs disk = {};
  if (statvfs(path.c_str(), &disk) != 0) return ErrnoError("cannot tell the free space of", path, errno);
  return DiskUsage{uint64_t{disk.f_blocks} * disk.f_frsize, uint64_t{disk.f_bavail} * disk.f_frsize};
}

std::string PosixVolume::Absolute(const std::string& path) const {
  std::error_code error;
  std::string normal = fs::absolute(path, error).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

absl::Status PosixVolume::CloseToOthers(const std::string& directory) {
  std::error_code error;
  fs::permissions(directory, fs::perms::owner_all, error);
  return error ? ErrnoError("cannot close to others", directory, error.value()) : absl::OkStatus();
}

unsigned PosixVolume::OpenToOthers(const std::string& directory) {
  struct stat status = {};
  if (stat(directory.c_str(), &status) != 0 || (status.st_mode & 077) == 0) return 0;
  return status.st_mode & 07777;
}

// The number and the time of birth of the file's inode, which no program can set. The time is missing on some file
// systems; the number alone may be the same in a copy on another one.
absl::StatusOr<std::string> PosixVolume::IdentityOf(const std::string& path) {
  struct statfs where = {};
  if (statfs(path.c_str(), &where) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return absl::NotFoundError(Cat(path, " is missing"));
    return ErrnoError("cannot read", path, errno);
  }
  // Its daemons may make up numbers anew for each mount.
  if (where.f_type == FUSE_SUPER_MAGIC) return "";
  struct statx facts = {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &facts) != 0) {
    if (errno == ENOSYS) return "";
    return ErrnoError("cannot read", path, errno);
  }
  if ((facts.stx_mask & STATX_INO) == 0) return "";
  std::string identity = Cat("inode ", facts.stx_ino);
  if ((facts.stx_mask & STATX_BTIME) != 0) {
    identity += Cat(" born ", facts.stx_btime.tv_sec, ".", facts.stx_btime.tv_nsec);
  }
  return identity;
}

uint64_t PosixVolume::boot() const {
  const FileDescriptor file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char id[64];
  const ssize_t size = file.is_open() ? read(file.get(), id, sizeof id) : 0;
  return size > 0 ? XXH3_64bits(id, static_cast<size_t>(size)) : 0;
}

}  // namespace

unsigned RestrictNewFiles() { return umask(077); }

Volume* LocalVolume() {
  static PosixVolume* const kVolume = new PosixVolume;
  return kVolume;
}

}  // namespace armature::store
