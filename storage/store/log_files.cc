#include "storage/store/log_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "glog/logging.h"
#include "rocksdb/file_system.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/files/file_error.h"
#include "storage/store/rocks_status.h"
#include "storage/store/wal/log_scan.h"

namespace armature::store {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// RocksDB preallocates the expected size of a file. On a nearly full disk that takes all remaining space, until the
// request is refused or, on some file systems, permanently. Other files cannot be written meanwhile.
constexpr size_t kPreallocationBytesMax = size_t{4} << 20;
// As RocksDB names files of options, also before they are renamed.
constexpr std::string_view kOptionsPrefix = "OPTIONS-";

class PlainFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  explicit PlainFile(std::unique_ptr<rocksdb::FSWritableFile> file) : FSWritableFileOwnerWrapper(std::move(file)) {}

  void SetPreallocationBlockSize(size_t size) override {
    FSWritableFileOwnerWrapper::SetPreallocationBlockSize(std::min(size, kPreallocationBytesMax));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    errno = 0;
    IOStatus status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    return NameShortage(std::move(status), errno);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
};

// A file of the write-ahead log.
class LogFile final : public PlainFile, public LogFiles::File {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, LogName name, LogFiles* files)
      : PlainFile(std::move(file)), name_(name), files_(files), number_(files->OnMade(this)) {}
  ~LogFile() override { files_->OnGone(this); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (closed_) return AnswerClosed();
    IOStatus status = PlainFile::Append(data, options, debug);
    if (status.ok()) {
      ends_.Append(ToView(data));
      whole_ = ends_.last();
      return status;
    }
    CloseForEver();
    const IOStatus cut = FSWritableFileOwnerWrapper::Truncate(whole_, options, debug);
    LOG(ERROR) << "store: a write to the write-ahead log failed, the file was truncated bytes=" << whole_
               << " status=" << status.ToString() << " cut=" << cut.ToString();
    // RocksDB must not continue behind a torn end. An error of unknown kind stops it until a restart.
    if (!cut.ok()) return IOStatus::IOError(status.ToString());
    return status.IsNoSpace() ? IOStatus::Busy(status.ToString()) : status;
  }
  using PlainFile::Append;
  // Syncs the good data of the file even when the file accepts no more.
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    const uint64_t whole = whole_;
    return is_unsynced_ ? AnswerClosed() : CheckSync(FSWritableFileOwnerWrapper::Sync(options, debug), whole);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    const uint64_t whole = whole_;
    return is_unsynced_ ? AnswerClosed() : CheckSync(FSWritableFileOwnerWrapper::Fsync(options, debug), whole);
  }

  bool RefuseLastRecord() override {
    if (is_refused_) return true;
    CloseForEver();
    is_refused_ = true;
    whole_ = ends_.previous();
    const IOStatus cut = Cut();
    LOG(ERROR) << "store: the write-ahead log could not be synced, the refused batch was cut off bytes=" << whole_
               << " cut=" << cut.ToString();
    return true;
  }
  IOStatus SyncRefusal() override {
    if (!is_refused_ || is_refusal_synced_) return IOStatus::OK();
    errno = 0;
    IOStatus status = Cut();
    if (status.ok()) status = FSWritableFileOwnerWrapper::Fsync(IOOptions(), nullptr);
    is_refusal_synced_ = status.ok();
    return NameShortage(std::move(status), errno);
  }

 private:
  IOStatus Cut() { return FSWritableFileOwnerWrapper::Truncate(whole_, IOOptions(), nullptr); }
  void CloseForEver() {
    closed_ = true;
    files_->OnClosed(number_);
    if (files_->log_register() != nullptr) files_->log_register()->Abandon(name_);
  }
  // `whole` is the end of the last record that was written before the call.
  IOStatus CheckSync(IOStatus status, uint64_t whole) {
    if (status.ok()) {
      files_->OnSynced(name_, whole);
    } else {
      is_unsynced_ = true;
      CloseForEver();
      files_->OnSyncFailed();
    }
    return status;
  }
  IOStatus AnswerClosed() const {
    return files_->resuming() ? IOStatus::OK() : IOStatus::Busy("the log file has failed before");
  }

  const LogName name_;
  LogFiles* const files_;
  const uint64_t number_;
  RecordEnds ends_;                  // changed by the one thread that writes the log
  std::atomic<uint64_t> whole_ = 0;  // end of the last whole record
  std::atomic<bool> closed_ = false;
  std::atomic<bool> is_unsynced_ = false;  // a sync failed: the state on disk is unknown
  // Changed by the thread that writes the log, or before a new file is made, when no thread does.
  bool is_refused_ = false;
  bool is_refusal_synced_ = false;
};

