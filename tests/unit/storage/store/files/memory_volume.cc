#include "tests/unit/storage/store/files/memory_volume.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/file_system.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/files/no_wait_reads.h"
#include "tests/unit/storage/store/files/memory_volume_state.h"

namespace armature::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

IOStatus ToIo(const absl::Status& status) {
  const std::string text(Sv(status.message()));
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return IOStatus::OK();
    case absl::StatusCode::kNotFound:
      return IOStatus::PathNotFound(text);
    case absl::StatusCode::kResourceExhausted:
      return IOStatus::NoSpace(text);
    case absl::StatusCode::kDataLoss:
      return IOStatus::Corruption(text);
    default:
      return IOStatus::IOError(text);
  }
}

class SequentialMemoryFile final : public rocksdb::FSSequentialFile {
 public:
  explicit SequentialMemoryFile(MemoryFile file) : file_(std::move(file)) {}

  IOStatus Read(size_t size, const IOOptions&, rocksdb::Slice* result, char* scratch, IODebugContext*) override {
    const absl::StatusOr<size_t> got = file_.ReadAt(at_, size, scratch);
    *result = rocksdb::Slice(scratch, got.value_or(0));
    at_ += got.value_or(0);
    return ToIo(got.status());
  }
  IOStatus Skip(uint64_t size) override {
    at_ += size;
    return IOStatus::OK();
  }

 private:
  const MemoryFile file_;
  uint64_t at_ = 0;
};

class RandomMemoryFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomMemoryFile(MemoryFile file) : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions&, rocksdb::Slice* result, char* scratch,
                IODebugContext*) const override {
    *result = rocksdb::Slice(scratch, 0);
    if (NoWaitReads::Take(size) == NoWaitReads::May::kNotRead) return NoWaitReads::WouldWait();
    const absl::StatusOr<size_t> got = file_.ReadAt(offset, size, scratch);
    *result = rocksdb::Slice(scratch, got.value_or(0));
    return ToIo(got.status());
  }

 private:
  const MemoryFile file_;
};

class WritableMemoryFile final : public rocksdb::FSWritableFile {
 public:
  explicit WritableMemoryFile(MemoryFile file) : file_(std::move(file)) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIo(file_.Append({data.data(), data.size()}));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override { return ToIo(file_.Cut(size)); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIo(file_.Sync()); }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return file_.Size(); }

 private:
  MemoryFile file_;
};

class MemoryDirectory final : public rocksdb::FSDirectory {
 public:
  MemoryDirectory(std::shared_ptr<MemoryMount> mount, std::string path)
      : mount_(std::move(mount)), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(mount_->SyncDirectory(path_)); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const std::shared_ptr<MemoryMount> mount_;
  const std::string path_;
};

class MemoryFileLock final : public rocksdb::FileLock {
 public:
  explicit MemoryFileLock(std::unique_ptr<VolumeLock> held) : held_(std::move(held)) {}

 private:
  const std::unique_ptr<VolumeLock> held_;
};

class MemoryFileSystem final : public rocksdb::FileSystem {
 public:
  explicit MemoryFileSystem(std::shared_ptr<MemoryMount> mount) : mount_(std::move(mount)) {}

  const char* Name() const override { return "MemoryFileSystem"; }

