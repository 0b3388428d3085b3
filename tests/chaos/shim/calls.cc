// Replacements of the C library's calls that change files. Calls on files that are not watched pass through.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "tests/chaos/shim/shim.h"

namespace armature::chaos {
namespace {

int64_t Arg(const void* pointer) { return reinterpret_cast<int64_t>(pointer); }

bool IsWatched(int fd) { return control() != nullptr && !PathOf(fd).empty(); }

uint64_t FileAt(const char* path) {
  struct stat status = {};
  const int64_t found = RawCall(SYS_newfstatat, AT_FDCWD, Arg(path), Arg(&status), AT_SYMLINK_NOFOLLOW);
  return found == 0 ? status.st_ino : 0;
}

int Open(const char* path, int flags, mode_t mode) {
  if (!IsWatchedPath(path)) {
    const auto fd = static_cast<int>(Answer(RawCall(SYS_openat, AT_FDCWD, Arg(Redirected(path)), flags, mode)));
    Forget(fd);
    return fd;
  }
  if (Fails(Call::kOpen, path)) return -1;
  const ChangeLock lock;
  NoteTime();
  const bool is_new = (flags & O_CREAT) != 0 && FileAt(path) == 0;
  const auto fd = static_cast<int>(Answer(RawCall(SYS_openat, AT_FDCWD, Arg(path), flags, mode)));
  if (fd < 0) return fd;
  Watch(fd, path);
  if (!IsJournaling()) return fd;
  if (is_new) {
    Append(Record::kCreate, FileOf(fd), 0, path, nullptr, 0);
  } else if ((flags & O_TRUNC) != 0) {
    Append(Record::kTruncate, FileOf(fd), 0, path, nullptr, 0);
  }
  return fd;
}

int64_t OffsetOf(int fd) {
  const int64_t flags = RawCall(SYS_fcntl, fd, F_GETFL);
  return RawCall(SYS_lseek, fd, 0, (flags & O_APPEND) != 0 ? SEEK_END : SEEK_CUR);
}

// `offset`: nullopt for a write at the descriptor's position.
ssize_t Write(int fd, const void* data, size_t size, std::optional<int64_t> offset) {
  if (IsWatched(fd)) {
    bool is_short = false;
    if (Fails(Call::kWrite, PathOf(fd), &is_short)) {
      if (!is_short) return -1;
      size = (size + 1) / 2;
    }
    const ChangeLock lock;
    NoteTime();
    const int64_t at = offset.has_value() ? *offset : OffsetOf(fd);
    const int64_t written = offset.has_value() ? RawCall(SYS_pwrite64, fd, Arg(data), static_cast<int64_t>(size), at)
                                               : RawCall(SYS_write, fd, Arg(data), static_cast<int64_t>(size));
    if (written > 0 && IsJournaling()) {
      Append(Record::kWrite, FileOf(fd), at, "", data, static_cast<size_t>(written));
    }
    return Answer(written);
  }
  if (offset.has_value()) return Answer(RawCall(SYS_pwrite64, fd, Arg(data), static_cast<int64_t>(size), *offset));
  return Answer(RawCall(SYS_write, fd, Arg(data), static_cast<int64_t>(size)));
}

int Sync(int64_t number, int fd) {
  if (!IsWatched(fd)) return static_cast<int>(Answer(RawCall(number, fd)));
  if (Fails(Call::kFsync, PathOf(fd))) return -1;
  static std::atomic<int64_t> syncs{0};
  const int64_t sync = ++syncs;
  const uint64_t file = FileOf(fd);
  const auto note = [&](Record kind) {
    if (!IsJournaling()) return;
    const ChangeLock lock;
    NoteTime();
    Append(kind, file, sync, PathOf(fd), nullptr, 0);
  };
  note(Record::kSyncBegin);
  const int64_t pause_us = control()->fsync_us.load();
  if (pause_us > 0) {
    const timespec pause = {pause_us / 1'000'000, pause_us % 1'000'000 * 1000};
    RawCall(SYS_nanosleep, Arg(&pause), 0);
  }
  const int64_t result = RawCall(number, fd);
  if (result == 0) note(Record::kSyncEnd);
  return static_cast<int>(Answer(result));
}

// A change of names: `number` is called with `a`, `b` and `c`, and recorded if it succeeds.
int ChangeName(Call call, Record kind, int64_t number, const char* path, const char* other, int64_t a, int64_t b,
               int64_t c) {
  if (!IsWatchedPath(path)) return static_cast<int>(Answer(RawCall(number, a, b, c)));
  if (Fails(call, path)) return -1;
  const ChangeLock lock;
  NoteTime();
  const int64_t result = RawCall(number, a, b, c);
  if (result == 0 && IsJournaling()) {
    const size_t size = other == nullptr ? 0 : std::strlen(other);
    Append(kind, kind == Record::kMkdir ? FileAt(path) : 0, 0, path, other, size);
  }
  return static_cast<int>(Answer(result));
}

int Unlink(const char* path, bool is_directory) {
  const Record kind = is_directory ? Record::kRmdir : Record::kUnlink;
  return ChangeName(Call::kUnlink, kind, SYS_unlinkat, path, nullptr, AT_FDCWD, Arg(path),
                    is_directory ? AT_REMOVEDIR : 0);
}

bool IsDirectory(const char* path) {
  struct stat status = {};
  return RawCall(SYS_newfstatat, AT_FDCWD, Arg(path), Arg(&status), AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

}  // namespace
// The functions of the global namespace that this library replaces.
extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return Open(path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (IsWatchedPath(path)) return Open(path, flags, mode);
  return static_cast<int>(Answer(RawCall(SYS_openat, directory, Arg(path), flags, mode)));
}

int close(int fd) {
  Forget(fd);
  return static_cast<int>(Answer(RawCall(SYS_close, fd)));
}

ssize_t write(int fd, const void* data, size_t size) { return Write(fd, data, size, std::nullopt); }
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) { return Write(fd, data, size, offset); }

ssize_t writev(int fd, const iovec* parts, int count) {
  if (!IsWatched(fd)) return Answer(RawCall(SYS_writev, fd, Arg(parts), count));
  ssize_t total = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t written = Write(fd, parts[i].iov_base, parts[i].iov_len, std::nullopt);
    if (written < 0) return total > 0 ? total : -1;
    total += written;
    if (static_cast<size_t>(written) < parts[i].iov_len) break;
  }
  return total;
}

// Callers fall back to write().
ssize_t sendfile(int out, int in, off_t* offset, size_t size) noexcept {
  if (!IsWatched(out)) return Answer(RawCall(SYS_sendfile, out, in, Arg(offset), static_cast<int64_t>(size)));
  return Answer(-ENOSYS);
}

ssize_t read(int fd, void* data, size_t size) {
  if (IsWatched(fd) && Fails(Call::kRead, PathOf(fd))) return -1;
  return Answer(RawCall(SYS_read, fd, Arg(data), static_cast<int64_t>(size)));
}

ssize_t pread(int fd, void* data, size_t size, off_t offset) {
  if (IsWatched(fd) && Fails(Call::kRead, PathOf(fd))) return -1;
  return Answer(RawCall(SYS_pread64, fd, Arg(data), static_cast<int64_t>(size), offset));
}

// RocksDB reads logs and manifests through a FILE, whose own calls cannot be replaced.
size_t fread_unlocked(void* data, size_t size, size_t count, FILE* file) {
  if (IsWatched(fileno(file)) && Fails(Call::kRead, PathOf(fileno(file)))) {
    file->_flags |= 0x20;  // what ferror() looks at
    return 0;
  }
  return fread(data, size, count, file);
}

// Streams close their descriptors without close().
int fclose(FILE* file) {
  static const auto next = reinterpret_cast<int (*)(FILE*)>(dlsym(RTLD_NEXT, "fclose"));
  Forget(fileno(file));
  return next(file);
}

int closedir(DIR* directory) {
  static const auto next = reinterpret_cast<int (*)(DIR*)>(dlsym(RTLD_NEXT, "closedir"));
  Forget(dirfd(directory));
  return next(directory);
}

int fsync(int fd) { return Sync(SYS_fsync, fd); }
int fdatasync(int fd) { return Sync(SYS_fdatasync, fd); }

int ftruncate(int fd, off_t size) noexcept {
  if (!IsWatched(fd)) return static_cast<int>(Answer(RawCall(SYS_ftruncate, fd, size)));
  if (Fails(Call::kTruncate, PathOf(fd))) return -1;
  const ChangeLock lock;
  NoteTime();
  const int64_t result = RawCall(SYS_ftruncate, fd, size);
  if (result == 0 && IsJournaling()) Append(Record::kTruncate, FileOf(fd), size, "", nullptr, 0);
  return static_cast<int>(Answer(result));
}

int truncate(const char* path, off_t size) noexcept {
  if (!IsWatchedPath(path)) return static_cast<int>(Answer(RawCall(SYS_truncate, Arg(path), size)));
  if (Fails(Call::kTruncate, path)) return -1;
  const ChangeLock lock;
  NoteTime();
  const int64_t result = RawCall(SYS_truncate, Arg(path), size);
  if (result == 0 && IsJournaling()) Append(Record::kTruncate, FileAt(path), size, "", nullptr, 0);
  return static_cast<int>(Answer(result));
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
  if (IsWatched(fd) && Fails(Call::kAllocate, PathOf(fd))) return -1;
  // Space that is allocated behind the end (FALLOC_FL_KEEP_SIZE) changes no content.
  if (IsWatched(fd) && IsJournaling() && (mode & FALLOC_FL_KEEP_SIZE) == 0) return static_cast<int>(Answer(-ENOTSUP));
  return static_cast<int>(Answer(RawCall(SYS_fallocate, fd, mode, offset, size)));
}

int rename(const char* from, const char* to) noexcept {
  return ChangeName(Call::kRename, Record::kRename, SYS_rename, from, to, Arg(from), Arg(to), 0);
}

int link(const char* from, const char* to) noexcept {
  return ChangeName(Call::kLink, Record::kLink, SYS_link, from, to, Arg(from), Arg(to), 0);
}

int unlink(const char* path) noexcept { return Unlink(path, false); }
int rmdir(const char* path) noexcept { return Unlink(path, true); }
int remove(const char* path) noexcept { return Unlink(path, IsDirectory(path)); }

int unlinkat(int directory, const char* path, int flags) noexcept {
  if (IsWatchedPath(path)) return Unlink(path, (flags & AT_REMOVEDIR) != 0);
  return static_cast<int>(Answer(RawCall(SYS_unlinkat, directory, Arg(path), flags)));
}

int mkdir(const char* path, mode_t mode) noexcept {
  return ChangeName(Call::kMkdir, Record::kMkdir, SYS_mkdir, path, nullptr, Arg(path), mode, 0);
}

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  const bool is_shared_write = (flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0 && IsWatched(fd);
  if (control() != nullptr && (fd < 0 || IsWatched(fd)) && Fails(Call::kMmap, "")) return MAP_FAILED;
  if (is_shared_write && IsJournaling()) {
    const ChangeLock lock;
    NoteTime();
    Append(Record::kMap, FileOf(fd), 0, PathOf(fd), nullptr, 0);
  }
  const int64_t mapped = RawCall(SYS_mmap, Arg(address), static_cast<int64_t>(size), protection, flags, fd, offset);
  return mapped < 0 && mapped > -4096 ? reinterpret_cast<void*>(Answer(mapped)) : reinterpret_cast<void*>(mapped);
}

}  // extern "C"

}  // namespace armature::chaos
