#include "storage/store/backup/backup_files.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "rocksdb/file_checksum.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

constexpr std::string_view kManifestMagic = "armature backup";
constexpr std::string_view kChecksumName = "checksum: ";

// Removes and returns the text before the first `separator`; nullopt if there is none.
std::optional<std::string_view> TakeUntil(char separator, std::string_view* text) {
  const size_t at = text->find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text->substr(0, at);
  text->remove_prefix(at + 1);
  return taken;
}

template <class T>
bool ParseNumber(std::string_view text, T* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// A valid name stays inside the backup directory.
bool IsFileName(std::string_view name) {
  return !name.empty() && name.front() != '/' && name.find("..") == std::string_view::npos;
}

// "<crc32c> <size> <name>"
bool ParseFile(std::string_view text, BackupFile* file) {
  const std::optional<std::string_view> crc32c = TakeUntil(' ', &text);
  const std::optional<std::string_view> size = TakeUntil(' ', &text);
  if (!crc32c.has_value() || !size.has_value() || !IsFileName(text)) return false;
  file->name = std::string(text);
  return ParseNumber(*crc32c, &file->crc32c) && ParseNumber(*size, &file->size);
}

// "<size> <checksum>"
bool ParseMeta(std::string_view text, BackupManifest* manifest) {
  const std::optional<std::string_view> size = TakeUntil(' ', &text);
  manifest->meta_checksum = std::string(text);
  return size.has_value() && ParseNumber(*size, &manifest->meta_bytes);
}

bool ParseLine(std::string_view name, std::string_view value, int* format, BackupManifest* manifest) {
  BackupEntry& entry = manifest->entry;
  if (name == "format") return ParseNumber(value, format);
  if (name == "backup") return ParseNumber(value, &entry.id);
  if (name == "engine") return ParseNumber(value, &manifest->engine_id);
  if (name == "database") {
    entry.database_id = std::string(value);
    return true;
  }
  if (name == "data_format") return ParseNumber(value, &entry.format_version);
  if (name == "started_ms") return ParseNumber(value, &entry.started_ms);
  if (name == "finished_ms") return ParseNumber(value, &entry.finished_ms);
  if (name == "size_bytes") return ParseNumber(value, &entry.size_bytes);
  if (name == "added_bytes") return ParseNumber(value, &entry.added_bytes);
  if (name == "note") {
    entry.note = absl::HexStringToBytes(Av(value));
    return true;
  }
  if (name == "meta") return ParseMeta(value, manifest);
  if (name == "file") return ParseFile(value, &manifest->files.emplace_back());
  return true;
}

// Checks the last line, which holds the checksum, and returns the text before it.
absl::StatusOr<std::string_view> CheckChecksum(std::string_view text) {
  const size_t line_bytes = kChecksumName.size() + 2 * sizeof(XXH128_canonical_t) + 1;
  if (text.size() < line_bytes) return DataLossError("is cut off");
  const std::string_view body = text.substr(0, text.size() - line_bytes);
  if (text.substr(body.size()) != Cat(kChecksumName, BackupChecksum(body), "\n")) {
    return DataLossError("is damaged: its checksum is another one");
  }
  return body;
}

constexpr std::string_view kManifests = "manifests";
constexpr std::string_view kMeta = "meta";
constexpr std::string_view kPrivate = "private";

// The id in a file name, or 0 if the name is not an id.
uint32_t ParseId(std::string_view name) {
  uint32_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  return error == std::errc() && end == name.data() + name.size() && name == Cat(id) ? id : 0;
}

// Converts the four bytes of RocksDB's checksum to a number.
uint32_t ToNumber(std::string_view big_endian) {
  uint32_t number = 0;
  for (const char byte : big_endian) number = (number << 8) | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

std::string BackupChecksum(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest));
}

