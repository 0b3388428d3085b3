#ifndef ARMATURE_ENGINE_CAPACITY_H_
#define ARMATURE_ENGINE_CAPACITY_H_

// Read and write capacity units, as the API charges and reports them.
//
// Source: the developer guide, "Read and write operations", and the considerations of each kind of index.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "index/index_delta.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// What the units of a report are, where it tells: transactions do.
enum class CapacityUse : uint8_t { kEither, kReads, kWrites };

struct ConsumedCapacity {
  std::string table_name;
  CapacityUse use = CapacityUse::kEither;
  double total = 0;
  // Only with INDEXES.
  std::optional<double> table;
  std::map<std::string, double> local_indexes;
  std::map<std::string, double> global_indexes;
};

enum class CapacityReport : uint8_t { kNone, kTotal, kIndexes };

// Errors: ValidationException for a value outside [INDEXES, TOTAL, NONE].
absl::StatusOr<CapacityReport> ParseCapacityReport(std::string_view text);

// What reads are counted in.
inline constexpr size_t kReadBlockBytes = 4096;

// Blocks that hold `bytes`: one per started 4 KB, at least one.
size_t ReadBlocks(size_t bytes);
// Units for reading `blocks` in one go: one each; half of it if eventually consistent.
double ReadUnits(size_t blocks, bool consistent);
// Units for writing an item or entry: one per started 1 KB of the larger image, at least one.
double WriteUnits(size_t old_bytes, size_t new_bytes);

// Units for what a write does to one index.
double EntryUnits(const index::EntryChange& change);

// What a read of a table (or of `index`, if not null) reports; nullopt for kNone. `table_name` is the table's name or
// ARN as the request has it, for that is how the report names it. `fetched_units`: what a read of a local index spent
// on items of the table.
std::optional<ConsumedCapacity> ReportRead(CapacityReport report, std::string_view table_name,
                                           const store::Index* index, double units, double fetched_units = 0);
// What a write reports: the table's part and each touched index.
std::optional<ConsumedCapacity> ReportWrite(CapacityReport report, std::string_view table_name, double table_units,
                                            const std::vector<index::EntryChange>& local,
                                            const std::vector<index::EntryChange>& global);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_CAPACITY_H_
