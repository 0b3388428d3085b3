#include "storage/store/backup/backup_repository.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository_impl.h"

namespace armature::store {
namespace {

constexpr std::string_view kRepositoryMagic = "armature backups";
constexpr std::string_view kFormatFile = "armature.backups";
// RocksDB copies in chunks of what a tenth of a second allows, and copies nothing if that is too little.
constexpr uint64_t kBytesPerSecondMin = uint64_t{64} << 10;

std::shared_ptr<rocksdb::RateLimiter> MakeLimiter(uint64_t bytes_per_second) {
  if (bytes_per_second == 0) return nullptr;
  constexpr int64_t kRefillMicros = 100'000;
  constexpr int32_t kFairness = 10;
  return std::shared_ptr<rocksdb::RateLimiter>(
      rocksdb::NewGenericRateLimiter(static_cast<int64_t>(std::max(bytes_per_second, kBytesPerSecondMin)),
                                     kRefillMicros, kFairness, rocksdb::RateLimiter::Mode::kAllIo));
}

// True if the directory is empty, or holds only the leftovers of an earlier start that died at once.
absl::StatusOr<bool> IsUnused(Volume* volume, const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> entries = volume->List(path);
  if (absl::IsNotFound(entries.status())) return true;
  if (!entries.ok()) return entries.status();
  for (const std::string& name : *entries) {
    bool is_ours = name == "LOCK" || name == Cat(kFormatFile, kUnfinishedSuffix);
    if (name == "manifests") {
      const absl::StatusOr<std::vector<std::string>> manifests = volume->List(Cat(path, "/", name));
      is_ours = manifests.ok() && manifests->empty();
    }
    if (!is_ours) return false;
  }
  return true;
}

}  // namespace

BackupRepository::Impl::Impl(const std::string& path, const BackupRepositoryOptions& given)
    // RocksDB needs an absolute path, to which it appends a slash.
    : files(given.volume, given.volume->Absolute(path)),
      options(given),
      limiter(MakeLimiter(given.bytes_per_second_max)) {}

absl::Status BackupRepository::Impl::CheckWritable() const {
  if (options.mode == BackupRepositoryOptions::Mode::kWrite) return absl::OkStatus();
  return FailedPreconditionError(Cat("backup directory ", files.path(), " is opened for reading only"));
}

absl::Status BackupRepository::Impl::ReadFormat() {
  const std::string file = FormatPath();
  ARM_ASSIGN_OR_RETURN(const std::string text, volume().Read(file));
  std::string_view left = text;
  if (left.substr(0, left.find('\n')) != kRepositoryMagic) {
    return FailedPreconditionError(Cat(file, " is not the file of a backup directory"));
  }
  int format = 0;
  BackupId stored_next = 0;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    const char* const end = line.data() + line.size();
    const std::string_view name = line.substr(0, colon);
    if (name == "format") std::from_chars(line.data() + colon + 2, end, format);
    if (name == "next") std::from_chars(line.data() + colon + 2, end, stored_next);
  }
  if (format > kBackupFormatVersion) {
    return FailedPreconditionError(Cat("backup directory ", files.path(), " has format ", format,
                                       "; this build reads formats up to ", kBackupFormatVersion,
                                       ": use a newer armatured"));
  }
  if (format < 1 || stored_next == 0) {
    return FailedPreconditionError(Cat(file, " is damaged: it must name a format and the next number"));
  }
  next = stored_next;
  return absl::OkStatus();
}

absl::Status BackupRepository::Impl::WriteNext(BackupId id) {
  if (id <= next) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(volume().WriteDurably(
      FormatPath(), Cat(kRepositoryMagic, "\nformat: ", kBackupFormatVersion, "\nnext: ", id, "\n")));
  next = id;
  return absl::OkStatus();
}