std::string EncodeBackupManifest(const BackupManifest& manifest) {
  const BackupEntry& entry = manifest.entry;
  std::string text =
      Cat(kManifestMagic, "\nformat: ", kBackupFormatVersion, "\nbackup: ", entry.id, "\nengine: ", manifest.engine_id,
          "\ndatabase: ", entry.database_id, "\ndata_format: ", entry.format_version,
          "\nstarted_ms: ", entry.started_ms, "\nfinished_ms: ", entry.finished_ms, "\nsize_bytes: ", entry.size_bytes,
          "\nadded_bytes: ", entry.added_bytes, "\nnote: ", absl::BytesToHexString(Av(entry.note)),
          "\nmeta: ", manifest.meta_bytes, " ", manifest.meta_checksum, "\n");
  for (const BackupFile& file : manifest.files) {
    text += Cat("file: ", file.crc32c, " ", file.size, " ", file.name, "\n");
  }
  return text + Cat(kChecksumName, BackupChecksum(text), "\n");
}

absl::StatusOr<BackupManifest> ParseBackupManifest(std::string_view text) {
  ARM_ASSIGN_OR_RETURN(std::string_view left, CheckChecksum(text));
  if (TakeUntil('\n', &left) != kManifestMagic) return DataLossError("is not the manifest of a backup");
  BackupManifest manifest;
  int format = 0;
  while (!left.empty()) {
    const std::optional<std::string_view> line = TakeUntil('\n', &left);
    const size_t colon = line.has_value() ? line->find(": ") : std::string_view::npos;
    if (colon == std::string_view::npos) return DataLossError("has a line that is none");
    if (!ParseLine(line->substr(0, colon), line->substr(colon + 2), &format, &manifest)) {
      return DataLossError(Cat("has a line that means nothing: ", *line));
    }
    if (format > kBackupFormatVersion) {
      return FailedPreconditionError(Cat("has format ", format, "; this build reads formats up to ",
                                         kBackupFormatVersion, ": use a newer armatured"));
    }
  }
  if (format < 1 || manifest.entry.id == 0 || manifest.engine_id == 0 || manifest.entry.database_id.empty() ||
      manifest.entry.format_version < 1 || manifest.meta_checksum.empty() || manifest.files.empty()) {
    return DataLossError("lacks a line");
  }
  manifest.entry.file_count = manifest.files.size();
  return manifest;
}

// Layout: time, sequence, lines "metadata ...", the number of files, and for each file "<name> crc32 <crc32c>".
absl::StatusOr<std::vector<BackupFile>> ParseEngineMeta(std::string_view text) {
  const auto damaged = [] { return DataLossError("is not as RocksDB writes it"); };
  if (!TakeUntil('\n', &text).has_value() || !TakeUntil('\n', &text).has_value()) return damaged();
  std::optional<std::string_view> line = TakeUntil('\n', &text);
  while (line.has_value() && line->starts_with("metadata ")) line = TakeUntil('\n', &text);
  size_t count = 0;
  if (!line.has_value() || !ParseNumber(*line, &count)) return damaged();
  std::vector<BackupFile> files;
  while (!text.empty()) {
    line = TakeUntil('\n', &text);
    if (!line.has_value()) return damaged();
    BackupFile& file = files.emplace_back();
    const std::optional<std::string_view> name = TakeUntil(' ', &*line);
    const std::optional<std::string_view> kind = TakeUntil(' ', &*line);
    if (!name.has_value() || !IsFileName(*name) || kind != "crc32" || !ParseNumber(*line, &file.crc32c)) {
      return damaged();
    }
    file.name = std::string(*name);
  }
  if (files.size() != count) return damaged();
  // RocksDB 7.8 may leave the manifest out of a copy. Nothing could be restored from it.
  for (const std::string_view needed : {"/CURRENT", "/MANIFEST-"}) {
    const auto is_needed = [needed](const BackupFile& file) { return file.name.find(needed) != std::string::npos; };
    if (std::none_of(files.begin(), files.end(), is_needed))
      return DataLossError(Cat("names no file ", needed.substr(1)));
  }
  return files;
}

// Cache of file sizes by name.
class BackupFiles::Sizes {
 public:
  explicit Sizes(const BackupFiles& files) : files_(files) {}

