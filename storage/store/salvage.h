#ifndef ARMATURE_STORAGE_STORE_SALVAGE_H_
#define ARMATURE_STORAGE_STORE_SALVAGE_H_

// Reads the readable rows of a damaged range. Inside the store only.

#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "rocksdb/iterator.h"
#include "storage/store/inspector.h"

namespace armature::store {

// Creates an iterator whose upper bound is the end of the range.
using MakeIterator = absl::FunctionRef<std::unique_ptr<rocksdb::Iterator>()>;

// Visits the readable rows of `range`. Behind an unreadable block or file the walk continues, and the gap is reported
// to `on_gap`. RocksDB does not say where a damaged block ends, so the next key with a successful seek is searched for
// in growing steps. Rows of other files inside the gap are skipped as well. If the damage is in many places, readable
// rows between two of them may be skipped. `family` is the first part of each gap's reason.
RangeEnd WalkPastDamage(MakeIterator make, std::string_view family, const KeyRange& range,
                        absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit,
                        absl::FunctionRef<void(const ReadGap&)> on_gap);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_SALVAGE_H_
