#ifndef ARMATURE_STORAGE_STORE_WAL_LOG_SCAN_H_
#define ARMATURE_STORAGE_STORE_WAL_LOG_SCAN_H_

// Reads a file in RocksDB's log format (write-ahead log or manifest) without RocksDB, and finds the place of its first
// damage. Inside the store only.
//
// The format: blocks of 32 KiB, each a sequence of parts. A part is checksum u32 | size u16 | type u8 | data, numbers
// little-endian; a record is one part (full) or several (first, middle, last).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

struct LogScan {
  uint64_t size = 0;   // bytes of the file
  uint64_t whole = 0;  // end of the last record before the first damage; equal to `size` without damage
  // Where the first complete record behind the damage begins. A torn end, as a power cut leaves it, has none.
  std::optional<uint64_t> next_record;
  // The loss if RocksDB skips the damage: it gives up the rest of a damaged block, and records that end there.
  uint64_t lost_bytes = 0;
  size_t lost_places = 0;

  bool is_whole() const { return whole == size; }
};

// Called for each complete record, in order.
using LogVisitor = absl::FunctionRef<void(std::string_view record, bool is_behind_damage)>;

// Scans `path`. Holds one record in memory. Errors: NotFound; Unavailable if the file cannot be read.
absl::StatusOr<LogScan> ScanLog(Volume* volume, const std::string& path, LogVisitor visit);

// Calls visit(record, end) for each whole record of `path` behind `from`, which is 0 or the end of a record, that ends
// at or before `to`, until it returns false. `end`: of the record in the file. Returns the end of the last record that
// was visited; `from` if there was none. Not an error: the file ends, or the next record is not whole. Holds one record
// in memory. Errors: NotFound; Unavailable.
absl::StatusOr<uint64_t> ReadRecords(Volume* volume, const std::string& path, uint64_t from, uint64_t to,
                                     absl::FunctionRef<bool(std::string_view record, uint64_t end)> visit);

// Finds the ends of records in a log file while it is written. A record that is larger than RocksDB's buffer is
// appended in several pieces, which end anywhere.
class RecordEnds {
 public:
  // Takes the next bytes of the file.
  void Append(std::string_view bytes);
  // End of the last whole record.
  uint64_t last() const { return last_; }
  // End of the whole record before the last one.
  uint64_t previous() const { return previous_; }

 private:
  uint64_t size_ = 0;
  uint64_t last_ = 0;
  uint64_t previous_ = 0;
  std::string head_;       // the bytes that were taken of the head of a part
  uint64_t part_end_ = 0;  // of the part whose head was complete last
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_LOG_SCAN_H_
