#ifndef ARMATURE_STORAGE_STORE_DATA_DIRECTORY_H_
#define ARMATURE_STORAGE_STORE_DATA_DIRECTORY_H_

// The directory that holds a database: ownership, format version and process lock. docs/reference/format.md, "Data
// directory".
//
//   armature.format := "armature database" line "format: " number line "database: " uuid line ("logs: 1" line)?
//   armature.place := "armature place" line "file: " identity line
//   identity := text of Volume::IdentityOf | "unknown" | "none"
//   line := "\n"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

// The format that this build writes. It reads all formats up to it.
inline constexpr int kFormatVersion = 7;

// Names of entries, relative to the directory's path.
inline constexpr std::string_view kDataFormatFile = "/armature.format";
inline constexpr std::string_view kDataLockFile = "/LOCK";
inline constexpr std::string_view kDataNewFile = "/armature.new";  // exists until the database has been created
inline constexpr std::string_view kDataRestoringFile = "/armature.restoring";  // exists while a backup is copied into
                                                                               // it
inline constexpr std::string_view kDataPlaceFile = "/armature.place";          // names itself, so a copy of it is known
inline constexpr std::string_view kDataNextPlaceFile = "/armature.place.next";
inline constexpr std::string_view kDataDatabase = "/db";

// Content of the place file of a directory that was filled with the files of another one.
inline constexpr std::string_view kForeignPlace = "armature place\nfile: none\n";

// Contents of armature.format.
struct DirectoryFormat {
  int version = 0;
  std::string database_id;
  bool has_logs = false;  // the register of log files exists
};
// Reads the format file of the directory `path`. Errors: FailedPrecondition if it is damaged; NotFound, DataLoss or
// Unavailable if it cannot be read. Not an error: a version newer than this build's.
absl::StatusOr<DirectoryFormat> ReadDirectoryFormat(Volume* volume, const std::string& path);
// Parses the text of a format file. `file`: its path, for the error. Errors: FailedPrecondition.
absl::StatusOr<DirectoryFormat> ParseDirectoryFormat(const std::string& text, std::string_view file);
// True if the directory `path` holds a database, perhaps an unfinished one. Errors: Unavailable.
absl::StatusOr<bool> HoldsDatabase(Volume* volume, const std::string& path);
// OK if HoldsDatabase. Errors: DataLoss if its format file is missing; FailedPrecondition if there is no database;
// Unavailable.
absl::Status CheckHoldsDatabase(Volume* volume, const std::string& path);

// An open data directory. Holds the directory's lock until destroyed.
//
// Thread-safety: immutable.
class DataDirectory {
 public:
  // Opens `path`. Creates it, with mode 0700, if it does not exist. Warns about an existing one that other users may
  // access.
  //
  // Errors (one line each, naming the path): FailedPrecondition if another process holds the directory, if it belongs
  // to another program, if a restore into it did not finish, or if its format is newer than this build's; Unavailable
  // if it cannot be created or written; ResourceExhausted if the disk is full. An existing directory is unchanged on
  // error.
  static absl::StatusOr<std::unique_ptr<DataDirectory>> Open(Volume* volume, std::string_view path);
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  Volume* volume() const { return volume_; }
  const std::string& path() const { return path_; }
  std::string db_path() const { return path_ + std::string(kDataDatabase); }
  // Random UUID, chosen when the directory was created.
  const std::string& database_id() const { return database_id_; }
  int format_version() const { return format_version_; }

  // True while the directory is being created, by this start or by an earlier one that died before FinishCreation. Only
  // then may a database be created in it. In any other directory a missing database is data loss and must not be
  // served.
  bool is_new() const { return is_new_; }
  // Records durably that the database has been created. Before that the directory holds nothing of value.
  absl::Status FinishCreation();
  // Records durably that the directory has this build's format, before anything of that format is written: from then on
  // older builds refuse the directory. Needed in a directory of an older format.
  absl::Status RaiseFormat();

  // True for a directory that is new, restored or copied, or that lost writes: change sequences that clients know may
  // be those of another history, so a new epoch must begin. The value stays the same until the directory is opened
  // anew.
  bool needs_epoch() const { return needs_epoch_; }
  // Records that the database is here: a copy of the directory needs a new epoch. Called at each start, so that the
  // files of an earlier copy differ. Before that, a directory that needs an epoch still does.
  absl::Status MarkPlace();
  // True for a format whose directories were made without a place.
  bool may_lack_place() const;
  // Records durably that the next start must begin an epoch.
  absl::Status ForgetPlace();

  // Checks that the register of log files is there if it ever was: a copy may lack it, and log files with it. Errors:
  // DataLoss.
  absl::Status CheckLogs() const;
  // Records durably that the register of log files exists.
  absl::Status NoteLogs();

 private:
  DataDirectory(Volume* volume, std::string path, std::unique_ptr<const VolumeLock> lock)
      : volume_(volume), path_(std::move(path)), lock_(std::move(lock)) {}
  absl::Status ReadFormat();
  absl::Status WriteFormat();
  absl::StatusOr<bool> IsElsewhere() const;

  Volume* const volume_;
  const std::string path_;
  const std::unique_ptr<const VolumeLock> lock_;
  std::string database_id_;
  int format_version_ = 0;
  bool is_new_ = false;
  bool has_logs_ = false;
  bool needs_epoch_ = false;
};

// Text of the format file.
std::string DataFormatText(int format_version, std::string_view database_id);
// True if the directory is empty, or holds only the leftovers of an earlier start that died at once.
absl::StatusOr<bool> IsUnusedDataDirectory(Volume* volume, const std::string& path);

// A random version-4 UUID in its text form.
std::string RandomUuid();

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DATA_DIRECTORY_H_
