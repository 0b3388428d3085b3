// Creation of a backup.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "glog/logging.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/backup_engine.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_env.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/backup/backup_repository_impl.h"
#include "storage/store/database.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

// Prevents the creation and dropping of families while RocksDB lists the files to copy. Rows in the log of a family
// missing from that list would be lost when the log is replayed.
class FamilyHold {
 public:
  explicit FamilyHold(RocksDb* rocks) : rocks_(rocks) {}
  ~FamilyHold() { Release(); }
  FamilyHold(const FamilyHold&) = delete;
  FamilyHold& operator=(const FamilyHold&) = delete;

  void Begin() {
    rocks_->HoldFamilies();
    held_ = true;
  }
  void Release() {
    if (held_.exchange(false)) rocks_->ReleaseFamilies();
  }

 private:
  RocksDb* const rocks_;
  std::atomic<bool> held_ = false;
};

// Estimate of the bytes to copy: the log, and table files that earlier backups do not have. RocksDB names these
// <number>_s<session>_<size>.sst.
uint64_t EstimateBytes(const BackupFiles& files, rocksdb::DB* db) {
  std::set<std::pair<uint64_t, uint64_t>> present;
  const absl::StatusOr<std::vector<std::string>> names = files.volume()->List(files.PathOf("shared_checksum"));
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const size_t size_at = name.rfind('_');
    if (size_at == std::string::npos) continue;
    present.emplace(std::strtoull(name.c_str(), nullptr, 10), std::strtoull(name.c_str() + size_at + 1, nullptr, 10));
  }
  uint64_t bytes = 0;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db->GetLiveFilesMetaData(&tables);
  for (const rocksdb::LiveFileMetaData& table : tables) {
    if (!present.contains({table.file_number, table.size})) bytes += table.size;
  }
  rocksdb::VectorLogPtr logs;
  if (db->GetSortedWalFiles(logs).ok()) {
    for (const auto& log : logs) bytes += log->SizeFileBytes();
  }
  return bytes;
}

absl::Status CheckSameDatabase(const std::vector<KnownBackup>& known, const std::string& path, const std::string& id) {
  for (const KnownBackup& backup : known) {
    if (backup.manifest.has_value() && backup.entry.database_id != id) {
      return FailedPreconditionError(Cat("backup directory ", path, " holds backups of another database (",
                                         backup.entry.database_id, "; this one is ", id, ")"));
    }
  }
  return absl::OkStatus();
}

// Lets RocksDB copy the files. Returns RocksDB's number of the backup.
// `hold`: begins when the engine has read what is known of earlier backups, which a slow disk makes long.
absl::StatusOr<uint32_t> Copy(const rocksdb::BackupEngineOptions& options, RocksDb* rocks, FamilyHold* hold) {
  rocksdb::BackupEngine* raw = nullptr;
  ARM_RETURN_IF_ERROR(FromRocks(rocksdb::BackupEngine::Open(options, rocks->volume()->env(), &raw),
                                Cat("open backup directory ", options.backup_dir)));
  const std::unique_ptr<rocksdb::BackupEngine> engine(raw);
  hold->Begin();
  rocksdb::BackupID id = 0;
  const rocksdb::Status made = engine->CreateNewBackup(rocksdb::CreateBackupOptions(), rocks->db(), &id);
  ARM_RETURN_IF_ERROR(FromRocks(made, Cat("back up to ", options.backup_dir)));
  return id;
}

// A file shared by several backups must have the same size and checksum in all of them.
absl::Status CheckAgainst(const std::vector<KnownBackup>& known, const std::string& path,
                          const BackupManifest& manifest) {
  StringMap<const BackupFile*> named;
  for (const KnownBackup& backup : known) {
    if (!backup.manifest.has_value()) continue;
    for (const BackupFile& file : backup.manifest->files) named.emplace(file.name, &file);
  }
  for (const BackupFile& file : manifest.files) {
    const auto earlier = named.find(file.name);
    // Private names may repeat if an earlier backup has lost RocksDB's own file.
    if (earlier == named.end() || !file.name.starts_with("shared")) continue;
    if (earlier->second->crc32c != file.crc32c || earlier->second->size != file.size) {
      return DataLossError(Cat(path, "/", file.name, " is damaged: an earlier backup has another checksum of it"));
    }
  }
  return absl::OkStatus();
}

