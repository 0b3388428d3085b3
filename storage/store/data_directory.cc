#include "storage/store/data_directory.h"

#include <sys/random.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "glog/logging.h"
#include "rocksdb/env.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/rocks_status.h"
#include "storage/store/wal/log_register.h"

namespace armature::store {
namespace {

constexpr std::string_view kDirectoryMagic = "armature database";
// Directories of this format and later ones have a place file.
constexpr int kFirstFormatWithPlace = 7;

std::string PlaceText(std::string_view identity) {
  return Cat("armature place\nfile: ", identity.empty() ? "unknown" : identity, "\n");
}

absl::Status CheckRestored(Volume* volume, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const bool is_marked, volume->Exists(Cat(path, kDataRestoringFile)));
  if (!is_marked) return absl::OkStatus();
  return FailedPreconditionError(
      Cat("data directory ", path, ": restoring it did not finish: run the restore again or remove it"));
}

// An operator may have reasons to let others read, so an existing directory is neither refused nor changed.
void WarnIfOpenToOthers(Volume* volume, const std::string& path) {
  const unsigned mode = volume->OpenToOthers(path);
  if (mode == 0) return;
  LOG(WARNING) << "store: other users may access the data directory path=" << path
               << absl::StrFormat(" mode=%04o", mode) << "; run: chmod 700 " << path;
}

// Locks the directory for this process.
absl::StatusOr<std::unique_ptr<const VolumeLock>> LockDirectory(Volume* volume, const std::string& path) {
  const std::string file = Cat(path, kDataLockFile);
  absl::StatusOr<std::unique_ptr<VolumeLock>> lock = volume->Lock(file, Volume::LockMode::kAlone, /*make=*/true);
  if (absl::IsFailedPrecondition(lock.status())) {
    return FailedPreconditionError(
        Cat("data directory ", path, " is in use by another process (", file, " is locked)"));
  }
  if (!lock.ok()) return WithContext(lock.status(), "data directory is not writable");
  return *std::move(lock);
}

}  // namespace

absl::StatusOr<bool> IsUnusedDataDirectory(Volume* volume, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> entries, volume->List(path));
  for (const std::string& entry : entries) {
    const std::string name = "/" + entry;
    if (name != kDataLockFile && name != kDataNewFile && name != Cat(kDataFormatFile, kUnfinishedSuffix) &&
        name != Cat(kDataNewFile, kUnfinishedSuffix) && name != Cat(kDataRestoringFile, kUnfinishedSuffix)) {
      return false;
    }
  }
  return true;
}

std::string DataFormatText(int format_version, std::string_view database_id) {
  return Cat(kDirectoryMagic, "\nformat: ", format_version, "\ndatabase: ", database_id, "\n");
}

std::string RandomUuid() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) std::abort();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3F) | 0x80);
  std::string hex = absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes), sizeof bytes));
  for (const size_t at : {size_t{8}, size_t{13}, size_t{18}, size_t{23}}) hex.insert(at, "-");
  return hex;
}

// True if the directory has a format file. False if it has none and is unused, so that a database may be made there.
// Errors: FailedPrecondition if it holds something else, or if a restore into it did not finish.
absl::StatusOr<bool> IsKnown(Volume* volume, const std::string& path) {
  ARM_RETURN_IF_ERROR(CheckRestored(volume, path));
  ARM_ASSIGN_OR_RETURN(const bool is_known, volume->Exists(Cat(path, kDataFormatFile)));
  if (is_known) return true;
  ARM_ASSIGN_OR_RETURN(const bool is_unused, IsUnusedDataDirectory(volume, path));
  if (is_unused) return false;
  return FailedPreconditionError(
      Cat("data directory ", path, " is not empty and holds no armature.format: not ours; name an empty one"));
}

