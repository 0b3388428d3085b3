#include "storage/rados/rados_file_system.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/files/no_wait_reads.h"

namespace armature::rados {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// Logs and manifests are read in pieces of 32 KiB.
constexpr size_t kSequentialReadBytes = size_t{1} << 20;
// Inputs of compactions: RocksDB's own small steps would cost a round trip each.
constexpr size_t kCompactionReadBytes = size_t{2} << 20;

// Time between two looks for the copy of a file that has none.
constexpr absl::Duration kCopyPoll = absl::Milliseconds(100);

bool IsTable(std::string_view name) { return name.ends_with(".sst"); }

IOStatus ToIo(const RadosSession& session, const absl::Status& status) {
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
      return session.is_lost() ? IOStatus::IOFenced(text) : IOStatus::IOError(text);
  }
}

class SequentialRadosFile final : public rocksdb::FSSequentialFile {
 public:
  SequentialRadosFile(std::shared_ptr<RadosSession> session, RadosNodePtr node, std::string name)
      : session_(std::move(session)), node_(std::move(node)), name_(std::move(name)) {}

  IOStatus Read(size_t size, const IOOptions&, rocksdb::Slice* result, char* scratch, IODebugContext*) override {
    size_t filled = 0;
    while (filled < size) {
      if (at_ < ahead_at_ || at_ >= ahead_at_ + ahead_.size()) {
        if (IOStatus status = ReadAhead(); !status.ok()) return status;
        if (ahead_.empty()) break;
      }
      const size_t begin = at_ - ahead_at_;
      const size_t taken = std::min(size - filled, ahead_.size() - begin);
      std::memcpy(scratch + filled, ahead_.data() + begin, taken);
      filled += taken;
      at_ += taken;
    }
    *result = rocksdb::Slice(scratch, filled);
    return IOStatus::OK();
  }
  IOStatus Skip(uint64_t size) override {
    at_ += size;
    return IOStatus::OK();
  }

 private:
  IOStatus ReadAhead() {
    ahead_at_ = at_;
    ahead_.resize(kSequentialReadBytes);
    const absl::StatusOr<size_t> got = node_->file->ReadAt(at_, ahead_.size(), ahead_.data());
    ahead_.resize(got.value_or(0));
    return ToIo(*session_, WithContext(got.status(), name_));
  }

  const std::shared_ptr<RadosSession> session_;
  const RadosNodePtr node_;
  const std::string name_;  // its path
  uint64_t at_ = 0;
  uint64_t ahead_at_ = 0;
  std::string ahead_;
};

class RandomRadosFile final : public rocksdb::FSRandomAccessFile {
 public:
  // `copies`: null if the file is not to be copied.
  RandomRadosFile(std::shared_ptr<RadosSession> session, RadosNodePtr node, std::string name, TableCopies* copies)
      : session_(std::move(session)), node_(std::move(node)), name_(std::move(name)), copies_(copies) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions&, rocksdb::Slice* result, char* scratch,
                IODebugContext*) const override {
    if (store::NoWaitReads::Take(size) != store::NoWaitReads::May::kWait) {
      *result = rocksdb::Slice(scratch, 0);
      return store::NoWaitReads::WouldWait();
    }
    if (copies_ != nullptr && ReadCopy(offset, size, result, scratch)) return IOStatus::OK();
    const absl::StatusOr<size_t> got = node_->file->ReadAt(offset, size, scratch);
    *result = rocksdb::Slice(scratch, got.value_or(0));
    return got.ok() ? IOStatus::OK() : ToIo(*session_, WithContext(got.status(), name_));
  }
  size_t GetUniqueId(char* id, size_t size_max) const override {
    // RocksDB wants ids of which none begins another one.
    const std::string text = Cat(node_->file->id(), ";");
    if (text.size() > size_max) return 0;
    std::copy_n(text.data(), text.size(), id);
    return text.size();
  }

 private:
  // The copy, looked for now and then while it is missing. Null if there is no copy.
  std::shared_ptr<TableCopy> Copy() const {
    const absl::MutexLock lock(&mutex_);
    if (copy_ != nullptr || MonotonicNs() < next_look_ns_) return copy_;
    const std::string& id = node_->file->id();
    copy_ = copies_->Find(id);
    if (copy_ != nullptr && copy_->size() != node_->file->Size()) {
      copies_->RemoveDamaged(id, std::exchange(copy_, nullptr).get());
    }
    if (copy_ != nullptr) return copy_;
    next_look_ns_ = MonotonicAfter(kCopyPoll);
    if (!node_->file->IsUnlinked()) {
      copies_->Fetch(id, node_->file->Size(),
                     [weak = std::weak_ptr(node_->file)](uint64_t at, size_t size, char* to) -> size_t {
                       const std::shared_ptr<StripedFile> file = weak.lock();
                       return file == nullptr || file->IsUnlinked() ? 0 : file->ReadAt(at, size, to).value_or(0);
                     });
    }
    return nullptr;
  }
  // Forgets a copy that is gone or damaged, and has another one made.
  void DropCopy(const TableCopy* copy) const {
    {
      const absl::MutexLock lock(&mutex_);
      if (copy_.get() != copy) return;
      copy_ = nullptr;
      next_look_ns_ = 0;
    }
    Copy();
  }
  bool ReadCopy(uint64_t offset, size_t size, rocksdb::Slice* result, char* scratch) const {
    size_t got = 0;
    const std::shared_ptr<TableCopy> copy = Copy();
    const auto outcome = copy == nullptr ? TableCopy::Result::kGone : copy->ReadAt(offset, size, scratch, &got);
    const bool is_read = outcome == TableCopy::Result::kRead;
    copies_->CountRead(is_read);
    if (is_read) {
      *result = rocksdb::Slice(scratch, got);
      return true;
    }
    if (outcome == TableCopy::Result::kDamaged) copies_->RemoveDamaged(node_->file->id(), copy.get());
    if (copy != nullptr) DropCopy(copy.get());
    return false;
  }

  const std::shared_ptr<RadosSession> session_;
  const RadosNodePtr node_;
  const std::string name_;  // its path
  TableCopies* const copies_;
  mutable absl::Mutex mutex_;
  mutable std::shared_ptr<TableCopy> copy_ ABSL_GUARDED_BY(mutex_);
  mutable int64_t next_look_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

