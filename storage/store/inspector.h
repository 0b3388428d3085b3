#ifndef ARMATURE_STORAGE_STORE_INSPECTOR_H_
#define ARMATURE_STORAGE_STORE_INSPECTOR_H_

// A data directory without its daemon, for reading only: what is in it, also if it is damaged.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/data_directory.h"
#include "storage/store/database.h"

namespace armature::store {

// A column family as its files tell.
struct FamilyFiles {
  std::string name;
  uint64_t rows_estimate = 0;  // versions and deletions that are not compacted away count, too
  uint64_t memory_rows = 0;    // of them: only in the log of RocksDB; also an estimate
  uint64_t file_bytes = 0;
  size_t files = 0;
  size_t levels = 0;  // that have files
};

// Rows that cannot be read.
struct ReadGap {
  std::string after;  // the last key before it that was read, or where reading began
  std::string to;     // reading goes on here; empty: nothing more of the family can be read
  absl::Status reason;
};

// An opened directory. Changes nothing in it, not even by mistake: its file system refuses. Holds the directory's lock
// shared, so that no daemon starts meanwhile; others may inspect it at the same time.
//
// Thread-safety: owned by one thread at a time.
// Cost: as RocksDB is opened, all rows that are only in its log are read into memory.
class Inspector {
 public:
  // Errors: FailedPrecondition if `path` holds no database, if a process uses it, or if its format is newer than this
  // build's; Unavailable if it cannot be read. Not an error: damage, see problems().
  static absl::StatusOr<std::unique_ptr<Inspector>> Open(const std::string& path);
  ~Inspector();
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  const std::string& path() const { return path_; }
  // Version 0 if the format file cannot be read.
  const DirectoryFormat& format() const { return format_; }
  // The directory has never been finished; see DataDirectory.
  bool is_new() const { return is_new_; }
  // What was wrong when the directory was opened, a line each. Empty: a daemon would open it, too. If nothing at all of
  // RocksDB's database can be read it says so, and there are no families.
  const std::vector<std::string>& problems() const { return problems_; }

  // All families, by name.
  std::vector<FamilyFiles> Families() const;
  bool HasFamily(std::string_view name) const;

  // Calls `visit(key, value)` for the rows of `range` in the family, in order, until it says kStop or the range ends.
  // What cannot be read is told to `on_gap`, and left out. Errors: NotFound if there is no such family.
  absl::StatusOr<RangeEnd> ForEachRow(std::string_view family, const KeyRange& range,
                                      absl::FunctionRef<RowVerdict(std::string_view key, std::string_view value)> visit,
                                      absl::FunctionRef<void(const ReadGap&)> on_gap) const;

 private:
  class SharedLock;
  struct Rocks;

  Inspector(std::string path, std::unique_ptr<SharedLock> lock);
  absl::Status ReadFormat();
  void OpenRocks();

  const std::string path_;
  const std::unique_ptr<SharedLock> lock_;
  DirectoryFormat format_;
  bool is_new_ = false;
  std::vector<std::string> problems_;
  std::unique_ptr<Rocks> rocks_;  // null: it cannot be opened
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_INSPECTOR_H_