namespace {

// The parent may belong to another user who does not permit to open it.
void SyncParent(Volume* volume, const std::string& path) {
  const std::string parent(ParentOf(volume->Absolute(path)));
  if (const absl::Status synced = volume->SyncDirectory(parent); !synced.ok()) {
    LOG(WARNING) << "store: the name of the data directory may not be durable: " << synced.message();
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::Open(Volume* volume, std::string_view given_path) {
  const std::string path(given_path);
  ARM_ASSIGN_OR_RETURN(const bool exists, volume->Exists(path));
  // Durably: a power cut after the first acknowledged write must not lose the whole directory.
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(path));
  if (!exists) ARM_RETURN_IF_ERROR(volume->CloseToOthers(path));
  if (exists) WarnIfOpenToOthers(volume, path);
  // Checked before the lock is taken: taking it would create a file in a directory that is not ours.
  ARM_RETURN_IF_ERROR(IsKnown(volume, path).status());
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<const VolumeLock> lock, LockDirectory(volume, path));
  auto directory = std::unique_ptr<DataDirectory>(new DataDirectory(volume, path, std::move(lock)));
  // Checked again: before the lock was held, another process could have been writing.
  ARM_ASSIGN_OR_RETURN(const bool known, IsKnown(volume, path));
  const std::string mark = Cat(path, kDataNewFile);
  // An earlier start may have been killed between the creation of the directory and its sync.
  if (!known && exists) SyncParent(volume, path);
  if (!known) ARM_RETURN_IF_ERROR(volume->WriteDurably(mark, ""));
  ARM_RETURN_IF_ERROR(known ? directory->ReadFormat() : directory->WriteFormat());
  ARM_ASSIGN_OR_RETURN(directory->is_new_, volume->Exists(mark));
  // With the mark a start removes the database. NoteLogs follows the durable removal of the mark.
  if (directory->is_new_ && directory->has_logs_) {
    return FailedPreconditionError(Cat("data directory ", path, " holds ", NameIn(mark),
                                       ", with which a start removes the database, although its creation was "
                                       "finished; nothing was changed: remove that file"));
  }
  ARM_ASSIGN_OR_RETURN(const bool is_elsewhere, directory->IsElsewhere());
  directory->needs_epoch_ = directory->is_new_ || is_elsewhere;
  return directory;
}

absl::StatusOr<bool> DataDirectory::IsElsewhere() const {
  const std::string file = Cat(path_, kDataPlaceFile);
  const absl::StatusOr<std::string> text = volume_->Read(file);
  // Older formats have none, and a directory that is upgraded goes on. Behind the upgrade, one without it is a copy.
  if (absl::IsNotFound(text.status())) return !may_lack_place();
  // Its object is lost: a new epoch is right in any case, and the file is made anew.
  if (absl::IsDataLoss(text.status())) return true;
  ARM_RETURN_IF_ERROR(text.status());
  ARM_ASSIGN_OR_RETURN(const std::string identity, volume_->IdentityOf(file));
  return *text != PlaceText(identity);
}

bool DataDirectory::may_lack_place() const { return format_version_ < kFirstFormatWithPlace; }

// The file is completed under another name, because its content depends on it.
absl::Status DataDirectory::MarkPlace() {
  const std::string next = Cat(path_, kDataNextPlaceFile);
  ARM_RETURN_IF_ERROR(volume_->WriteDurably(next, ""));
  ARM_ASSIGN_OR_RETURN(const std::string identity, volume_->IdentityOf(next));
  {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeFile> file, volume_->Open(next, Volume::Access::kChange));
    ARM_RETURN_IF_ERROR(file->WriteAt(0, PlaceText(identity)));
    ARM_RETURN_IF_ERROR(file->Sync());
  }
  ARM_RETURN_IF_ERROR(
      FromRocks(volume_->env()->RenameFile(next, Cat(path_, kDataPlaceFile)), Cat("cannot rename ", next)));
  return volume_->SyncDirectory(path_);
}

absl::Status DataDirectory::ForgetPlace() { return volume_->WriteDurably(Cat(path_, kDataPlaceFile), kForeignPlace); }

absl::StatusOr<bool> HoldsDatabase(Volume* volume, const std::string& path) {
  return volume->Exists(Cat(path, kDataFormatFile));
}

absl::Status CheckHoldsDatabase(Volume* volume, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const bool holds, HoldsDatabase(volume, path));
  if (holds) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const bool has_files, volume->Exists(Cat(path, kDataDatabase, "/CURRENT")));
  if (!has_files) return FailedPreconditionError(Cat(path, " holds no database of Armature"));
  return DataLossError(Cat(path, kDataFormatFile, " is missing, and the files of a database are there"));
}

