#ifndef ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_
#define ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_

// How much waits for global indexes after a restart.

#include "storage/store/catalog/catalog.h"
#include "storage/store/log/change_log.h"

namespace armature::store {

// Fills in the backlogs of all global indexes from the log. To be called before the first commit. A record that makes
// no sense is left to the applier, which reports it. Where the log itself cannot be read, the count ends and the log
// says so: less is known of one table's indexes, and everything else can be served. Cost: reads what waits, once.
void CountBacklogs(const ChangeLog& log, const CatalogSnapshot& catalog);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_BACKLOG_COUNT_H_