  IOStatus NewSequentialFile(const std::string& name, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result, IODebugContext*) override {
    absl::StatusOr<MemoryFile> file = mount_->Open(name);
    if (file.ok()) *result = std::make_unique<SequentialMemoryFile>(*std::move(file));
    return ToIo(file.status());
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result, IODebugContext*) override {
    absl::StatusOr<MemoryFile> file = mount_->Open(name);
    if (file.ok()) *result = std::make_unique<RandomMemoryFile>(*std::move(file));
    return ToIo(file.status());
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext*) override {
    absl::StatusOr<MemoryFile> file = mount_->Create(name);
    if (file.ok()) *result = std::make_unique<WritableMemoryFile>(*std::move(file));
    return ToIo(file.status());
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions&, std::unique_ptr<rocksdb::FSDirectory>* result,
                        IODebugContext*) override {
    *result = std::make_unique<MemoryDirectory>(mount_, name);
    return ToIo(mount_->List(name).status());
  }
  IOStatus FileExists(const std::string& name, const IOOptions&, IODebugContext*) override {
    const absl::StatusOr<bool> exists = mount_->Exists(name);
    return exists.ok() && !*exists ? IOStatus::NotFound(name) : ToIo(exists.status());
  }
  IOStatus GetChildren(const std::string& name, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override {
    absl::StatusOr<std::vector<std::string>> names = mount_->List(name);
    if (absl::IsNotFound(names.status())) return IOStatus::NotFound(name);
    if (names.ok()) *result = *std::move(names);
    return ToIo(names.status());
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions&, IODebugContext*) override {
    const absl::StatusOr<bool> removed = mount_->Remove(name);
    return removed.ok() && !*removed ? IOStatus::PathNotFound(name) : ToIo(removed.status());
  }
  IOStatus CreateDir(const std::string& name, const IOOptions&, IODebugContext*) override {
    return ToIo(mount_->MakeDirectory(name));
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions&, IODebugContext*) override {
    const absl::Status made = mount_->MakeDirectory(name);
    return mount_->List(name).ok() ? IOStatus::OK() : ToIo(made);
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    return DeleteFile(name, options, debug);
  }
  IOStatus GetFileSize(const std::string& name, const IOOptions&, uint64_t* size, IODebugContext*) override {
    const absl::StatusOr<MemoryFile> file = mount_->Open(name);
    if (file.ok()) *size = file->Size();
    return ToIo(file.status());
  }
  IOStatus GetFileModificationTime(const std::string& name, const IOOptions&, uint64_t* time,
                                   IODebugContext*) override {
    *time = 0;
    return ToIo(mount_->Open(name).status());
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&, IODebugContext*) override {
    return ToIo(mount_->Rename(from, to));
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions&, IODebugContext*) override {
    return ToIo(mount_->Link(from, to));
  }
  IOStatus LockFile(const std::string& name, const IOOptions&, rocksdb::FileLock** lock, IODebugContext*) override {
    absl::StatusOr<std::unique_ptr<VolumeLock>> held = mount_->Lock(name, /*alone=*/true, /*make=*/true);
    if (held.ok()) *lock = new MemoryFileLock(*std::move(held));
    return ToIo(held.status());
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    delete lock;
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    *path = "/test";
    return IOStatus::OK();
  }
  IOStatus NewLogger(const std::string& name, const IOOptions&, std::shared_ptr<rocksdb::Logger>*,
                     IODebugContext*) override {
    return IOStatus::NotSupported("logs are not kept here", name);
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute, IODebugContext*) override {
    *absolute = MemoryMount::Normal(path);
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_directory, IODebugContext*) override {
    const absl::StatusOr<std::vector<std::string>> names = mount_->List(path);
    *is_directory = names.ok();
    return absl::IsFailedPrecondition(names.status()) ? IOStatus::OK() : ToIo(names.status());
  }

 private:
  const std::shared_ptr<MemoryMount> mount_;
};

class OpenMemoryFile final : public VolumeFile {
 public:
  OpenMemoryFile(MemoryFile file, Volume::Access access) : file_(std::move(file)), access_(access) {}

  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* to) const override {
    return file_.ReadAt(offset, size, to);
  }
  absl::Status WriteAt(uint64_t offset, std::string_view bytes) override {
    if (access_ == Volume::Access::kRead) return UnavailableError("opened for reading only");
    return file_.WriteAt(offset, bytes);
  }
  absl::Status Sync() override { return file_.Sync(); }
  absl::Status Truncate(uint64_t size) override {
    if (access_ == Volume::Access::kRead) return UnavailableError("opened for reading only");
    ARM_RETURN_IF_ERROR(file_.Cut(size));
    return file_.Sync();
  }
  absl::StatusOr<uint64_t> Size() const override { return file_.Size(); }

 private:
  MemoryFile file_;
  const Volume::Access access_;
};

class MemoryVolume final : public Volume {
 public:
  explicit MemoryVolume(const std::shared_ptr<MemoryMount>& mount)
      : Volume(std::make_shared<MemoryFileSystem>(mount)), mount_(mount) {}

