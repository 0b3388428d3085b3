#ifndef ARMATURE_STORAGE_CODEC_CHANGE_CODEC_H_
#define ARMATURE_STORAGE_CODEC_CHANGE_CODEC_H_

// Change records, in the form that the consumers of a table's change log need. docs/FORMAT.md, "Change log".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"

namespace armature::codec {

inline constexpr char kChangeRecordVersion = 1;

// One row of one global index to write or delete. Views point into the source of the change.
struct IndexRowChange {
  IndexId index;
  bool is_delete = false;
  std::string_view key;    // key of the row inside the index
  std::string_view value;  // stored item; empty when is_delete
  // Changes of the index's totals. They spare the applier a read of the old row.
  int64_t item_delta = 0;
  int64_t byte_delta = 0;
};

// Bytes of a change in the backlog of its index.
inline uint64_t RowBytes(const IndexRowChange& change) { return change.key.size() + change.value.size(); }

struct ChangeRecord {
  int64_t time_ms = 0;        // time of the write, since the epoch
  std::string_view base_key;  // key of the row in the table
  std::vector<IndexRowChange> index_changes;
};

std::string EncodeChangeRecord(const ChangeRecord& record);

// The record's views point into `bytes`. Errors: DataLoss for an unknown version or malformed bytes.
absl::StatusOr<ChangeRecord> ParseChangeRecord(std::string_view bytes);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_CHANGE_CODEC_H_
