#ifndef ARMATURE_ENGINE_THROUGHPUT_H_
#define ARMATURE_ENGINE_THROUGHPUT_H_

// Whether an operation finds capacity, and what it takes of it.
//
// A provisioned table and each of its global indexes have so many units a second to read and to write, save what is not
// used for five minutes, and may be overdrawn by one operation; the next ones are refused until that is made up. What
// an operation costs is known when it is done, so each is admitted twice: before it takes a place in a queue, and
// again when its turn has come. Between that and the charge it does not wait, so that as many operations
// may overdraw together as there are threads to run them. Tables that are billed per request have no bounds but their
// maxima, if these are set. Local indexes draw on their table.
//
// Thread-safety: thread-safe. Cost: without bounds no lock, and no look at the clock.

#include <vector>

#include "absl/status/status.h"
#include "engine/parts.h"
#include "index/index_delta.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Whether a read of the table, or of `index` if not null, may begin. Errors: ProvisionedThroughputExceededException, or
// ThrottlingException for a table billed per request; with the reason, and when to come back.
absl::Status AdmitRead(const Parts& parts, const store::Table& table, const store::Index* index);
void ChargeRead(const Parts& parts, const store::Table& table, const store::Index* index, double units);

// Whether the table itself can take a write now, before anything is done for it. Errors: as AdmitRead.
absl::Status AdmitWrite(const Parts& parts, const store::Table& table);
// Takes `units` of the table, which has admitted the write, what local indexes cost, and of each global index its own;
// or nothing if one of these has none left. Errors: as AdmitRead. The error of an index names it.
absl::Status TakeWrite(const Parts& parts, const store::Table& table, double units,
                       const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global);
// The two halves of TakeWrite, for several writes that are done or refused together.
absl::Status AdmitIndexWrites(const Parts& parts, const store::Table& table,
                              const std::vector<index::EntryChange>& global);
void ChargeWriteOf(const Parts& parts, const store::Table& table, double units,
                   const std::vector<index::EntryChange>& local, const std::vector<index::EntryChange>& global);
// Takes `units` of the table for a write that came to nothing.
void ChargeWrite(const Parts& parts, const store::Table& table, double units);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_THROUGHPUT_H_
