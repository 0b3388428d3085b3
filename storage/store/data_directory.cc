#include "storage/store/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/durable_file.h"
#include "storage/store/wal/log_register.h"

namespace armature::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDirectoryMagic = "armature database";

absl::Status CheckRestored(const std::string& path) {
  std::error_code error;
  if (!fs::exists(Cat(path, kDataRestoringFile), error)) return absl::OkStatus();
  return FailedPreconditionError(
      Cat("data directory ", path, ": restoring it did not finish: run the restore again or remove it"));
}

// An operator may have reasons to let others read, so an existing directory is neither refused nor changed.
void WarnIfOpenToOthers(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || (status.st_mode & 077) == 0) return;
  LOG(WARNING) << "store: other users may access the data directory path=" << path
               << absl::StrFormat(" mode=%04o", status.st_mode & 07777) << "; run: chmod 700 " << path;
}

}  // namespace

unsigned RestrictNewFiles() { return umask(077); }

absl::StatusOr<bool> IsUnusedDataDirectory(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = "/" + it->path().filename().string();
    if (name != kDataLockFile && name != kDataNewFile && name != Cat(kDataFormatFile, kUnfinishedSuffix) &&
        name != Cat(kDataNewFile, kUnfinishedSuffix) && name != Cat(kDataRestoringFile, kUnfinishedSuffix)) {
      return false;
    }
  }
  if (error) return UnavailableError(Cat("cannot read directory ", path, ": ", error.message()));
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

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::Open(std::string_view given_path) {
  const std::string path(given_path);
  std::error_code error;
  const bool exists = fs::exists(path, error);
  // Durably: a power cut after the first acknowledged write must not lose the whole directory.
  ARM_RETURN_IF_ERROR(MakeDirectories(path));
  if (!exists) fs::permissions(path, fs::perms::owner_all, error);
  if (error) return UnavailableError(Cat("cannot make data directory ", path, ": ", error.message()));
  if (exists) WarnIfOpenToOthers(path);
  ARM_RETURN_IF_ERROR(CheckRestored(path));
  if (!fs::exists(Cat(path, kDataFormatFile), error)) {
    // Checked before the lock is taken: taking it would create a file in a directory that is not ours.
    ARM_ASSIGN_OR_RETURN(const bool unused, IsUnusedDataDirectory(path));
    if (!unused) {
      return FailedPreconditionError(
          Cat("data directory ", path, " is not empty and holds no armature.format: not ours; name an empty one"));
    }
  }
  const std::string lock_path = Cat(path, kDataLockFile);
  const int lock_fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd < 0) return ErrnoError("data directory is not writable: cannot open", lock_path, errno);
  auto directory = std::unique_ptr<DataDirectory>(new DataDirectory(path, lock_fd));
  if (flock(lock_fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError("cannot lock", lock_path, errno);
    return FailedPreconditionError(
        Cat("data directory ", path, " is in use by another process (", lock_path, " is locked)"));
  }
  // Checked again: before the lock was held, another process could have been writing.
  ARM_RETURN_IF_ERROR(CheckRestored(path));
  const bool known = fs::exists(Cat(path, kDataFormatFile), error);
  if (!known) ARM_RETURN_IF_ERROR(WriteDurably(Cat(path, kDataNewFile), ""));
  ARM_RETURN_IF_ERROR(known ? directory->ReadFormat() : directory->WriteFormat());
  directory->is_new_ = fs::exists(Cat(path, kDataNewFile), error);
  return directory;
}

DataDirectory::~DataDirectory() { close(lock_fd_); }

absl::StatusOr<DirectoryFormat> ReadDirectoryFormat(const std::string& path) {
  const std::string file = Cat(path, kDataFormatFile);
  std::ifstream in(file);
  std::ostringstream all;
  all << in.rdbuf();
  if (!in.good() && !in.eof()) return UnavailableError(Cat("cannot read ", file));
  std::istringstream lines(all.str());
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
  ARM_ASSIGN_OR_RETURN(const DirectoryFormat format, ReadDirectoryFormat(path_));
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
  if (is_new_ || !has_logs_ || PathExists(file)) return absl::OkStatus();
  return DataLossError(Cat("the register of log files ", file, " is missing, and log files may be, too; nothing was ",
                           "changed: put the files back, restore a backup, or see armature recover"));
}

absl::Status DataDirectory::NoteLogs() {
  if (has_logs_) return absl::OkStatus();
  const std::string file = Cat(path_, kDataFormatFile);
  ARM_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file));
  ARM_RETURN_IF_ERROR(WriteDurably(file, Cat(text, text.ends_with('\n') ? "" : "\n", "logs: 1\n")));
  has_logs_ = true;
  return absl::OkStatus();
}

absl::Status DataDirectory::FinishCreation() {
  if (!is_new_) return absl::OkStatus();
  const std::string file = Cat(path_, kDataNewFile);
  if (unlink(file.c_str()) != 0) return ErrnoError("cannot remove", file, errno);
  ARM_RETURN_IF_ERROR(SyncDirectory(path_));
  is_new_ = false;
  return absl::OkStatus();
}

absl::Status DataDirectory::RaiseFormat() {
  if (format_version_ == kFormatVersion) return absl::OkStatus();
  const std::string file = Cat(path_, kDataFormatFile);
  ARM_ASSIGN_OR_RETURN(std::string text, ReadWholeFile(file));
  const std::string line = Cat("\nformat: ", format_version_, "\n");
  const size_t at = text.find(line);
  if (at == std::string::npos) return FailedPreconditionError(Cat(file, " is damaged: it must name a format"));
  text.replace(at, line.size(), Cat("\nformat: ", kFormatVersion, "\n"));  // all other lines stay
  ARM_RETURN_IF_ERROR(WriteDurably(file, text));
  LOG(INFO) << "store: raised the format of the data directory path=" << path_ << " from=" << format_version_
            << " to=" << kFormatVersion;
  format_version_ = kFormatVersion;
  return absl::OkStatus();
}

absl::Status DataDirectory::WriteFormat() {
  database_id_ = RandomUuid();
  format_version_ = kFormatVersion;
  return WriteDurably(Cat(path_, kDataFormatFile), DataFormatText(format_version_, database_id_));
}

}  // namespace armature::store
