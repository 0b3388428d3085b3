#ifndef ARMATURE_ENGINE_CHECK_INDEX_CHECK_H_
#define ARMATURE_ENGINE_CHECK_INDEX_CHECK_H_

// Checks that indexes agree with their table.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "index/index_entry.h"

namespace armature::engine {

struct Parts;

// An item that an index leaves out although it has the key attributes.
struct IndexViolation {
  std::string key_bytes;  // the item's key, as answers show it
  index::KeyFault fault;
};

// Positions are opaque. An empty position is the beginning (in a request) or the end (in a result).
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

// Reads one page of the table. Blocks on the disk. Errors: ResourceNotFoundException; ValidationException for an
// unknown index or an invalid position; DataLoss.
absl::StatusOr<ListIndexViolationsResult> ListIndexViolations(const Parts& parts,
                                                              const ListIndexViolationsRequest& request);

struct IndexDifference {
  enum class Kind : uint8_t { kMissing = 1, kWrong = 2, kOrphan = 3, kDamaged = 4 };
  std::string index_name;  // empty: an unreadable row of the table itself
  Kind kind = Kind::kMissing;
  std::string key_bytes;  // the item's key, as answers show it; empty if the entry is unreadable
  // Key of the index row. For a part of the files that cannot be read, a key before it, or empty; then kind is kDamaged
  // and a repair is not possible.
  std::string entry_key;
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
  std::string keyspace;  // the checked keyspace: name of an index, or empty for the table
  int64_t keyspace_rows = 0;
  std::string next_position;
};

// Checks one page: first rows of the table against their index entries, later rows of an index against their items.
// Indexes under construction or being deleted are skipped.
//
// An apparent difference is checked again with the row locked and the index caught up, so a write in progress is not
// reported. Repairs are regular writes: they go through the write-ahead log, and to global indexes through the change
// log. Blocks on the disk, on locks and on indexes, up to 30 seconds per row. Must not run on the read pool or the pool
// of lock holders, whose threads release locks. Errors: as ListIndexViolations; DeadlineExceeded for a row that stays
// locked or an index that does not catch up.
absl::StatusOr<VerifyTableResult> VerifyTable(Parts* parts, const VerifyTableRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_CHECK_INDEX_CHECK_H_
