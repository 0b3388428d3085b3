#ifndef ARMATURE_TOOLS_ARMATURE_SQL_COUNT_READS_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_COUNT_READS_H_

// COUNT(*) by reads that return counts instead of items.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "tools/armature/sql/sql_context.h"

namespace armature::cli {

// One Scan, or Queries whose items are different ones.
struct CountReads {
  std::optional<api::v1::ScanRequest> scan;
  std::vector<api::v1::QueryRequest> queries;

  // In words, for a plan.
  std::string ToString() const;
};

// The reads that count the items that meet `condition`, which is PartiQL; empty: all items. `index`: empty for the
// table itself. Nullopt if no such reads have this condition, or if it is refused: then the SELECT itself is to be
// executed. Queries of an index with conditions that are not on its key, and conditions on a key that do not select by
// it, are among these.
std::optional<CountReads> MakeCountReads(const SqlContext& context, const api::v1::TableDescription& table,
                                         const std::string& index, const std::string& condition);

// Errors: those of Query and Scan; CANCELLED if the user interrupts.
absl::StatusOr<int64_t> CountItems(const SqlContext& context, CountReads reads);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_COUNT_READS_H_
