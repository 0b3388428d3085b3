#include "storage/store/backup/backup_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "rocksdb/file_checksum.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifests = "manifests";
constexpr std::string_view kMeta = "meta";
constexpr std::string_view kPrivate = "private";

// The id in a file name, or 0 if the name is not an id.
uint32_t ParseId(std::string_view name) {
  uint32_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  return error == std::errc() && end == name.data() + name.size() && name == Cat(id) ? id : 0;
}

// Names of the entries of a directory. A missing directory has none.
std::vector<std::string> NamesIn(const std::string& directory, std::error_code* error) {
  std::vector<std::string> names;
  for (fs::directory_iterator it(directory, *error), end; !*error && it != end; it.increment(*error)) {
    names.push_back(it->path().filename().string());
  }
  if (*error == std::errc::no_such_file_or_directory) error->clear();
  return names;
}

// Converts the four bytes of RocksDB's checksum to a number.
uint32_t ToNumber(std::string_view big_endian) {
  uint32_t number = 0;
  for (const char byte : big_endian) number = (number << 8) | static_cast<unsigned char>(byte);
  return number;
}

void Remove(const std::string& path) {
  ARM_FAULT_POINT("backup.remove");
  std::error_code error;
  fs::remove_all(path, error);
  if (error) LOG(WARNING) << "store: cannot remove a backup file path=" << path << " error=" << error.message();
}

}  // namespace

// Cache of file sizes by name.
class BackupFiles::Sizes {
 public:
  explicit Sizes(const BackupFiles& files) : files_(files) {}

  std::optional<uint64_t> Of(const std::string& name) {
    const auto found = sizes_.find(name);
    if (found != sizes_.end()) return found->second;
    struct stat status = {};
    std::optional<uint64_t> size;
    if (stat(files_.PathOf(name).c_str(), &status) == 0) size = static_cast<uint64_t>(status.st_size);
    sizes_.emplace(name, size);
    return size;
  }

 private:
  const BackupFiles& files_;
  StringMap<std::optional<uint64_t>> sizes_;
};

std::string BackupFiles::PathOf(std::string_view name) const { return Cat(path_, "/", name); }
std::string BackupFiles::ManifestPath(BackupId id) const { return PathOf(Cat(kManifests, "/", id)); }
std::string BackupFiles::MetaPath(uint32_t engine_id) const { return PathOf(Cat(kMeta, "/", engine_id)); }

absl::StatusOr<std::vector<KnownBackup>> BackupFiles::ReadAll() const {
  std::error_code error;
  const std::string directory = PathOf(kManifests);
  std::vector<BackupId> ids;
  if (!fs::exists(directory, error)) return DataLossError(Cat(directory, " is missing"));
  for (const std::string& name : NamesIn(directory, &error)) {
    if (const BackupId id = ParseId(name); id != 0) ids.push_back(id);
  }
  if (error) return ErrnoError("cannot read directory", directory, error.value());
  std::sort(ids.begin(), ids.end());
  std::vector<KnownBackup> known;
  Sizes sizes(*this);
  for (const BackupId id : ids) {
    absl::StatusOr<KnownBackup> backup = Read(id, &sizes);
    // The backup may be deleted at this moment.
    if (absl::IsNotFound(backup.status())) continue;
    if (!backup.ok()) return backup.status();
    known.push_back(*std::move(backup));
  }
  return known;
}

absl::StatusOr<KnownBackup> BackupFiles::Read(BackupId id) const {
  Sizes sizes(*this);
  return Read(id, &sizes);
}

absl::StatusOr<KnownBackup> BackupFiles::Read(BackupId id, Sizes* sizes) const {
  const std::string path = ManifestPath(id);
  KnownBackup backup;
  backup.entry.id = id;
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (absl::IsNotFound(text.status())) return absl::NotFoundError(Cat("there is no backup ", id, " in ", path_));
  backup.state = text.status();
  if (text.ok()) {
    absl::StatusOr<BackupManifest> manifest = ParseBackupManifest(*text);
    backup.state = manifest.ok()
                       ? absl::OkStatus()
                       : absl::Status(manifest.status().code(), Cat(path, " ", Sv(manifest.status().message())));
    if (manifest.ok() && manifest->entry.id != id) {
      backup.state = DataLossError(Cat(path, " is the manifest of backup ", manifest->entry.id));
    } else if (manifest.ok()) {
      backup.state = Check(*manifest, sizes);
      backup.entry = manifest->entry;
      backup.manifest = *std::move(manifest);
    }
  }
  backup.entry.damage = std::string(Sv(backup.state.message()));
  // A writer removes the manifest before the other files, so a missing manifest means that the backup was deleted. A
  // failed existence check must not count as missing: the files that only this backup needs would be removed.
  std::error_code error;
  if (!backup.state.ok() && !fs::exists(path, error) && !error) {
    return absl::NotFoundError(Cat("there is no backup ", id, " in ", path_));
  }
  return backup;
}

