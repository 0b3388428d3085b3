#ifndef ARMATURE_ENGINE_THROUGHPUT_H_
#define ARMATURE_ENGINE_THROUGHPUT_H_

// Admission of operations by the capacity of tables and indexes, and charges for capacity used.
//
// A provisioned table and each of its global indexes have a number of read and write units per second. Up to five
// minutes of unused units are saved. One operation may overdraw; the next ones are refused until the debt is repaid.
// The cost of an operation is known when it is done, so each is admitted twice: before it enters a queue, and again
// when it runs. Between the second admission and the charge it does not wait, so at most as many operations overdraw
// together as there are threads. On-demand tables are limited only by their maxima, if set. Local indexes use the
// capacity of their table.
//
// Thread-safety: thread-safe. Cost: without limits, no lock and no clock read.

#include <vector>

#include "absl/status/status.h"
#include "engine/parts.h"
#include "index/index_delta.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// OK if a read of the table, or of `index` if not null, may begin. Errors: ProvisionedThroughputExceededException, or
// ThrottlingException for an on-demand table; with the reason and the time to retry.
absl::Status AdmitRead(const Parts& parts, const store::Table& table, const store::Index* index);
void ChargeRead(const Parts& parts, const store::Table& table, const store::Index* index, double units);

// OK if the table itself may be written now. To be checked before any work. Errors: as AdmitRead.
absl::Status AdmitWrite(const Parts& parts, const store::Table& table);
// Charges `units` and the cost of local indexes to the table, which has admitted the write, and to each global index
// its own cost. Charges nothing if a global index has no capacity left. Errors: as AdmitRead; the error names the
// index.
absl::Status TakeWrite(const Parts& parts, const store::Table& table, double units,
                       const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global);
// The two steps of TakeWrite, for several writes that are admitted or refused together.
absl::Status AdmitIndexWrites(const Parts& parts, const store::Table& table,
                              const std::vector<index::EntryChange>& global);
void ChargeWriteOf(const Parts& parts, const store::Table& table, double units,
                   const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global);
// Charges `units` to the table for a write that was not done.
void ChargeWrite(const Parts& parts, const store::Table& table, double units);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_THROUGHPUT_H_
