#ifndef ARMATURE_STORAGE_STORE_INSPECTOR_H_
#define ARMATURE_STORAGE_STORE_INSPECTOR_H_

// Read-only access to a data directory without its daemon, also to a damaged one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/commit/idempotency.h"
#include "storage/store/damaged_families.h"
#include "storage/store/data_directory.h"
#include "storage/store/expiry/expiry_index.h"
#include "storage/store/files/volume.h"
#include "storage/store/keyspace.h"
#include "storage/store/rows.h"

namespace armature::store {

// Facts about a column family, taken from its files.
struct FamilyFiles {
  std::string name;
  uint32_t id = 0;                // in RocksDB's log and manifest
  uint64_t largest_sequence = 0;  // RocksDB's number of the last write in the files; 0: none
  uint64_t rows_estimate = 0;     // counts overwritten versions and deletions that are not compacted yet
  uint64_t memory_rows = 0;       // part of rows_estimate that is only in the log of RocksDB; also an estimate
  uint64_t file_bytes = 0;
  size_t files = 0;
  size_t levels = 0;  // number of levels that have files
};

// A run of rows that cannot be read.
struct ReadGap {
  std::string after;  // last key that was read before the gap, or the start of the range
  std::string to;     // key at which reading continues; empty: the rest of the family cannot be read
  absl::Status reason;
};

// An open directory. Its file system refuses every change. The directory's lock is held shared: no daemon can start
// meanwhile, other inspectors can.
//
// Thread-safety: owned by one thread at a time.
// Cost: opening the database reads all rows that are only in its log into memory.
class Inspector {
 public:
  // Errors: FailedPrecondition if `path` holds no database, if a daemon uses it, or if its format is newer than this
  // build's; Unavailable if it cannot be read. Not an error: damage, see problems().
  // `if_unreadable`: action if RocksDB cannot open the database. kReadFiles: its table files are read with a manifest
  // made anew in a temporary directory, which takes as long as reading all of them.
  enum class IfUnreadable { kStop, kReadFiles };
  static absl::StatusOr<std::unique_ptr<Inspector>> Open(Volume* volume, const std::string& path,
                                                         IfUnreadable if_unreadable = IfUnreadable::kStop);
  ~Inspector();
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  const std::string& path() const { return path_; }
  // Version 0 if the format file cannot be read.
  const DirectoryFormat& format() const { return format_; }
  // True if the creation of the directory was not finished; see DataDirectory.
  bool is_new() const { return is_new_; }
  // Problems found when the directory was opened, one line each. Empty: a daemon could open it, too. If nothing of the
  // RocksDB database can be read, a line says so and there are no families.
  const std::vector<std::string>& problems() const { return problems_; }
  // How much of the database can be read: all; what was written before a damage of its log; some; the rows in table
  // files; nothing.
  enum class Extent { kAll, kBeforeDamage, kSome, kFiles, kNothing };
  Extent extent() const { return extent_; }

  // All families, by name.
  std::vector<FamilyFiles> Families() const;
  bool HasFamily(std::string_view name) const;

  // Opens all table files, or reads them and compares their checksums. Returns the damaged ones. A start opens them,
  // too.
  enum class CheckDepth : uint8_t { kOpen, kRead };
  std::vector<FamilyDamage> CheckFiles(CheckDepth depth = CheckDepth::kRead) const;

  // True if RocksDB opens the database with all its table files, as a start does. That it opens with some of the files
  // says little of the others. Cost: that of Open.
  bool OpensAllFiles() const;

  // Calls `visit(key, value)` for the rows of `range` in the family, in order, until the visitor returns kStop or the
  // range ends. Unreadable rows are reported to `on_gap` and skipped. Errors: NotFound if there is no such family.
  absl::StatusOr<RangeEnd> ForEachRow(std::string_view family, const KeyRange& range, RowVisitor visit,
                                      absl::FunctionRef<void(const ReadGap&)> on_gap) const;

 private:
  struct Rocks;

  Inspector(Volume* volume, std::string path, std::unique_ptr<const VolumeLock> lock);
  absl::Status ReadFormat();
  void OpenRocks();
  // Opens the table files without the manifest, in a temporary directory.
  absl::Status OpenFiles();

  Volume* const volume_;
  const std::string path_;
  const std::unique_ptr<const VolumeLock> lock_;  // null if the directory, such as a copy, has no lock file
  DirectoryFormat format_;
  bool is_new_ = false;
  std::vector<std::string> problems_;
  Extent extent_ = Extent::kNothing;
  std::string current_;           // text of the file CURRENT if that is lost
  std::string work_directory_;    // removed by the destructor; empty: none
  std::unique_ptr<Rocks> rocks_;  // null: RocksDB cannot open the database
};

// Parser for any record of the family `meta`, for tools that read all records. The daemon reads each kind where it
// needs it. docs/reference/format.md, "The meta family".
enum class MetaKind : uint8_t {
  kUnknown,
  kNextId,
  kSequence,
  kTable,
  kCursor,
  kBuild,
  kStats,
  kToken,
  kTokenTime,
  kStream,
  kSegment,
  kExpiry,
  kTransfer,
  kEpoch,
  kDamage,
  kLast = kDamage
};

struct MetaRecord {
  MetaKind kind = MetaKind::kUnknown;  // decided by the key
  // OK, or DataLoss that describes the malformed key or value. Members taken from the malformed part are then
  // unspecified.
  absl::Status status;

  // From the key.
  TableId table;           // kTable, kCursor, kBuild, kExpiry
  IndexId index;           // kCursor, kBuild
  StreamId stream;         // kStream
  SegmentId segment;       // kSegment
  std::string name;        // kStats, kDamage: the column family; kToken, kTokenTime: the token; kTransfer: the ARN
  int64_t expires_ms = 0;  // kTokenTime: since the epoch

  // From the value.
  uint64_t number = 0;                        // kNextId, kSequence, kCursor, kSegment; kEpoch: its base
  model::TableDescriptor descriptor;          // kTable
  BuildState build;                           // kBuild
  StatsDelta totals;                          // kStats
  TokenRecord token;                          // kToken
  model::StreamDescriptor stream_descriptor;  // kStream
  ExpiryState expiry;                         // kExpiry
  model::TransferRecord transfer;             // kTransfer
  FamilyDamage damage;                        // kDamage
  uint64_t begin_ms = 0;                      // kSegment, whose first sequence is `number`; kEpoch
};

// Never fails: parse errors are in `status`.
MetaRecord ParseMetaRecord(std::string_view key, std::string_view value);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_INSPECTOR_H_
