#ifndef ARMATURE_STORAGE_STORE_DATA_DIRECTORY_H_
#define ARMATURE_STORAGE_STORE_DATA_DIRECTORY_H_

// The directory that holds a database: whose it is, of which format, and that only one process uses it.
// docs/FORMAT.md, "Data directory".

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace armature::store {

// The format that this build writes, and the oldest and newest it reads.
inline constexpr int kFormatVersion = 1;

// Entries, as they follow the directory's path.
inline constexpr std::string_view kDataFormatFile = "/armature.format";
inline constexpr std::string_view kDataLockFile = "/LOCK";
inline constexpr std::string_view kDataNewFile =
    "/armature.new";  // from before the format file until there is a database
inline constexpr std::string_view kDataRestoringFile = "/armature.restoring";  // while a backup is copied into it
inline constexpr std::string_view kDataDatabase = "/db";

// What armature.format says.
struct DirectoryFormat {
  int version = 0;
  std::string database_id;
};
// Reads the format file of the directory `path`. Errors: FailedPrecondition if it is damaged, Unavailable if it cannot
// be read. Not an error: a version newer than this build's.
absl::StatusOr<DirectoryFormat> ReadDirectoryFormat(const std::string& path);

// An opened data directory; holds its lock until destroyed.
//
// Thread-safety: immutable.
class DataDirectory {
 public:
  // Opens `path`, or makes it if it does not exist or is empty.
  //
  // Errors, each one clear line that names the path: FailedPrecondition if another process holds it, if it belongs
  // to something else, if restoring it did not finish, or if its format is newer than this build's; Unavailable if it
  // cannot be made or written, ResourceExhausted if for want of space.
  // Nothing of an existing directory is changed on error.
  static absl::StatusOr<std::unique_ptr<DataDirectory>> Open(std::string_view path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string db_path() const { return path_ + std::string(kDataDatabase); }
  // Random, chosen when the directory was made.
  const std::string& database_id() const { return database_id_; }
  int format_version() const { return format_version_; }

  // The directory is being made: by this start, or by an earlier one that did not get as far as FinishCreation. Only
  // then may a database be made in it; where there was one, its absence is a loss that must not be served.
  bool is_new() const { return is_new_; }
  // Says durably that the database has been made. Until then there is nothing in the directory that anybody relies on.
  absl::Status FinishCreation();

 private:
  DataDirectory(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}
  absl::Status ReadFormat();
  absl::Status WriteFormat();

  const std::string path_;
  const int lock_fd_;
  std::string database_id_;
  int format_version_ = 0;
  bool is_new_ = false;
};

// What the format file holds.
std::string DataFormatText(int format_version, std::string_view database_id);
// True if the directory holds nothing, or nothing but what an earlier start left that died at once.
absl::StatusOr<bool> IsUnusedDataDirectory(const std::string& path);

// A random version-4 UUID in its text form.
std::string RandomUuid();

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DATA_DIRECTORY_H_
