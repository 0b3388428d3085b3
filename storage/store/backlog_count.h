#ifndef ARMATURE_STORAGE_STORE_BACKLOG_COUNT_H_
#define ARMATURE_STORAGE_STORE_BACKLOG_COUNT_H_

// How much waits for global indexes after a restart.

#include "absl/status/status.h"
#include "storage/store/catalog.h"
#include "storage/store/change_log.h"

namespace armature::store {

// Fills in the backlogs of all global indexes from the log. To be called before the first commit. A record that cannot
// be read is left to the applier, which reports it. Cost: reads what waits, once.
absl::Status CountBacklogs(const ChangeLog& log, const CatalogSnapshot& catalog);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_BACKLOG_COUNT_H_
