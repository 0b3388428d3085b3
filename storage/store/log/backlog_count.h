#ifndef ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_
#define ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_

// Recount of the backlogs of global indexes after a restart.

#include "storage/store/catalog/catalog.h"
#include "storage/store/log/change_log.h"

namespace armature::store {

// Sets the backlogs of all global indexes by reading the change log. Called before the first commit. Malformed records
// are skipped; the applier reports them. If the log of a table cannot be read, its count ends there with a log message,
// and the database can still be served. Cost: reads the whole backlog once.
void CountBacklogs(const ChangeLog& log, const CatalogSnapshot& catalog);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_
