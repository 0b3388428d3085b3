#ifndef ARMATURE_STORAGE_STORE_SALVAGE_H_
#define ARMATURE_STORAGE_STORE_SALVAGE_H_

// Copies what can be read of a damaged data directory into a new one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

struct SalvagedTable {
  std::string name;
  int64_t rows = 0;
  size_t gaps = 0;     // places of its files that cannot be read
  size_t indexes = 0;  // global indexes that the first start builds again
};

// Rows whose table is not in the catalog any more. They are not copied, because their key schema is unknown.
struct LostFamily {
  std::string family;
  uint64_t rows = 0;
};

struct SalvageReport {
  std::vector<std::string> problems;  // what could not be read, one line each
  std::vector<SalvagedTable> tables;
  std::vector<LostFamily> lost;
  uint64_t log_writes = 0;           // writes taken from the log one by one, because RocksDB cannot read all of it
  uint64_t log_writes_left_out = 0;  // of these, writes to families whose names are lost
};

// Makes the data directory `to`, which must be missing or empty, from what can be read of `from`, which is not changed.
//
// Tables, items, entries of local indexes, streams and tokens are copied: from the database if RocksDB opens it, past
// unreadable blocks and files; otherwise from its files one by one, without those that have an unreadable block. Writes
// that only the log has are taken from the log, also those behind damage. In a gap of one file, rows of other files are
// lost, too. Totals are counted anew. Global indexes are
// built again by the first start, so neither their rows nor the change log are copied. `to` has a database id of its
// own. A start refuses it until it is complete.
//
// Cost: reads and writes everything once; needs the space of the copy. Errors: FailedPrecondition if `from` holds no
// database or is in use, or if `to` holds something; DataLoss if nothing can be read; Unavailable, ResourceExhausted.
absl::StatusOr<SalvageReport> Salvage(Volume* volume, const std::string& from, const std::string& to);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_SALVAGE_H_
