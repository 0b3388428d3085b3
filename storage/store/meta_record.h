#ifndef ARMATURE_STORAGE_STORE_META_RECORD_H_
#define ARMATURE_STORAGE_STORE_META_RECORD_H_

// Parser for any record of the family `meta`. docs/FORMAT.md, "The meta family".
//
// For tools that read all records. The daemon reads each kind where it needs it.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/base/strong_type.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/index_build.h"
#include "storage/store/commit/idempotency.h"
#include "storage/store/keyspace.h"

namespace armature::store {

enum class MetaKind : uint8_t { kUnknown, kNextId, kSequence, kTable, kCursor, kBuild, kStats, kToken, kTokenTime };

struct MetaRecord {
  MetaKind kind = MetaKind::kUnknown;  // decided by the key
  // OK, or DataLoss that describes the malformed key or value. Members taken from the malformed part are then
  // unspecified.
  absl::Status status;

  // From the key.
  TableId table;           // kTable, kCursor, kBuild
  IndexId index;           // kCursor, kBuild
  std::string name;        // kStats: the column family; kToken, kTokenTime: the token
  int64_t expires_ms = 0;  // kTokenTime: since the epoch

  // From the value.
  uint64_t number = 0;                // kNextId, kSequence, kCursor
  model::TableDescriptor descriptor;  // kTable
  BuildState build;                   // kBuild
  StatsDelta totals;                  // kStats
  TokenRecord token;                  // kToken
};

// Never fails: parse errors are in `status`.
MetaRecord ParseMetaRecord(std::string_view key, std::string_view value);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_META_RECORD_H_
