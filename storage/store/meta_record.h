#ifndef ARMATURE_STORAGE_STORE_META_RECORD_H_
#define ARMATURE_STORAGE_STORE_META_RECORD_H_

// Any record of the family `meta`, taken apart. docs/FORMAT.md, "The meta family".
//
// The daemon reads each kind where it needs it; this is for whoever looks at all of them.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/base/strong_type.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/index_build.h"
#include "storage/store/commit/idempotency.h"
#include "storage/store/keyspace_stats.h"

namespace armature::store {

enum class MetaKind : uint8_t { kUnknown, kNextId, kSequence, kTable, kCursor, kBuild, kStats, kToken, kTokenTime };

struct MetaRecord {
  MetaKind kind = MetaKind::kUnknown;  // by the key
  // OK, or DataLoss that says what is wrong with the key or the value. The members below that come from what is wrong
  // have no meaning then.
  absl::Status status;

  // From the key.
  TableId table;           // kTable, kCursor, kBuild
  IndexId index;           // kCursor, kBuild
  std::string name;        // kStats: of the family; kToken, kTokenTime: the token
  int64_t expires_ms = 0;  // kTokenTime: since the epoch

  // From the value.
  uint64_t number = 0;                // kNextId, kSequence, kCursor
  model::TableDescriptor descriptor;  // kTable
  BuildState build;                   // kBuild
  StatsDelta totals;                  // kStats
  TokenRecord token;                  // kToken
};

// Never fails: what cannot be read is told by `status`.
MetaRecord ParseMetaRecord(std::string_view key, std::string_view value);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_META_RECORD_H_