  absl::StatusOr<std::string> Read(const std::string& path) override {
    ARM_ASSIGN_OR_RETURN(const MemoryFile file, mount_->Open(path));
    std::string text(file.Size(), '\0');
    ARM_ASSIGN_OR_RETURN(const size_t size, file.ReadAt(0, text.size(), text.data()));
    text.resize(size);
    return text;
  }
  absl::Status WriteDurably(const std::string& path, std::string_view text) override {
    const std::string temporary = Cat(path, kUnfinishedSuffix);
    ARM_ASSIGN_OR_RETURN(MemoryFile file, mount_->Create(temporary));
    absl::Status written = file.Append(text);
    if (written.ok()) written = file.Sync();
    if (!written.ok()) {
      static_cast<void>(mount_->Remove(temporary));
      return written;
    }
    ARM_RETURN_IF_ERROR(mount_->Rename(temporary, path));
    return mount_->SyncDirectory(std::string(ParentOf(path)));
  }
  absl::StatusOr<std::unique_ptr<VolumeFile>> Open(const std::string& path, Access access) override {
    ARM_ASSIGN_OR_RETURN(MemoryFile file, mount_->Open(path));
    return std::make_unique<OpenMemoryFile>(std::move(file), access);
  }
  absl::Status Allocate(const std::string& path, uint64_t bytes) override {
    if (Size(path).value_or(0) == bytes) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(MemoryFile file, mount_->Create(path));
    absl::Status made = file.Append(std::string(bytes, '\0'));
    if (!made.ok()) static_cast<void>(mount_->Remove(path));
    return made;
  }
  absl::StatusOr<bool> Exists(const std::string& path) override { return mount_->Exists(path); }
  absl::StatusOr<uint64_t> Size(const std::string& path) override {
    ARM_ASSIGN_OR_RETURN(const MemoryFile file, mount_->Open(path));
    return file.Size();
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return mount_->List(directory);
  }
  absl::Status MakeDirectories(const std::string& path) override {
    if (mount_->List(path).ok()) return absl::OkStatus();
    const std::string parent(ParentOf(MemoryMount::Normal(path)));
    ARM_RETURN_IF_ERROR(MakeDirectories(parent));
    ARM_RETURN_IF_ERROR(mount_->MakeDirectory(path));
    return mount_->SyncDirectory(parent);
  }
  absl::Status SyncDirectory(const std::string& path) override { return mount_->SyncDirectory(path); }
  absl::StatusOr<bool> Remove(const std::string& path) override { return mount_->Remove(path); }
  absl::Status RemoveTree(const std::string& path) override {
    const absl::StatusOr<std::vector<std::string>> names = mount_->List(path);
    if (absl::IsNotFound(names.status())) return absl::OkStatus();
    if (!names.ok() && !absl::IsFailedPrecondition(names.status())) return names.status();
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      ARM_RETURN_IF_ERROR(RemoveTree(Cat(path, "/", name)));
    }
    return mount_->Remove(path).status();
  }
  absl::Status Link(const std::string& from, const std::string& to, LinkKind) override {
    return mount_->Link(from, to);
  }
  absl::StatusOr<std::string> MakeScratchDirectory() override {
    std::string path = Cat("/scratch/", mount_->NextNumber());
    ARM_RETURN_IF_ERROR(MakeDirectories(path));
    return path;
  }
  absl::StatusOr<std::unique_ptr<VolumeLock>> Lock(const std::string& path, LockMode mode, bool make) override {
    return mount_->Lock(path, mode == LockMode::kAlone, make);
  }
  absl::StatusOr<DiskUsage> Measure(const std::string& path) override {
    ARM_ASSIGN_OR_RETURN(const bool exists, mount_->Exists(path));
    if (!exists) return UnavailableError(Cat("cannot tell the free space of ", path));
    return mount_->Measure();
  }
  std::string Absolute(const std::string& path) const override { return MemoryMount::Normal(path); }
  absl::Status CloseToOthers(const std::string&) override { return absl::OkStatus(); }
  unsigned OpenToOthers(const std::string&) override { return 0; }
  absl::StatusOr<std::string> IdentityOf(const std::string& path) override {
    ARM_ASSIGN_OR_RETURN(const MemoryFile file, mount_->Open(path));
    return Cat("file ", file.id());
  }
  uint64_t boot() const override { return mount_->boot(); }

 private:
  const std::shared_ptr<MemoryMount> mount_;
};

}  // namespace

MemoryDisk::MemoryDisk() : state_(std::make_shared<MemoryState>()) {}
MemoryDisk::~MemoryDisk() = default;

std::unique_ptr<Volume> MemoryDisk::Mount() {
  return std::make_unique<MemoryVolume>(std::make_shared<MemoryMount>(state_));
}

void MemoryDisk::Crash(const Keep& keep) { state_->Crash(keep); }
void MemoryDisk::SetFault(Fault fault) { state_->SetFault(std::move(fault)); }
void MemoryDisk::SetSize(uint64_t bytes) { state_->SetSize(bytes); }

}  // namespace armature::store