absl::Status BackupRepository::Impl::OpenToWrite() {
  const std::string& path = files.path();
  ARM_RETURN_IF_ERROR(volume().MakeDirectories(path));
  ARM_ASSIGN_OR_RETURN(bool is_made, volume().Exists(FormatPath()));
  if (!is_made) {
    // Checked before the lock is taken: taking it would create a file in a directory that is not ours.
    ARM_ASSIGN_OR_RETURN(const bool unused, IsUnused(&volume(), path));
    if (!unused) {
      return FailedPreconditionError(
          Cat("backup directory ", path, " is not empty and holds no ", kFormatFile, ": not ours; name an empty one"));
    }
  }
  absl::StatusOr<std::unique_ptr<VolumeLock>> locked =
      volume().Lock(files.PathOf("LOCK"), Volume::LockMode::kAlone, /*make=*/true);
  if (absl::IsFailedPrecondition(locked.status())) {
    return absl::AbortedError(Cat("backup directory ", path, " is being written by another process"));
  }
  if (!locked.ok()) return WithContext(locked.status(), Cat("backup directory ", path, " is not writable"));
  lock = *std::move(locked);
  // Checked again: before the lock was held, another process could have been writing.
  ARM_ASSIGN_OR_RETURN(is_made, volume().Exists(FormatPath()));
  if (is_made) {
    ARM_RETURN_IF_ERROR(ReadFormat());
  } else {
    ARM_RETURN_IF_ERROR(volume().MakeDirectories(files.PathOf("manifests")));
    next = 0;
    ARM_RETURN_IF_ERROR(WriteNext(1));
  }
  ARM_ASSIGN_OR_RETURN(const std::vector<KnownBackup> known, files.ReadAll());
  if (!HasDamage(known)) files.Sweep(known);
  return absl::OkStatus();
}

absl::Status BackupRepository::Impl::CheckContents(const BackupManifest& manifest, BackupWork* work) const {
  for (const BackupFile& file : manifest.files) ARM_RETURN_IF_ERROR(files.CheckContent(file, work));
  return absl::OkStatus();
}

rocksdb::BackupEngineOptions BackupRepository::Impl::EngineOptions(rocksdb::Env* env) const {
  rocksdb::BackupEngineOptions engine(files.path(), env);
  engine.share_table_files = true;
  engine.share_files_with_checksum = true;
  engine.backup_log_files = true;
  engine.sync = true;
  engine.schema_version = 1;
  engine.backup_rate_limiter = limiter;
  engine.restore_rate_limiter = limiter;
  return engine;
}

BackupRepository::BackupRepository(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupRepository::~BackupRepository() = default;

const std::string& BackupRepository::path() const { return impl_->files.path(); }

absl::StatusOr<std::unique_ptr<BackupRepository>> BackupRepository::Open(const std::string& path,
                                                                         const BackupRepositoryOptions& options) {
  auto impl = std::make_unique<Impl>(path, options);
  {
    const absl::MutexLock lock(&impl->writing);
    if (options.mode == BackupRepositoryOptions::Mode::kWrite) {
      ARM_RETURN_IF_ERROR(impl->OpenToWrite());
    } else {
      // Before the format is read: the first backup may be making the directory now.
      ARM_ASSIGN_OR_RETURN(const bool unused, IsUnused(options.volume, impl->files.path()));
      const absl::Status read = impl->ReadFormat();
      if (absl::IsNotFound(read)) {
        const std::string message = Cat("there are no backups in ", impl->files.path(), ": it holds no ", kFormatFile);
        return unused ? absl::NotFoundError(message) : FailedPreconditionError(message);
      }
      ARM_RETURN_IF_ERROR(read);
    }
  }
  return std::unique_ptr<BackupRepository>(new BackupRepository(std::move(impl)));
}

absl::StatusOr<std::vector<BackupEntry>> BackupRepository::List() {
  ARM_ASSIGN_OR_RETURN(std::vector<KnownBackup> known, impl_->files.ReadAll());
  std::vector<BackupEntry> entries;
  entries.reserve(known.size());
  for (KnownBackup& backup : known) entries.push_back(std::move(backup.entry));
  return entries;
}

absl::StatusOr<BackupEntry> BackupRepository::Find(BackupId id) {
  ARM_ASSIGN_OR_RETURN(KnownBackup known, impl_->files.Read(id));
  return std::move(known.entry);
}

absl::Status BackupRepository::Verify(BackupId id, const BackupObserver& observer) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeLock> held, impl_->files.Hold(id));
  ARM_ASSIGN_OR_RETURN(const KnownBackup known, impl_->files.Read(id));
  ARM_RETURN_IF_ERROR(known.state);
  BackupWork work(observer, impl_->limiter.get());
  work.Expect(known.entry.size_bytes);
  return impl_->CheckContents(*known.manifest, &work);
}

