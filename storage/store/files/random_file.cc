#include "storage/store/files/random_file.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "storage/base/file_descriptor.h"
#include "storage/base/strings.h"
#include "storage/store/files/file_error.h"
#include "storage/store/files/no_wait_reads.h"

namespace armature::store {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

IOStatus ErrnoIoError(std::string_view what, const std::string& path, int error) {
  const std::string text = Cat(what, " ", path, ": ", std::generic_category().message(error));
  if (error == ENOENT) return IOStatus::PathNotFound(text);
  return IsShortageError(error) ? IOStatus::NoSpace(text) : IOStatus::IOError(text);
}

// A miss makes the system read ahead, which can wait for a place in the queue of the device. After several misses in a
// row, one read in 64 finds out whether the file has come to memory.
constexpr uint32_t kPauseMax = 63;

class RandomFile final : public rocksdb::FSRandomAccessFile {
 public:
  RandomFile(std::string path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions&, rocksdb::Slice* result, char* scratch,
                IODebugContext*) const override {
    *result = rocksdb::Slice(scratch, 0);
    switch (NoWaitReads::Take(size)) {
      case NoWaitReads::May::kNotRead:
        return NoWaitReads::WouldWait();
      case NoWaitReads::May::kReadMemory:
        return ReadMemory(offset, size, result, scratch);
      case NoWaitReads::May::kWait:
        return ReadFile(offset, size, result, scratch);
    }
    return NoWaitReads::WouldWait();
  }
  IOStatus Prefetch(uint64_t offset, size_t size, const IOOptions&, IODebugContext*) override {
    if (NoWaitReads::Take(0) != NoWaitReads::May::kWait) return NoWaitReads::WouldWait();
    return Advise(offset, size, POSIX_FADV_WILLNEED);
  }
  IOStatus InvalidateCache(size_t offset, size_t size) override { return Advise(offset, size, POSIX_FADV_DONTNEED); }
  void Hint(AccessPattern pattern) override {
    const int advice = pattern == kRandom       ? POSIX_FADV_RANDOM
                       : pattern == kSequential ? POSIX_FADV_SEQUENTIAL
                       : pattern == kWillNeed   ? POSIX_FADV_WILLNEED
                       : pattern == kWontNeed   ? POSIX_FADV_DONTNEED
                                                : POSIX_FADV_NORMAL;
    posix_fadvise(file_.get(), 0, 0, advice);
  }

 private:
  IOStatus ReadFile(uint64_t offset, size_t size, rocksdb::Slice* result, char* scratch) const {
    size_t filled = 0;
    while (filled < size) {
      const ssize_t got = pread(file_.get(), scratch + filled, size - filled, static_cast<off_t>(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoIoError("cannot read", path_, errno);
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    *result = rocksdb::Slice(scratch, filled);
    return IOStatus::OK();
  }
  // Fewer bytes than asked for: the rest is not in memory, or the file ends. RocksDB does not read beyond the end of a
  // table file.
  IOStatus ReadMemory(uint64_t offset, size_t size, rocksdb::Slice* result, char* scratch) const {
    if (!has_memory_reads_.load(std::memory_order_relaxed) || IsPaused()) return NoWaitReads::WouldWait();
    const iovec to = {scratch, size};
    const ssize_t got = preadv2(file_.get(), &to, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (got < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) has_memory_reads_ = false;
    // Other errors are told by the read that may wait.
    if (got < 0 || static_cast<size_t>(got) < size) {
      Pause();
      return NoWaitReads::WouldWait();
    }
    if (pause_.load(std::memory_order_relaxed) != 0) pause_.store(0, std::memory_order_relaxed);
    *result = rocksdb::Slice(scratch, size);
    return IOStatus::OK();
  }
  // The counts may lose a step when threads meet, which changes nothing but the length of a pause.
  bool IsPaused() const {
    const uint32_t left = paused_.load(std::memory_order_relaxed);
    if (left > 0) paused_.store(left - 1, std::memory_order_relaxed);
    return left > 0;
  }
  void Pause() const {
    const uint32_t pause = std::min(2 * pause_.load(std::memory_order_relaxed) + 1, kPauseMax);
    pause_.store(pause, std::memory_order_relaxed);
    paused_.store(pause, std::memory_order_relaxed);
  }
  IOStatus Advise(uint64_t offset, size_t size, int advice) const {
    const int error = posix_fadvise(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(size), advice);
    return error == 0 ? IOStatus::OK() : ErrnoIoError("cannot advise on", path_, error);
  }

  const std::string path_;
  const FileDescriptor file_;
  // False once the file system has refused to read without waiting.
  mutable std::atomic<bool> has_memory_reads_ = true;
  // Reads in memory that are refused after a miss, and how many of them are left.
  mutable std::atomic<uint32_t> pause_ = 0;
  mutable std::atomic<uint32_t> paused_ = 0;
};

}  // namespace

IOStatus OpenRandomFile(const std::string& path, std::unique_ptr<rocksdb::FSRandomAccessFile>* file) {
  int fd = -1;
  do {
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return ErrnoIoError("cannot open", path, errno);
  *file = std::make_unique<RandomFile>(path, FileDescriptor(fd));
  return IOStatus::OK();
}

}  // namespace armature::store
