#ifndef ARMATURE_ENGINE_CHECK_INDEX_CHECK_H_
#define ARMATURE_ENGINE_CHECK_INDEX_CHECK_H_

// Whether indexes say what their table does.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "index/index_key.h"

namespace armature::engine {

struct Parts;

// An item that an index leaves out although it has its attributes.
struct IndexViolation {
  std::string key_bytes;  // the item's key, canonical item bytes
  index::KeyFault fault;
};

// Positions are opaque; an empty one is the beginning, or the end.
struct ListIndexViolationsRequest {
  std::string table_name;  // or ARN
  std::string index_name;
  std::string start_position;
};
struct ListIndexViolationsResult {
  std::vector<IndexViolation> violations;
  int64_t items_read = 0;
  std::string next_position;
};

// Reads one page of the table. Blocks on the disk.
// Errors: ResourceNotFoundException; ValidationException for an index that is not there or a position that is none;
// DataLoss.
absl::StatusOr<ListIndexViolationsResult> ListIndexViolations(const Parts& parts,
                                                              const ListIndexViolationsRequest& request);

struct IndexDifference {
  enum class Kind : uint8_t { kMissing = 1, kWrong = 2, kOrphan = 3, kDamaged = 4 };
  std::string index_name;  // empty: the table itself has a row that cannot be read
  Kind kind = Kind::kMissing;
  std::string key_bytes;  // the item's key, canonical item bytes; empty if the entry does not tell it
  std::string entry_key;  // the row of the index
  bool repaired = false;
};

struct VerifyTableRequest {
  std::string table_name;  // or ARN
  std::string start_position;
  bool repair = false;
};
struct VerifyTableResult {
  std::vector<IndexDifference> differences;
  int64_t rows_checked = 0;
  std::string keyspace;  // what was walked: an index, or empty for the table
  int64_t keyspace_rows = 0;
  std::string next_position;
};

// Checks one page: rows of the table against the entries that they should have, later rows of an index against the
// items that they stand for. Indexes that are being filled or removed are left out.
//
// Rows that differ at first sight are looked at again with their row locked and the index caught up, so a write under
// way is no difference. Repairs go the way of a write: into the write-ahead log, and to global indexes through the
// change log. Blocks on the disk, locks and indexes, each row for 30 seconds at most: not for the threads of the read
// pool, which hand over locks.
// Errors: as ListIndexViolations; DeadlineExceeded for a row that stays locked or an index that does not catch up.
absl::StatusOr<VerifyTableResult> VerifyTable(Parts* parts, const VerifyTableRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_CHECK_INDEX_CHECK_H_
