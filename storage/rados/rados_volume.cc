#include "storage/rados/rados_volume.h"

#include <sys/random.h>

#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/worker.h"
#include "storage/rados/lease.h"
#include "storage/rados/name_table.h"
#include "storage/rados/pool_space.h"
#include "storage/rados/rados_file_system.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/table_copies.h"
#include "storage/rados/volume_check.h"
#include "storage/rados/volume_record.h"

namespace armature::rados {
namespace {

using store::DiskUsage;
using store::LinkKind;
using store::ParentOf;
using store::VolumeFile;
using store::VolumeLock;

constexpr size_t kAllocateBytes = size_t{1} << 20;
constexpr absl::Duration kHandoverPoll = absl::Milliseconds(50);

uint64_t RandomBoot() {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) std::abort();
  return bits | 1;  // not 0
}

class OpenRadosFile final : public VolumeFile {
 public:
  OpenRadosFile(std::shared_ptr<NameTable> names, RadosNodePtr node, store::Volume::Access access)
      : names_(std::move(names)), node_(std::move(node)), access_(access) {}
  ~OpenRadosFile() override {
    // If it fails, the next owner finds the size.
    if (access_ == store::Volume::Access::kChange) static_cast<void>(names_->EndWriter(node_));
  }
  OpenRadosFile(const OpenRadosFile&) = delete;
  OpenRadosFile& operator=(const OpenRadosFile&) = delete;

  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* to) const override {
    return node_->file->ReadAt(offset, size, to);
  }
  absl::Status WriteAt(uint64_t offset, std::string_view bytes) override {
    ARM_RETURN_IF_ERROR(CheckMayChange());
    return node_->file->WriteAt(offset, bytes);
  }
  absl::Status Sync() override { return node_->file->Sync(); }
  absl::Status Truncate(uint64_t size) override {
    ARM_RETURN_IF_ERROR(CheckMayChange());
    return node_->file->Truncate(size);
  }
  absl::StatusOr<uint64_t> Size() const override { return node_->file->Size(); }

 private:
  absl::Status CheckMayChange() const {
    if (access_ == store::Volume::Access::kChange) return absl::OkStatus();
    return UnavailableError(Cat("cannot write ", node_->file->id(), ": opened for reading only"));
  }

  const std::shared_ptr<NameTable> names_;
  const RadosNodePtr node_;
  const store::Volume::Access access_;
};

// Looks once for objects that are lost, in a thread of its own: otherwise a read finds them, perhaps long afterwards.
//
// Thread-safety: thread-safe.
class ObjectScan {
 public:
  ObjectScan(std::shared_ptr<RadosSession> session, std::shared_ptr<NameTable> names)
      : session_(std::move(session)), names_(std::move(names)) {
    worker_.Start();
  }
  // The destructor waits for the answers under way.
  ObjectScan(const ObjectScan&) = delete;
  ObjectScan& operator=(const ObjectScan&) = delete;

  uint64_t lost() const { return lost_.load(); }

 private:
  Worker::Next Scan() {
    const auto lost = FindLostObjects(session_.get(), *names_, [this] { return worker_.is_stopping(); });
    if (!lost.ok()) {
      LOG(WARNING) << "rados: lost objects were looked for in vain: " << lost.status();
      return Worker::Next::Never();
    }
    lost_.store(lost->size());
    for (size_t i = 0; i < lost->size() && i < kToldMax; ++i) LOG(ERROR) << "rados: an object is lost: " << (*lost)[i];
    if (lost->size() > kToldMax) {
      LOG(ERROR) << "rados: " << lost->size() << " objects are lost; armature store fsck names them";
    }
    return Worker::Next::Never();
  }

  static constexpr size_t kToldMax = 20;
  const std::shared_ptr<RadosSession> session_;
  const std::shared_ptr<NameTable> names_;
  std::atomic<uint64_t> lost_ = 0;
  Worker worker_{"arm-scan", [this] { return Scan(); }};
};

class MountedVolume final : public RadosVolume {
 public:
  MountedVolume(std::shared_ptr<RadosSession> session, std::unique_ptr<Lease> lease, std::shared_ptr<NameTable> names,
                std::unique_ptr<TableCopies> copies, std::string id)
      : RadosVolume(NewRadosFileSystem(session, names, copies.get())),
        session_(std::move(session)),
        lease_(std::move(lease)),
        names_(std::move(names)),
        copies_(std::move(copies)),
        space_(session_),
        id_(std::move(id)),
        boot_(RandomBoot()),
        scan_(session_->options().scans_objects ? std::make_unique<ObjectScan>(session_, names_) : nullptr) {}