// RocksDB's library has no type information, which the sanitizer of undefined behaviour wants of a base class.
#define ARMATURE_UNCHECKED_TYPE __attribute__((no_sanitize("vptr")))

// A log file that could not be made. There is no file of its name, and nothing is ever in it.
class UnmadeLogFile final : public rocksdb::FSWritableFile, public LogFiles::File {
 public:
  ARMATURE_UNCHECKED_TYPE UnmadeLogFile(LogFiles* files, const IOStatus& why) : files_(files) {
    files_->OnClosed(files_->OnMade(this), IsAboutDescriptors(why.ToString()));
  }
  ARMATURE_UNCHECKED_TYPE ~UnmadeLogFile() override { files_->OnGone(this); }
  UnmadeLogFile(const UnmadeLogFile&) = delete;
  UnmadeLogFile& operator=(const UnmadeLogFile&) = delete;

  IOStatus Append(const rocksdb::Slice&, const IOOptions&, IODebugContext*) override { return Answer(); }
  IOStatus Append(const rocksdb::Slice&, const IOOptions&, const rocksdb::DataVerificationInfo&,
                  IODebugContext*) override {
    return Answer();
  }
  IOStatus Truncate(uint64_t, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  // Nothing is in it. RocksDB may still have it when there is a new log.
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return 0; }

  bool RefuseLastRecord() override { return false; }
  IOStatus SyncRefusal() override { return IOStatus::OK(); }

 private:
  ARMATURE_UNCHECKED_TYPE IOStatus Answer() const {
    return files_->resuming() ? IOStatus::OK() : IOStatus::Busy("the log file could not be made");
  }

  LogFiles* const files_;
};

// The manifest: RocksDB's list of the files that make up the database.
class ManifestFile final : public PlainFile {
 public:
  ManifestFile(std::unique_ptr<rocksdb::FSWritableFile> file, LogName name, LogRegister* logs)
      : PlainFile(std::move(file)), name_(name), register_(logs) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = PlainFile::Append(data, options, debug);
    if (status.ok()) size_ += data.size();
    return status;
  }
  using PlainFile::Append;
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Note(PlainFile::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Note(PlainFile::Fsync(options, debug));
  }

 private:
  // RocksDB writes a manifest from one thread at a time.
  IOStatus Note(IOStatus status) {
    if (status.ok()) register_->SetSynced(name_, size_);
    return status;
  }

  const LogName name_;
  LogRegister* const register_;
  uint64_t size_ = 0;
};

class FileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FileSystem(Volume* volume, LogFiles* files)
      : FileSystemWrapper(volume->file_system()), volume_(volume), files_(files) {}

  const char* Name() const override { return "ArmatureFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) override {
    // RocksDB writes the options of all families, and reads them again, whenever one is created or dropped, and keeps
    // writers waiting meanwhile: 0.4 s with 1,200 families. Nobody reads these files. It goes on without them.
    if (NameIn(name).starts_with(kOptionsPrefix)) {
      return IOStatus::NotSupported(kNoOptionsFiles);
    }
    LogName log;
    const bool is_log = ParseLogName(name, &log);
    if (is_log && log.kind == LogKind::kWriteAhead) return NewLogFile(name, log, options, result, debug);
    // A flush that finishes makes the logs unnecessary for its family.
    if (IOStatus refusal = files_->SyncRefusal(); !refusal.ok()) return refusal;
    std::unique_ptr<rocksdb::FSWritableFile> file;
    if (IOStatus made = Make(name, options, &file, debug); !made.ok()) return made;
    LogRegister* const logs = files_->log_register();
    if (!is_log || logs == nullptr) {
      *result = std::make_unique<PlainFile>(std::move(file));
      return IOStatus::OK();
    }
    if (IOStatus added = ToIoStatus(AddToRegister(name, log)); !added.ok()) return added;
    *result = std::make_unique<ManifestFile>(std::move(file), log, logs);
    return IOStatus::OK();
  }

  IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result, IODebugContext* debug) override {
    errno = 0;
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(name, options, result, debug);
    return NameShortage(std::move(status), errno);
  }

  IOStatus DeleteFile(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    LogName log;
    const bool is_log = ParseLogName(name, &log);
    if (is_log && log.kind == LogKind::kManifest && MayBeCurrent(name)) {
      LOG(ERROR) << "store: the manifest in use is not deleted path=" << name;
      return IOStatus::IOError(name, "is the manifest in use");
    }
    if (files_->keeper() != nullptr && is_log && log.kind == LogKind::kWriteAhead) {
      files_->keeper()->OnDelete(name, log.number);
    }
    if (files_->log_register() != nullptr && is_log) {
      if (IOStatus removed = ToIoStatus(files_->log_register()->Remove(log)); !removed.ok()) return removed;
    }
    return FileSystemWrapper::DeleteFile(name, options, debug);
  }

 private:
  IOStatus Make(const std::string& name, const rocksdb::FileOptions& options,
                std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
    errno = 0;
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    return NameShortage(std::move(status), errno);
  }
  IOStatus NewLogFile(const std::string& name, LogName log, const rocksdb::FileOptions& options,
                      std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus made = files_->SyncRefusal();
    if (made.ok()) made = Make(name, options, &file, debug);
    if (made.ok() && files_->log_register() != nullptr) made = ToIoStatus(AddToRegister(name, log));
    if (made.ok()) {
      *result = std::make_unique<LogFile>(std::move(file), log, files_);
      return made;
    }
    if (!made.IsNoSpace() || !files_->is_open()) return made;
    LOG(ERROR) << "store: a log file cannot be made path=" << name << " status=" << made.ToString();
    // An empty file of that name may be there. It stays as long as the register may expect it.
    if (file != nullptr && files_->log_register()->Remove(log).ok()) {
      static_cast<void>(FileSystemWrapper::DeleteFile(name, IOOptions(), debug));
    }
    *result = std::make_unique<UnmadeLogFile>(files_, made);
    return IOStatus::OK();
  }

  // True unless CURRENT is known to name another manifest than `name`. After a new manifest could not be written,
  // RocksDB deletes the one before, which CURRENT still names, and the database could not be opened any more.
  bool MayBeCurrent(const std::string& name) const {
    const absl::StatusOr<std::string> current = volume_->Read(Cat(ParentOf(name), "/CURRENT"));
    if (!current.ok()) return !absl::IsNotFound(current.status());
    return *current == Cat(NameIn(name), "\n");
  }
  static IOStatus ToIoStatus(const absl::Status& status) {
    if (status.ok()) return IOStatus::OK();
    const std::string text(Sv(status.message()));
    return absl::IsResourceExhausted(status) ? IOStatus::NoSpace(text) : IOStatus::IOError(text);
  }
  absl::Status AddToRegister(const std::string& name, LogName log) {
    // A registered file must be there after a power cut.
    ARM_RETURN_IF_ERROR(volume_->SyncDirectory(std::string(ParentOf(name))));
    return files_->log_register()->Add(log);
  }

  Volume* const volume_;
  LogFiles* const files_;
};

// No zero: mold 1.10 misplaces a program's only thread-local byte if it has no initial value, and the program does not
// start.
enum class SyncOf : uint8_t { kAcknowledgedWrites = 1, kOwnWrite = 2 };
thread_local SyncOf sync_of = SyncOf::kAcknowledgedWrites;

}  // namespace

LogFiles::SyncedWrite::SyncedWrite() { sync_of = SyncOf::kOwnWrite; }
LogFiles::SyncedWrite::~SyncedWrite() { sync_of = SyncOf::kAcknowledgedWrites; }

uint64_t LogFiles::OnMade(File* file) {
  const absl::MutexLock lock(&mutex_);
  newest_ = file;
  return made_.fetch_add(1) + 1;
}

void LogFiles::OnGone(File* file) {
  const absl::MutexLock lock(&mutex_);
  if (newest_ == file) newest_ = nullptr;
  if (refused_ == file) refused_ = nullptr;
}

void LogFiles::OnSyncFailed() {
  if (sync_of != SyncOf::kOwnWrite) return;
  const absl::MutexLock lock(&mutex_);
  if (newest_ != nullptr && newest_->RefuseLastRecord()) refused_ = newest_;
}

IOStatus LogFiles::SyncRefusal() {
  const absl::MutexLock lock(&mutex_);
  return refused_ == nullptr ? IOStatus::OK() : refused_->SyncRefusal();
}

LogPosition LogFiles::synced() const {
  const absl::MutexLock lock(&mutex_);
  return synced_;
}

void LogFiles::OnSynced(LogName name, uint64_t size) {
  if (register_ != nullptr) register_->SetSynced(name, size);
  const absl::MutexLock lock(&mutex_);
  synced_ = std::max(synced_, LogPosition{name.number, size});
}

IOStatus NameShortage(IOStatus status, int error) {
  if (status.ok() || status.IsNoSpace() || !IsShortageError(error)) return status;
  return IOStatus::NoSpace(status.ToString());
}

std::unique_ptr<rocksdb::Env> MakeEnv(Volume* volume, LogFiles* files) {
  return rocksdb::NewCompositeEnv(std::make_shared<FileSystem>(volume, files));
}

}  // namespace armature::store
