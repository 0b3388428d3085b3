#ifndef ARMATURE_ENGINE_CAPACITY_H_
#define ARMATURE_ENGINE_CAPACITY_H_

// Read and write capacity units: as the API charges and reports them, and the admission of operations by them.
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
#include "absl/status/statusor.h"
#include "index/index_delta.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

struct Parts;

// Kind of the units in a report; kEither if the report does not state it. Reports of transactions do.
enum class CapacityUse : uint8_t { kEither, kReads, kWrites };

struct ConsumedCapacity {
  std::string table_name;
  CapacityUse use = CapacityUse::kEither;
  double total = 0;
  // Set only with INDEXES.
  std::optional<double> table;
  std::map<std::string, double> local_indexes;
  std::map<std::string, double> global_indexes;
};

enum class CapacityReport : uint8_t { kNone, kTotal, kIndexes };

// Errors: ValidationException for a value outside [INDEXES, TOTAL, NONE].
absl::StatusOr<CapacityReport> ParseCapacityReport(std::string_view text);

// Block size of read units.
inline constexpr size_t kReadBlockBytes = 4096;

// Number of 4 KB blocks for `bytes`, rounded up, at least one.
size_t ReadBlocks(size_t bytes);
// Read units for `blocks` read together: one per block, half of that if eventually consistent.
double ReadUnits(size_t blocks, bool consistent);
// Write units for an item or entry: one per 1 KB of the larger image, rounded up, at least one.
double WriteUnits(size_t old_bytes, size_t new_bytes);

// Consumed capacity of a read of a table (or of `index`, if not null); nullopt for kNone. `table_name` is the name or
// ARN as in the request, which the report repeats. `fetched_units`: units that a read of a local index spent on items
// of the table.
std::optional<ConsumedCapacity> ReportRead(CapacityReport report, std::string_view table_name,
                                           const store::Index* index, double units, double fetched_units = 0);
// Consumed capacity of a write: the table's part and each touched index.
std::optional<ConsumedCapacity> ReportWrite(CapacityReport report, std::string_view table_name, double table_units,
                                            const std::vector<index::EntryChange>& local,
                                            const std::vector<index::EntryChange>& global);

// Admission, and charges for capacity used.
//
// A provisioned table and each of its global indexes have a number of read and write units per second. Up to five
// minutes of unused units are saved. One operation may overdraw; the next ones are refused until the debt is repaid.
// The cost of an operation is known when it is done, so each is admitted twice: before it enters a queue, and again
// when it runs. Between the second admission and the charge it does not wait, so at most as many operations overdraw
// together as there are threads. On-demand tables are limited only by their maxima, if set. Local indexes use the
// capacity of their table.
//
// Each of these functions also counts the key that is used or throttled, if the table or index has contributor
// insights. `key` is the encoded key of the row, or the front of it with the whole partition key; empty for requests
// that are not about one partition, such as Scan: they are not counted.
//
// Thread-safety: thread-safe. Cost: without limits and contributor insights, no lock and no clock read.

// OK if a read of the table, or of `index` if not null, may begin. Errors: ProvisionedThroughputExceededException, or
// ThrottlingException for an on-demand table; with the reason and the time to retry.
absl::Status AdmitRead(const Parts& parts, const store::Table& table, const store::Index* index, std::string_view key);
void ChargeRead(const Parts& parts, const store::Table& table, const store::Index* index, std::string_view key,
                double units);

// OK if the table itself may be written now. Called before any work. Errors: as AdmitRead.
absl::Status AdmitWrite(const Parts& parts, const store::Table& table, std::string_view key);
// Charges `units` and the cost of local indexes to the table, which has admitted the write, and to each global index
// its own cost. Charges nothing if a global index has no capacity left. Errors: as AdmitRead; the error names the
// index.
absl::Status TakeWrite(const Parts& parts, const store::Table& table, std::string_view key, double units,
                       const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global);
// The two steps of TakeWrite, for several writes that are admitted or refused together.
absl::Status AdmitIndexWrites(const Parts& parts, const store::Table& table,
                              const std::vector<index::EntryChange>& global);
void ChargeWriteOf(const Parts& parts, const store::Table& table, std::string_view key, double units,
                   const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global);
// Charges `units` to the table for a write that was not done.
void ChargeWrite(const Parts& parts, const store::Table& table, std::string_view key, double units);
// Counts a write that is throttled because of an index; without one, only the key of a member of a transaction that is
// refused with a member before it.
void NoteThrottled(const Parts& parts, const store::Table& table, const store::Index* index, std::string_view key);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_CAPACITY_H_