absl::StatusOr<DirectoryFormat> ReadDirectoryFormat(Volume* volume, const std::string& path) {
  const std::string file = Cat(path, kDataFormatFile);
  const absl::StatusOr<std::string> text = volume->Read(file);
  if (!text.ok()) return WithContext(text.status(), Cat("cannot read ", file));
  return ParseDirectoryFormat(*text, file);
}

absl::StatusOr<DirectoryFormat> ParseDirectoryFormat(const std::string& text, std::string_view file) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  if (line != kDirectoryMagic) {
    return FailedPreconditionError(Cat(file, " is not the format file of an armature database"));
  }
  DirectoryFormat format;
  while (std::getline(lines, line)) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.compare(0, colon, "format") == 0) {
      std::from_chars(value.data(), value.data() + value.size(), format.version);
    } else if (line.compare(0, colon, "database") == 0) {
      format.database_id = value;
    } else if (line.compare(0, colon, "logs") == 0) {
      format.has_logs = true;
    }
  }
  if (format.version < 1 || format.database_id.empty()) {
    return FailedPreconditionError(Cat(file, " is damaged: it must name a format and a database"));
  }
  return format;
}

absl::Status DataDirectory::ReadFormat() {
  ARM_ASSIGN_OR_RETURN(const DirectoryFormat format, ReadDirectoryFormat(volume_, path_));
  if (format.version > kFormatVersion) {
    return FailedPreconditionError(Cat("data directory ", path_, " has format ", format.version,
                                       "; this build reads formats up to ", kFormatVersion, ": use a newer armatured"));
  }
  format_version_ = format.version;
  database_id_ = format.database_id;
  has_logs_ = format.has_logs;
  return absl::OkStatus();
}

absl::Status DataDirectory::CheckLogs() const {
  const std::string file = Cat(db_path(), "/", kLogRegisterFile);
  if (is_new_ || !has_logs_) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const bool is_there, volume_->Exists(file));
  if (is_there) return absl::OkStatus();
  return DataLossError(Cat("the register of log files ", file, " is missing, and log files may be, too; nothing was ",
                           "changed: put the files back, restore a backup, or see armature recover"));
}

absl::Status DataDirectory::NoteLogs() {
  if (has_logs_) return absl::OkStatus();
  const std::string file = Cat(path_, kDataFormatFile);
  ARM_ASSIGN_OR_RETURN(const std::string text, volume_->Read(file));
  ARM_RETURN_IF_ERROR(volume_->WriteDurably(file, Cat(text, text.ends_with('\n') ? "" : "\n", "logs: 1\n")));
  has_logs_ = true;
  return absl::OkStatus();
}

absl::Status DataDirectory::FinishCreation() {
  if (!is_new_) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(volume_->Remove(Cat(path_, kDataNewFile)).status());
  ARM_RETURN_IF_ERROR(volume_->SyncDirectory(path_));
  is_new_ = false;
  return absl::OkStatus();
}

absl::Status DataDirectory::RaiseFormat() {
  if (format_version_ == kFormatVersion) return absl::OkStatus();
  const std::string file = Cat(path_, kDataFormatFile);
  ARM_ASSIGN_OR_RETURN(std::string text, volume_->Read(file));
  const std::string line = Cat("\nformat: ", format_version_, "\n");
  const size_t at = text.find(line);
  if (at == std::string::npos) return FailedPreconditionError(Cat(file, " is damaged: it must name a format"));
  text.replace(at, line.size(), Cat("\nformat: ", kFormatVersion, "\n"));  // all other lines stay
  ARM_RETURN_IF_ERROR(volume_->WriteDurably(file, text));
  LOG(INFO) << "store: raised the format of the data directory path=" << path_ << " from=" << format_version_
            << " to=" << kFormatVersion;
  format_version_ = kFormatVersion;
  return absl::OkStatus();
}

absl::Status DataDirectory::WriteFormat() {
  database_id_ = RandomUuid();
  format_version_ = kFormatVersion;
  return volume_->WriteDurably(Cat(path_, kDataFormatFile), DataFormatText(format_version_, database_id_));
}

}  // namespace armature::store