// Fills `manifest` from RocksDB's own file about the backup.
absl::Status Describe(const BackupFiles& files, const BackupAttempt& attempt, BackupManifest* manifest) {
  const std::string path = files.MetaPath(manifest->engine_id);
  ARM_ASSIGN_OR_RETURN(const std::string meta, files.volume()->Read(path));
  manifest->meta_bytes = meta.size();
  manifest->meta_checksum = BackupChecksum(meta);
  absl::StatusOr<std::vector<BackupFile>> named = ParseEngineMeta(meta);
  if (!named.ok()) return WithContext(named.status(), path);
  manifest->files = *std::move(named);
  manifest->entry.file_count = manifest->files.size();
  for (BackupFile& file : manifest->files) {
    const std::string file_path = files.PathOf(file.name);
    const absl::StatusOr<uint64_t> size = files.volume()->Size(file_path);
    if (!size.ok()) return DataLossError(Sv(size.status().message()));
    file.size = *size;
    manifest->entry.size_bytes += file.size;
    if (attempt.HasWritten(file_path)) manifest->entry.added_bytes += file.size;
  }
  return absl::OkStatus();
}

// Reads back the files that were written.
absl::Status CheckWritten(const BackupFiles& files, const BackupAttempt& attempt, const BackupManifest& manifest,
                          BackupWork* work) {
  work->Settle();
  work->Expect(manifest.entry.added_bytes);
  for (const BackupFile& file : manifest.files) {
    if (attempt.HasWritten(files.PathOf(file.name))) ARM_RETURN_IF_ERROR(files.CheckContent(file, work));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BackupEntry> BackupRepository::Create(Database* database, std::string_view note,
                                                     const BackupObserver& observer) {
  ARM_RETURN_IF_ERROR(impl_->CheckWritable());
  if (note.size() > kBackupNoteBytesMax) {
    return absl::InvalidArgumentError(Cat("the note of a backup has at most ", kBackupNoteBytesMax, " bytes"));
  }
  const absl::MutexLock lock(&impl_->writing);
  const BackupFiles& files = impl_->files;
  ARM_ASSIGN_OR_RETURN(const std::vector<KnownBackup> known, files.ReadAll());
  ARM_RETURN_IF_ERROR(CheckSameDatabase(known, files.path(), database->database_id()));
  if (!HasDamage(known)) files.Sweep(known);

  BackupManifest manifest;
  BackupEntry& entry = manifest.entry;
  entry.started_ms = absl::ToUnixMillis(absl::Now());
  entry.database_id = database->database_id();
  entry.format_version = database->format_version();
  entry.note = std::string(note);
  RocksDb* const rocks = database->rocks();
  BackupWork work(observer, impl_->limiter.get());
  // Each byte is written, then read back.
  work.Expect(2 * EstimateBytes(files, rocks->db()));
  FamilyHold hold(rocks);
  BackupAttempt attempt(files.volume(), files.path(), files.EngineIds(known), &work, [&hold] { hold.Release(); });
  std::string manifest_path;
  const auto make = [&]() -> absl::Status {
    const std::unique_ptr<rocksdb::Env> env = MakeBackupEnv(&attempt);
    ARM_ASSIGN_OR_RETURN(manifest.engine_id, Copy(impl_->EngineOptions(env.get()), rocks, &hold));
    hold.Release();
    ARM_FAULT_POINT("backup.copied");
    ARM_RETURN_IF_ERROR(Describe(files, attempt, &manifest));
    ARM_RETURN_IF_ERROR(CheckAgainst(known, files.path(), manifest));
    ARM_RETURN_IF_ERROR(CheckWritten(files, attempt, manifest, &work));
    impl_->writing.AssertHeld();
    entry.id = std::max(impl_->next, known.empty() ? 1 : known.back().entry.id + 1);
    ARM_RETURN_IF_ERROR(impl_->WriteNext(entry.id + 1));
    entry.finished_ms = absl::ToUnixMillis(absl::Now());
    ARM_FAULT_POINT("backup.before_manifest");
    manifest_path = files.ManifestPath(entry.id);
    return files.volume()->WriteDurably(manifest_path, EncodeBackupManifest(manifest));
  };
  const absl::Status made = make();
  if (!made.ok()) {
    if (!manifest_path.empty()) static_cast<void>(files.volume()->Remove(manifest_path));
    attempt.Discard();
    LOG(WARNING) << "store: backup failed path=" << files.path() << " status=" << made;
    return work.cancelled() ? absl::CancelledError("the backup was cancelled") : made;
  }
  ARM_FAULT_POINT("backup.made");
  LOG(INFO) << "store: backup created path=" << files.path() << " backup=" << entry.id << " bytes=" << entry.size_bytes
            << " added=" << entry.added_bytes << " files=" << entry.file_count;
  return entry;
}

}  // namespace armature::store