  absl::StatusOr<std::string> Read(const std::string& path) override {
    ARM_ASSIGN_OR_RETURN(const RadosNodePtr node, names_->Find(path));
    std::string text(node->file->Size(), '\0');
    ARM_ASSIGN_OR_RETURN(const size_t size, Named(path, node->file->ReadAt(0, text.size(), text.data())));
    text.resize(size);
    return text;
  }
  absl::Status WriteDurably(const std::string& path, std::string_view text) override {
    return names_->Replace(path, text);
  }
  absl::StatusOr<std::unique_ptr<VolumeFile>> Open(const std::string& path, Access access) override {
    ARM_ASSIGN_OR_RETURN(RadosNodePtr node,
                         access == Access::kChange ? names_->OpenToChange(path) : names_->Find(path));
    return std::make_unique<OpenRadosFile>(names_, std::move(node), access);
  }
  absl::Status Allocate(const std::string& path, uint64_t bytes) override;
  absl::StatusOr<bool> Exists(const std::string& path) override { return names_->Exists(path); }
  absl::StatusOr<uint64_t> Size(const std::string& path) override {
    ARM_ASSIGN_OR_RETURN(const RadosNodePtr node, names_->Find(path));
    return node->file->Size();
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return names_->List(directory);
  }
  absl::Status MakeDirectories(const std::string& path) override {
    const absl::StatusOr<bool> is_directory = names_->IsDirectory(path);
    if (is_directory.value_or(false)) return absl::OkStatus();
    if (is_directory.ok()) return UnavailableError(Cat(path, ": Not a directory"));
    if (!absl::IsNotFound(is_directory.status())) return is_directory.status();
    ARM_RETURN_IF_ERROR(MakeDirectories(std::string(ParentOf(NameTable::Normal(path)))));
    const absl::Status made = names_->MakeDirectory(path);
    return absl::IsAlreadyExists(made) ? absl::OkStatus() : made;
  }
  absl::Status SyncDirectory(const std::string& path) override { return names_->List(path).status(); }
  absl::StatusOr<bool> Remove(const std::string& path) override { return names_->Remove(path); }
  absl::Status RemoveTree(const std::string& path) override { return names_->RemoveTree(path); }
  absl::Status Link(const std::string& from, const std::string& to, LinkKind kind) override {
    if (kind == LinkKind::kSymbolic) return UnavailableError(Cat("cannot link ", to, ": RADOS has no symbolic links"));
    return names_->Link(from, to);
  }
  absl::StatusOr<std::string> MakeScratchDirectory() override {
    std::string path = Cat("/scratch/", names_->NewId());
    ARM_RETURN_IF_ERROR(MakeDirectories(path));
    return path;
  }
  absl::StatusOr<std::unique_ptr<VolumeLock>> Lock(const std::string& path, LockMode mode, bool make) override {
    return names_->Lock(path, mode == LockMode::kAlone, make);
  }
  absl::StatusOr<DiskUsage> Measure(const std::string& path) override {
    ARM_ASSIGN_OR_RETURN(const bool exists, names_->Exists(path));
    if (!exists) return UnavailableError(Cat("cannot tell the free space of ", path, ": it is missing"));
    return space_.last();
  }
  std::string Absolute(const std::string& path) const override { return NameTable::Normal(path); }
  // The cluster knows users of pools, not of files.
  absl::Status CloseToOthers(const std::string&) override { return absl::OkStatus(); }
  unsigned OpenToOthers(const std::string&) override { return 0; }
  // No file of a volume can be copied into another one without this program, so all have the identity of the volume.
  absl::StatusOr<std::string> IdentityOf(const std::string& path) override {
    ARM_RETURN_IF_ERROR(names_->Find(path).status());
    return Cat("volume ", id_);
  }
  uint64_t boot() const override { return boot_; }
  absl::Status CheckCurrent() const override {
    if (lease_->IsCertain()) return absl::OkStatus();
    return UnavailableError("This server may not be the database's owner any more: its lease was not renewed in time");
  }

  bool IsOwnerForCertain() const override { return lease_->IsCertain(); }
  uint64_t epoch() const override { return session_->epoch(); }
  VolumeStats stats() const override {
    return {.epoch = session_->epoch(),
            .lease_left_s = lease_->LeftSeconds(),
            .file_bytes = session_->totals().bytes.load(),
            .objects = session_->totals().objects.load(),
            .lost_objects = scan_ == nullptr ? 0 : scan_->lost(),
            .copies = copies_ == nullptr ? TableCopiesCounters() : copies_->counters(),
            .log_syncs = session_->log_syncs().counts()};
  }
  absl::Status Announce(std::string_view service) override { return lease_->Announce(service); }
  absl::StatusOr<VolumeCheck> Check(bool collects) override { return CheckVolume(session_.get(), *names_, collects); }
  absl::StatusOr<std::vector<std::string>> FindLost() override {
    return FindLostObjects(session_.get(), *names_, nullptr);
  }
  void Abandon() override {
    session_->Abandon();
    lease_->Abandon();
  }