absl::Status BackupFiles::Check(const BackupManifest& manifest, Sizes* sizes) const {
  const std::string path = MetaPath(manifest.engine_id);
  const absl::StatusOr<std::string> meta = ReadWholeFile(path);
  if (absl::IsNotFound(meta.status())) return DataLossError(Cat(path, " is missing"));
  if (!meta.ok()) return DataLossError(Sv(meta.status().message()));
  if (meta->size() != manifest.meta_bytes || BackupChecksum(*meta) != manifest.meta_checksum) {
    return DataLossError(Cat(path, " is damaged: its checksum is another one"));
  }
  for (const BackupFile& file : manifest.files) {
    const std::optional<uint64_t> size = sizes->Of(file.name);
    if (!size.has_value()) return DataLossError(Cat(PathOf(file.name), " is missing"));
    if (*size != file.size) {
      return DataLossError(Cat(PathOf(file.name), " is damaged: it has ", *size, " bytes instead of ", file.size));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<LockedFile> BackupFiles::Hold(BackupId id) const {
  absl::StatusOr<LockedFile> held = LockedFile::Open(ManifestPath(id), LockedFile::Mode::kShared, /*make=*/false);
  // A lock means that the backup is being deleted.
  if (absl::IsNotFound(held.status()) || absl::IsFailedPrecondition(held.status()) ||
      (held.ok() && !held->IsLinked())) {
    return absl::NotFoundError(Cat("there is no backup ", id, " in ", path_));
  }
  return held;
}

absl::Status BackupFiles::CheckContent(const BackupFile& file, BackupWork* work) const {
  const std::string path = PathOf(file.name);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return DataLossError(Cat(path, " is missing"));
  if (fd < 0) return ErrnoError("cannot read", path, errno);
  // Drops the file from the page cache, which says nothing about the disk.
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  const std::unique_ptr<rocksdb::FileChecksumGenerator> checksum =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  std::string buffer(work->ChunkBytes(), '\0');
  uint64_t total = 0;
  absl::Status status = work->Advance(0);
  while (status.ok()) {
    work->WaitToRead(std::min<uint64_t>(buffer.size(), file.size - std::min(file.size, total)));
    const ssize_t size = read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      status = DataLossError(Sv(ErrnoError("cannot read", path, errno).message()));
      break;
    }
    if (size == 0) break;
    total += static_cast<uint64_t>(size);
    checksum->Update(buffer.data(), static_cast<size_t>(size));
    status = work->Advance(static_cast<uint64_t>(size));
  }
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
  ARM_RETURN_IF_ERROR(status);
  if (total != file.size) {
    return DataLossError(Cat(path, " is damaged: it has ", total, " bytes instead of ", file.size));
  }
  checksum->Finalize();
  if (ToNumber(checksum->GetChecksum()) != file.crc32c) {
    return DataLossError(Cat(path, " is damaged: its checksum is another one"));
  }
  return absl::OkStatus();
}

std::set<uint32_t> BackupFiles::EngineIds(const std::vector<KnownBackup>& known) const {
  std::set<uint32_t> ids;
  for (const KnownBackup& backup : known) {
    if (backup.manifest.has_value()) ids.insert(backup.manifest->engine_id);
  }
  std::error_code error;
  for (const std::string& name : NamesIn(PathOf(kPrivate), &error)) {
    if (const uint32_t id = ParseId(name); id != 0) ids.insert(id);
  }
  return ids;
}

std::set<std::string> BackupFiles::Needed(const std::vector<KnownBackup>& known) const {
  std::set<std::string> needed;
  for (const KnownBackup& backup : known) {
    if (!backup.manifest.has_value()) continue;
    needed.insert(Cat(kMeta, "/", backup.manifest->engine_id));
    for (const BackupFile& file : backup.manifest->files) needed.insert(file.name);
  }
  return needed;
}

void BackupFiles::Sweep(const std::vector<KnownBackup>& known) const {
  const std::set<std::string> needed = Needed(known);
  std::set<std::string> directories;
  for (const std::string& name : needed) directories.insert(name.substr(0, name.rfind('/')));
  std::error_code error;
  // Not "shared": RocksDB does not use it with our options.
  for (const std::string_view directory : {kMeta, kPrivate, std::string_view("shared_checksum")}) {
    for (const std::string& name : NamesIn(PathOf(directory), &error)) {
      const std::string whole = Cat(directory, "/", name);
      if (!needed.contains(whole) && !directories.contains(whole)) Remove(PathOf(whole));
    }
  }
  for (const std::string& name : NamesIn(PathOf(kManifests), &error)) {
    if (name.ends_with(kUnfinishedSuffix)) Remove(PathOf(Cat(kManifests, "/", name)));
  }
}

void BackupFiles::RemoveFilesOf(const BackupManifest& manifest, const std::vector<KnownBackup>& others) const {
  const std::set<std::string> needed = Needed(others);
  const bool are_all_known =
      std::all_of(others.begin(), others.end(), [](const KnownBackup& other) { return other.manifest.has_value(); });
  const std::string own = Cat(kPrivate, "/", manifest.engine_id);
  for (const BackupFile& file : manifest.files) {
    if (needed.contains(file.name)) continue;
    if (are_all_known || file.name.starts_with(own + "/")) Remove(PathOf(file.name));
  }
  const std::string meta = Cat(kMeta, "/", manifest.engine_id);
  if (!needed.contains(meta)) Remove(PathOf(meta));
  // Removes the private directory only if it is empty.
  std::error_code error;
  fs::remove(PathOf(own), error);
}

bool HasDamage(const std::vector<KnownBackup>& known) {
  return std::any_of(known.begin(), known.end(), [](const KnownBackup& backup) { return !backup.state.ok(); });
}

}  // namespace armature::store
