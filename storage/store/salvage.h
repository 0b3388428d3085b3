#ifndef ARMATURE_STORAGE_STORE_SALVAGE_H_
#define ARMATURE_STORAGE_STORE_SALVAGE_H_

// Reads what can be read of a range with damage in it. Inside the store only.

#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "rocksdb/iterator.h"
#include "storage/store/inspector.h"

namespace armature::store {

// Makes an iterator whose upper bound is the end of the range.
using MakeIterator = absl::FunctionRef<std::unique_ptr<rocksdb::Iterator>()>;

// Walks the range. Where a block or a file cannot be read, the walk goes on behind it, and `on_gap` is told what is
// missing: RocksDB does not say where a damaged block ends, so the next key at which a seek succeeds is searched for,
// by steps that grow. Rows of other files in the gap are left out as well, and if the damaged places are many, the
// sound ones between two of them may be.
// `family` begins the reasons.
RangeEnd WalkPastDamage(MakeIterator make, std::string_view family, const KeyRange& range,
                        absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit,
                        absl::FunctionRef<void(const ReadGap&)> on_gap);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_SALVAGE_H_