 private:
  // Errors of a file's objects name the objects.
  template <class T>
  static absl::StatusOr<T> Named(const std::string& path, absl::StatusOr<T> result) {
    if (result.ok()) return result;
    return WithContext(result.status(), path);
  }

  const std::shared_ptr<RadosSession> session_;
  const std::unique_ptr<Lease> lease_;  // given back after the files were closed
  const std::shared_ptr<NameTable> names_;
  const std::unique_ptr<TableCopies> copies_;  // may be null
  PoolSpace space_;
  const std::string id_;  // of the volume
  const uint64_t boot_;
  const std::unique_ptr<ObjectScan> scan_;  // may be null
};

absl::Status MountedVolume::Allocate(const std::string& path, uint64_t bytes) {
  if (Size(path).value_or(0) == bytes) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const RadosNodePtr node, names_->Create(path));
  absl::Status made;
  for (uint64_t left = bytes; made.ok() && left > 0;) {
    const std::string zeros(std::min<uint64_t>(left, kAllocateBytes), '\0');
    made = node->file->Append(zeros);
    left -= zeros.size();
  }
  const absl::Status ended = names_->EndWriter(node);
  if (made.ok()) made = ended;
  if (!made.ok()) static_cast<void>(names_->Remove(path));
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RadosVolume>> RadosVolume::Mount(const RadosVolumeOptions& options) {
  ARM_ASSIGN_OR_RETURN(std::shared_ptr<RadosSession> session, RadosSession::Connect(options));
  VolumeRecord record;
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<Lease> lease, Lease::Take(session, &record));
  std::unique_ptr<TableCopies> copies;
  if (!options.copies_directory.empty()) {
    auto opened = TableCopies::Open(options.copies_directory, options.copies_bytes_max, record.id);
    // A takeover must not fail for want of a cache.
    if (!opened.ok()) LOG(ERROR) << "rados: no copies of table files: " << opened.status();
    if (opened.ok()) copies = *std::move(opened);
  }
  ARM_ASSIGN_OR_RETURN(std::shared_ptr<NameTable> names, NameTable::Load(session, record.stripe_bytes));
  return std::make_unique<MountedVolume>(std::move(session), std::move(lease), std::move(names), std::move(copies),
                                         std::move(record.id));
}

namespace {

absl::StatusOr<VolumeStatus> ReadStatus(RadosSession* session) {
  absl::StatusOr<VolumeRecord> read = ReadVolumeRecord(session);
  if (absl::IsNotFound(read.status())) ARM_RETURN_IF_ERROR(CheckThere(session));
  ARM_ASSIGN_OR_RETURN(VolumeRecord record, std::move(read));
  return VolumeStatus{.id = std::move(record.id),
                      .epoch = record.epoch,
                      .stripe_bytes = record.stripe_bytes,
                      .owner = std::move(record.owner),
                      .holder = FindHolder(session)};
}

}  // namespace

absl::StatusOr<VolumeStatus> ReadVolumeStatus(const RadosVolumeOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::shared_ptr<RadosSession> session, RadosSession::Connect(options));
  return ReadStatus(session.get());
}

namespace {

// The reason for which a volume has no other owner than `asked`, the address of the one that was asked to end.
std::string WhyNoOther(const std::string& asked, const VolumeStatus& now) {
  if (!now.holder.empty()) {
    return Cat("a daemon at ", asked, " was asked to end, and does so when its connections are drained");
  }
  if (now.owner.client.empty()) return "the former one has left, and nobody waits for it";
  return Cat("a daemon at ", asked, " was asked, but its lease has run out: it is dead or cut off, and nobody waits");
}

}  // namespace

absl::StatusOr<VolumeStatus> HandOverVolume(const RadosVolumeOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::shared_ptr<RadosSession> session, RadosSession::Connect(options));
  ARM_ASSIGN_OR_RETURN(const VolumeStatus before, ReadStatus(session.get()));
  const std::string place = Cat("the volume rados://", options.pool, "/", options.name_space);
  if (before.owner.client.empty()) return FailedPreconditionError(Cat(place, " has no owner"));
  ARM_RETURN_IF_ERROR(AskForHandover(session.get(), before.epoch));
  StopSignal never;
  const int64_t end_ns = MonotonicAfter(options.owner_wait);
  absl::StatusOr<VolumeStatus> now = before;
  while (MonotonicNs() < end_ns && !(options.is_cancelled && options.is_cancelled())) {
    // An answer that does not come ends nothing: the handover goes on.
    now = ReadStatus(session.get());
    if (now.ok() && now->epoch > before.epoch && !now->owner.client.empty()) return now;
    never.WaitFor(kHandoverPoll);
  }
  if (!now.ok()) return now.status();
  return UnavailableError(Cat(place, " has no other owner yet: ", WhyNoOther(before.owner.client, *now)));
}

}  // namespace armature::rados
