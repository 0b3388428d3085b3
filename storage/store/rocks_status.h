#ifndef ARMATURE_STORAGE_STORE_ROCKS_STATUS_H_
#define ARMATURE_STORAGE_STORE_ROCKS_STATUS_H_

// The only translation of RocksDB statuses into ours. Inside the store only.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace armature::store {

// `context` names the action and its family or file. OK stays OK. Corruption becomes DataLoss; a full disk becomes
// ResourceExhausted; other I/O errors become Unavailable.
absl::Status FromRocks(const rocksdb::Status& status, std::string_view context);

// The text of a status, with the names of table files as they are. RocksDB reports the old name of a missing one,
// which ends in .ldb, because it looks for that last.
std::string TextOf(const rocksdb::Status& status);

inline rocksdb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view ToView(const rocksdb::Slice& s) { return {s.data(), s.size()}; }

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_ROCKS_STATUS_H_