class WritableRadosFile final : public rocksdb::FSWritableFile {
 public:
  // `name`: its path. `copy`: a copy that is made beside; may be null.
  WritableRadosFile(std::shared_ptr<RadosSession> session, std::shared_ptr<NameTable> names, std::string_view name,
                    RadosNodePtr node, std::unique_ptr<CopyWriter> copy)
      : session_(std::move(session)),
        names_(std::move(names)),
        node_(std::move(node)),
        is_log_(name.ends_with(".log")),
        copy_(std::move(copy)) {}
  ~WritableRadosFile() override {
    if (!is_closed_) Close(IOOptions(), nullptr).PermitUncheckedError();
  }
  WritableRadosFile(const WritableRadosFile&) = delete;
  WritableRadosFile& operator=(const WritableRadosFile&) = delete;

  IOStatus Append(const rocksdb::Slice& data, const IOOptions&, IODebugContext*) override {
    const absl::Status appended = node_->file->Append({data.data(), data.size()});
    if (copy_ != nullptr && appended.ok()) copy_->Append({data.data(), data.size()});
    return ToIo(*session_, appended);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    copy_.reset();
    return ToIo(*session_, node_->file->Truncate(size));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    if (std::exchange(is_closed_, true)) return IOStatus::OK();
    const absl::Status ended = names_->EndWriter(node_);
    if (copy_ != nullptr && ended.ok()) copy_->Finish();
    copy_.reset();
    return ToIo(*session_, ended);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIo(*session_, node_->file->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    const int64_t begin_ns = MonotonicNs();
    const absl::Status synced = node_->file->Sync();
    if (is_log_ && synced.ok()) session_->log_syncs().Add(MonotonicNs() - begin_ns);
    return ToIo(*session_, synced);
  }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return ToIo(*session_, node_->file->Flush());
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return node_->file->Size(); }
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const std::shared_ptr<RadosSession> session_;
  const std::shared_ptr<NameTable> names_;
  const RadosNodePtr node_;
  const bool is_log_;
  std::unique_ptr<CopyWriter> copy_;
  bool is_closed_ = false;
};

