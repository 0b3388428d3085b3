#include "storage/store/backup/backup_env.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "rocksdb/file_system.h"
#include "storage/base/fault_points.h"
#include "storage/base/strings.h"
#include "storage/store/log_files.h"

namespace armature::store {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

constexpr std::string_view kMetaDirectory = "/meta";

class File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(std::unique_ptr<rocksdb::FSWritableFile> file, BackupAttempt* attempt)
      : FSWritableFileOwnerWrapper(std::move(file)), attempt_(attempt) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    ARM_FAULT_POINT("backup.write");
    errno = 0;
    IOStatus status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    const int error = errno;
    if (!status.ok()) return attempt_->OnError(NameShortage(std::move(status), error));
    if (!attempt_->work()->Advance(data.size()).ok()) return attempt_->OnError(IOStatus::Aborted("cancelled"));
    return status;
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }

 private:
  BackupAttempt* const attempt_;
};

class BackupFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit BackupFileSystem(BackupAttempt* attempt)
      : FileSystemWrapper(attempt->volume()->file_system()), attempt_(attempt) {}

  const char* Name() const override { return "ArmatureBackupFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) override {
    if (IOStatus begun = attempt_->OnFile(name); !begun.ok()) return begun;
    std::unique_ptr<rocksdb::FSWritableFile> file;
    errno = 0;
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
    const int error = errno;
    if (!status.ok()) return attempt_->OnError(NameShortage(std::move(status), error));
    *result = std::make_unique<File>(std::move(file), attempt_);
    return status;
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    attempt_->OnName(to);
    return FileSystemWrapper::RenameFile(from, to, options, debug);
  }

  IOStatus CreateDir(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::CreateDir(name, options, debug);
    if (status.ok()) attempt_->OnNewDirectory(name);
    return status;
  }

  IOStatus DeleteFile(const std::string& name, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("not removed here", name);
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("not removed here", name);
  }

  IOStatus GetChildren(const std::string& directory, const IOOptions& options, std::vector<std::string>* names,
                       IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::GetChildren(directory, options, names, debug);
    if (!status.ok() || directory != Cat(attempt_->path(), kMetaDirectory)) return status;
    for (const uint32_t id : attempt_->engine_ids()) {
      if (const std::string name = Cat(id); std::find(names->begin(), names->end(), name) == names->end()) {
        names->push_back(name);
      }
    }
    return status;
  }

  IOStatus NewSequentialFile(const std::string& name, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result, IODebugContext* debug) override {
    const std::string directory = Cat(attempt_->path(), kMetaDirectory, "/");
    if (name.starts_with(directory) && !attempt_->Exists(name)) return IOStatus::Corruption("missing", name);
    return FileSystemWrapper::NewSequentialFile(name, options, result, debug);
  }

 private:
  BackupAttempt* const attempt_;
};

}  // namespace

IOStatus BackupAttempt::OnFile(const std::string& name) {
  bool is_first = false;
  {
    const absl::MutexLock lock(&mutex_);
    if (!error_.ok()) return error_;
    is_first = !std::exchange(has_begun_, true);
    files_.emplace(name, !Exists(name));
  }
  if (is_first && on_first_file_) on_first_file_();
  return work_->Advance(0).ok() ? IOStatus::OK() : OnError(IOStatus::Aborted("cancelled"));
}

void BackupAttempt::OnNewDirectory(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  directories_.insert(name);
}

void BackupAttempt::OnName(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  files_.emplace(name, !Exists(name));
}

IOStatus BackupAttempt::OnError(const IOStatus& error) {
  const absl::MutexLock lock(&mutex_);
  if (error_.ok()) error_ = error;
  return error_;
}

bool BackupAttempt::HasWritten(const std::string& name) const {
  const absl::MutexLock lock(&mutex_);
  return files_.contains(name);
}

void BackupAttempt::Discard() {
  const absl::MutexLock lock(&mutex_);
  absl::Status first;
  const auto remove = [&](const std::string& name) {
    const absl::Status removed = volume_->Remove(name).status();
    if (first.ok()) first = removed;
  };
  for (const auto& [name, was_absent] : files_) {
    if (was_absent) remove(name);
  }
  for (const std::string& name : directories_) remove(name);
  if (!first.ok()) {
    LOG(WARNING) << "store: cannot remove files of a failed backup path=" << path_ << " error=" << first.message();
  }
}

std::unique_ptr<rocksdb::Env> MakeBackupEnv(BackupAttempt* attempt) {
  return rocksdb::NewCompositeEnv(std::make_shared<BackupFileSystem>(attempt));
}

}  // namespace armature::store
