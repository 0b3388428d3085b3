#include "storage/store/log_files.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "glog/logging.h"
#include "rocksdb/file_system.h"
#include "storage/store/durable_file.h"

namespace armature::store {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// RocksDB preallocates the expected size of a file. On a nearly full disk that takes all remaining space, until the
// request is refused or, on some file systems, permanently. Other files cannot be written meanwhile.
constexpr size_t kPreallocationBytesMax = size_t{4} << 20;

class PlainFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  explicit PlainFile(std::unique_ptr<rocksdb::FSWritableFile> file) : FSWritableFileOwnerWrapper(std::move(file)) {}

  void SetPreallocationBlockSize(size_t size) override {
    FSWritableFileOwnerWrapper::SetPreallocationBlockSize(std::min(size, kPreallocationBytesMax));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    errno = 0;
    IOStatus status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    return NameNoSpace(std::move(status), errno);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
};

class LogFile final : public PlainFile {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, LogFiles* files)
      : PlainFile(std::move(file)), files_(files), number_(files->OnMade()) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (closed_) return AnswerClosed();
    IOStatus status = PlainFile::Append(data, options, debug);
    if (status.ok()) {
      size_ += data.size();
      return status;
    }
    CloseForEver();
    const IOStatus cut = FSWritableFileOwnerWrapper::Truncate(size_, options, debug);
    LOG(ERROR) << "store: a write to the write-ahead log failed, the file was truncated bytes=" << size_
               << " status=" << status.ToString() << " cut=" << cut.ToString();
    // RocksDB must not continue behind a torn end. An error of unknown kind stops it until a restart.
    if (!cut.ok()) return IOStatus::IOError(status.ToString());
    return status.IsNoSpace() ? IOStatus::Busy(status.ToString()) : status;
  }
  using PlainFile::Append;
  // Syncs the good data of the file even when the file accepts no more.
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return is_unsynced_ ? AnswerClosed() : CheckSync(FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return is_unsynced_ ? AnswerClosed() : CheckSync(FSWritableFileOwnerWrapper::Fsync(options, debug));
  }

 private:
  void CloseForEver() {
    closed_ = true;
    files_->OnClosed(number_);
  }
  IOStatus CheckSync(IOStatus status) {
    if (status.ok()) return status;
    is_unsynced_ = true;
    CloseForEver();
    return status;
  }
  IOStatus AnswerClosed() const {
    return files_->resuming() ? IOStatus::OK() : IOStatus::Busy("the log file has failed before");
  }

  LogFiles* const files_;
  const uint64_t number_;
  uint64_t size_ = 0;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> is_unsynced_ = false;  // a sync failed: the state on disk is unknown
};

class FileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit FileSystem(LogFiles* files) : FileSystemWrapper(rocksdb::FileSystem::Default()), files_(files) {}

  const char* Name() const override { return "ArmatureFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    errno = 0;
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
    if (!status.ok()) return NameNoSpace(std::move(status), errno);
    if (name.ends_with(".log")) {
      *result = std::make_unique<LogFile>(std::move(file), files_);
    } else {
      *result = std::make_unique<PlainFile>(std::move(file));
    }
    return status;
  }

 private:
  LogFiles* const files_;
};

}  // namespace

IOStatus NameNoSpace(IOStatus status, int error) {
  if (status.ok() || status.IsNoSpace() || !IsNoSpaceError(error)) return status;
  return IOStatus::NoSpace(status.ToString());
}

std::unique_ptr<rocksdb::Env> MakeEnv(LogFiles* files) {
  return rocksdb::NewCompositeEnv(std::make_shared<FileSystem>(files));
}

}  // namespace armature::store