// Names are durable when they have been changed.
class RadosDirectory final : public rocksdb::FSDirectory {
 public:
  explicit RadosDirectory(std::shared_ptr<RadosSession> session) : session_(std::move(session)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(*session_, session_->CheckOwned()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const std::shared_ptr<RadosSession> session_;
};

class RadosFileLock final : public rocksdb::FileLock {
 public:
  explicit RadosFileLock(std::unique_ptr<store::VolumeLock> held) : held_(std::move(held)) {}

 private:
  const std::unique_ptr<store::VolumeLock> held_;
};

class RadosFileSystem final : public rocksdb::FileSystem {
 public:
  RadosFileSystem(std::shared_ptr<RadosSession> session, std::shared_ptr<NameTable> names, TableCopies* copies)
      : session_(std::move(session)), names_(std::move(names)), copies_(copies) {}

  const char* Name() const override { return "RadosFileSystem"; }

  IOStatus NewSequentialFile(const std::string& name, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result, IODebugContext*) override {
    absl::StatusOr<RadosNodePtr> node = names_->Find(name);
    if (!node.ok()) return ToIo(*session_, node.status());
    *result = std::make_unique<SequentialRadosFile>(session_, *std::move(node), name);
    return IOStatus::OK();
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result, IODebugContext*) override {
    absl::StatusOr<RadosNodePtr> node = names_->Find(name);
    if (!node.ok()) return ToIo(*session_, node.status());
    TableCopies* const copies = IsTable(name) && !names_->IsOpen(*node) ? copies_ : nullptr;
    *result = std::make_unique<RandomRadosFile>(session_, *std::move(node), name, copies);
    return IOStatus::OK();
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext*) override {
    absl::StatusOr<RadosNodePtr> node = names_->Create(name);
    if (!node.ok()) return ToIo(*session_, node.status());
    std::unique_ptr<CopyWriter> copy;
    if (copies_ != nullptr && IsTable(name)) copy = copies_->Begin((*node)->file->id());
    *result = std::make_unique<WritableRadosFile>(session_, names_, name, *std::move(node), std::move(copy));
    return IOStatus::OK();
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) override {
    absl::StatusOr<RadosNodePtr> node = names_->OpenToChange(name);
    if (absl::IsNotFound(node.status())) return NewWritableFile(name, options, result, debug);
    if (!node.ok()) return ToIo(*session_, node.status());
    if (copies_ != nullptr) copies_->Remove((*node)->file->id());
    *result = std::make_unique<WritableRadosFile>(session_, names_, name, *std::move(node), nullptr);
    return IOStatus::OK();
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions&, std::unique_ptr<rocksdb::FSDirectory>* result,
                        IODebugContext*) override {
    *result = std::make_unique<RadosDirectory>(session_);
    return ToIo(*session_, names_->List(name).status());
  }
  IOStatus FileExists(const std::string& name, const IOOptions&, IODebugContext*) override {
    const absl::StatusOr<bool> exists = names_->Exists(name);
    return exists.ok() && !*exists ? IOStatus::NotFound(name) : ToIo(*session_, exists.status());
  }
  IOStatus GetChildren(const std::string& name, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override {
    absl::StatusOr<std::vector<std::string>> names = names_->List(name);
    if (absl::IsNotFound(names.status())) return IOStatus::NotFound(name);
    if (!names.ok()) return ToIo(*session_, names.status());
    *result = *std::move(names);
    return IOStatus::OK();
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions&, IODebugContext*) override {
    const absl::StatusOr<RadosNodePtr> node = copies_ == nullptr ? absl::NotFoundError("") : names_->Find(name);
    const absl::StatusOr<bool> removed = names_->Remove(name);
    // Another name of the file would only fetch its copy again.
    if (node.ok() && removed.value_or(false)) copies_->Remove((*node)->file->id());
    return removed.ok() && !*removed ? IOStatus::PathNotFound(name) : ToIo(*session_, removed.status());
  }
  IOStatus CreateDir(const std::string& name, const IOOptions&, IODebugContext*) override {
    return ToIo(*session_, names_->MakeDirectory(name));
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions&, IODebugContext*) override {
    const absl::Status made = names_->MakeDirectory(name);
    return absl::IsAlreadyExists(made) && names_->IsDirectory(name).value_or(false) ? IOStatus::OK()
                                                                                    : ToIo(*session_, made);
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    return DeleteFile(name, options, debug);
  }
  IOStatus GetFileSize(const std::string& name, const IOOptions&, uint64_t* size, IODebugContext*) override {
    const absl::StatusOr<RadosNodePtr> node = names_->Find(name);
    if (node.ok()) *size = (*node)->file->Size();
    return ToIo(*session_, node.status());
  }
  IOStatus GetFileModificationTime(const std::string& name, const IOOptions&, uint64_t* time,
                                   IODebugContext*) override {
    const absl::StatusOr<RadosNodePtr> node = names_->Find(name);
    if (node.ok()) *time = (*node)->changed_s;
    return ToIo(*session_, node.status());
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&, IODebugContext*) override {
    return ToIo(*session_, names_->Rename(from, to));
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions&, IODebugContext*) override {
    return ToIo(*session_, names_->Link(from, to));
  }
  IOStatus LockFile(const std::string& name, const IOOptions&, rocksdb::FileLock** lock, IODebugContext*) override {
    absl::StatusOr<std::unique_ptr<store::VolumeLock>> held = names_->Lock(name, /*alone=*/true, /*make=*/true);
    if (!held.ok()) return ToIo(*session_, held.status());
    *lock = new RadosFileLock(*std::move(held));
    return IOStatus::OK();
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
    *absolute = NameTable::Normal(path);
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_directory, IODebugContext*) override {
    const absl::StatusOr<bool> is = names_->IsDirectory(path);
    *is_directory = is.value_or(false);
    return ToIo(*session_, is.status());
  }
  FileOptions OptimizeForCompactionTableRead(const FileOptions& options,
                                             const rocksdb::ImmutableDBOptions& database) const override {
    FileOptions optimized = rocksdb::FileSystem::OptimizeForCompactionTableRead(options, database);
    optimized.compaction_readahead_size = std::max(optimized.compaction_readahead_size, kCompactionReadBytes);
    return optimized;
  }

 private:
  const std::shared_ptr<RadosSession> session_;
  const std::shared_ptr<NameTable> names_;
  TableCopies* const copies_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> NewRadosFileSystem(std::shared_ptr<RadosSession> session,
                                                        std::shared_ptr<NameTable> names, TableCopies* copies) {
  return std::make_shared<RadosFileSystem>(std::move(session), std::move(names), copies);
}

}  // namespace armature::rados