absl::Status BackupRepository::Delete(BackupId id) {
  ARM_RETURN_IF_ERROR(impl_->CheckWritable());
  const absl::MutexLock lock(&impl_->writing);
  ARM_ASSIGN_OR_RETURN(std::vector<KnownBackup> known, impl_->files.ReadAll());
  return impl_->Delete(id, &known);
}

// The manifest is removed first: a later sweep removes the rest if a crash interrupts the deletion.
absl::Status BackupRepository::Impl::Delete(BackupId id, std::vector<KnownBackup>* known) {
  const auto found =
      std::find_if(known->begin(), known->end(), [&](const KnownBackup& backup) { return backup.entry.id == id; });
  if (found == known->end()) return absl::NotFoundError(Cat("there is no backup ", id, " in ", files.path()));
  const std::string path = files.ManifestPath(id);
  const absl::StatusOr<std::unique_ptr<VolumeLock>> alone =
      volume().Lock(path, Volume::LockMode::kAlone, /*make=*/false);
  if (absl::IsFailedPrecondition(alone.status())) {
    return FailedPreconditionError(Cat("backup ", id, " in ", files.path(), " is being read"));
  }
  if (!alone.ok()) return alone.status();
  // The id of a deleted backup must not be reused.
  ARM_RETURN_IF_ERROR(WriteNext(known->back().entry.id + 1));
  const KnownBackup deleted = std::move(*found);
  known->erase(found);
  ARM_RETURN_IF_ERROR(volume().Remove(path).status());
  ARM_RETURN_IF_ERROR(volume().SyncDirectory(std::string(ParentOf(path))));
  ARM_FAULT_POINT("backup.manifest_removed");
  LOG(INFO) << "store: backup deleted path=" << files.path() << " backup=" << id;
  if (!HasDamage(*known)) {
    files.Sweep(*known);
  } else if (deleted.manifest.has_value()) {
    files.RemoveFilesOf(*deleted.manifest, *known);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BackupId>> BackupRepository::Prune(size_t keep,
                                                              const std::function<bool(const BackupEntry&)>& may_go) {
  ARM_RETURN_IF_ERROR(impl_->CheckWritable());
  const absl::MutexLock lock(&impl_->writing);
  ARM_ASSIGN_OR_RETURN(std::vector<KnownBackup> known, impl_->files.ReadAll());
  std::vector<BackupId> candidates;
  for (const KnownBackup& backup : known) {
    if (!backup.state.ok()) {
      return FailedPreconditionError(
          Cat("backup ", backup.entry.id, " is damaged, and no other is deleted unless named: ", backup.entry.damage));
    }
    if (!may_go || may_go(backup.entry)) candidates.push_back(backup.entry.id);
  }
  candidates.resize(candidates.size() - std::min(candidates.size(), std::max<size_t>(keep, 1)));
  std::vector<BackupId> deleted;
  for (const BackupId id : candidates) {
    const absl::Status status = impl_->Delete(id, &known);
    // The backup is being read. A later Prune deletes it.
    if (absl::IsFailedPrecondition(status)) continue;
    ARM_RETURN_IF_ERROR(status);
    deleted.push_back(id);
  }
  return deleted;
}

}  // namespace armature::store