  std::optional<uint64_t> Of(const std::string& name) {
    const auto found = sizes_.find(name);
    if (found != sizes_.end()) return found->second;
    const absl::StatusOr<uint64_t> known = files_.volume()->Size(files_.PathOf(name));
    const std::optional<uint64_t> size = known.ok() ? std::optional<uint64_t>(*known) : std::nullopt;
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
  const std::string directory = PathOf(kManifests);
  const absl::StatusOr<std::vector<std::string>> names = volume_->List(directory);
  if (absl::IsNotFound(names.status())) return DataLossError(Cat(directory, " is missing"));
  if (!names.ok()) return names.status();
  std::vector<BackupId> ids;
  for (const std::string& name : *names) {
    if (const BackupId id = ParseId(name); id != 0) ids.push_back(id);
  }
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
  const absl::StatusOr<std::string> text = volume_->Read(path);
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
  if (!backup.state.ok() && !volume_->Exists(path).value_or(true)) {
    return absl::NotFoundError(Cat("there is no backup ", id, " in ", path_));
  }
  return backup;
}

absl::Status BackupFiles::Check(const BackupManifest& manifest, Sizes* sizes) const {
  const std::string path = MetaPath(manifest.engine_id);
  const absl::StatusOr<std::string> meta = volume_->Read(path);
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

absl::StatusOr<std::unique_ptr<VolumeLock>> BackupFiles::Hold(BackupId id) const {
  absl::StatusOr<std::unique_ptr<VolumeLock>> held =
      volume_->Lock(ManifestPath(id), Volume::LockMode::kSharedIfPossible, /*make=*/false);
  // A lock means that the backup is being deleted.
  if (absl::IsNotFound(held.status()) || absl::IsFailedPrecondition(held.status()) ||
      (held.ok() && !(*held)->IsLinked())) {
    return absl::NotFoundError(Cat("there is no backup ", id, " in ", path_));
  }
  return held;
}

absl::Status BackupFiles::CheckContent(const BackupFile& file, BackupWork* work) const {
  const std::string path = PathOf(file.name);
  const absl::StatusOr<std::unique_ptr<VolumeFile>> opened = volume_->Open(path, Volume::Access::kRead);
  if (absl::IsNotFound(opened.status())) return DataLossError(Cat(path, " is missing"));
  if (!opened.ok()) return opened.status();
  VolumeFile& content = **opened;
  content.DropCached();
  const std::unique_ptr<rocksdb::FileChecksumGenerator> checksum =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  std::string buffer(work->ChunkBytes(), '\0');
  uint64_t total = 0;
  absl::Status status = work->Advance(0);
  while (status.ok()) {
    work->WaitToRead(std::min<uint64_t>(buffer.size(), file.size - std::min(file.size, total)));
    const absl::StatusOr<size_t> size = content.ReadAt(total, buffer.size(), buffer.data());
    if (!size.ok()) status = DataLossError(Sv(size.status().message()));
    if (!size.ok() || *size == 0) break;
    total += *size;
    checksum->Update(buffer.data(), *size);
    status = work->Advance(*size);
  }
  content.DropCached();
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
  for (const std::string& name : NamesIn(kPrivate)) {
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

// Names of the entries of a directory; none if it is missing or cannot be read.
std::vector<std::string> BackupFiles::NamesIn(std::string_view directory) const {
  absl::StatusOr<std::vector<std::string>> names = volume_->List(PathOf(directory));
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

void BackupFiles::Remove(const std::string& path) const {
  ARM_FAULT_POINT("backup.remove");
  const absl::Status removed = volume_->RemoveTree(path);
  if (!removed.ok()) {
    LOG(WARNING) << "store: cannot remove a backup file path=" << path << " error=" << removed.message();
  }
}

void BackupFiles::Sweep(const std::vector<KnownBackup>& known) const {
  const std::set<std::string> needed = Needed(known);
  std::set<std::string> directories;
  for (const std::string& name : needed) directories.insert(name.substr(0, name.rfind('/')));
  // Not "shared": RocksDB does not use it with our options.
  for (const std::string_view directory : {kMeta, kPrivate, std::string_view("shared_checksum")}) {
    for (const std::string& name : NamesIn(directory)) {
      const std::string whole = Cat(directory, "/", name);
      if (!needed.contains(whole) && !directories.contains(whole)) Remove(PathOf(whole));
    }
  }
  for (const std::string& name : NamesIn(kManifests)) {
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
  static_cast<void>(volume_->Remove(PathOf(own)));
}

bool HasDamage(const std::vector<KnownBackup>& known) {
  return std::any_of(known.begin(), known.end(), [](const KnownBackup& backup) { return !backup.state.ok(); });
}

}  // namespace armature::store
