#ifndef ARMATURE_ENGINE_BACKUP_RESTORED_TABLE_H_
#define ARMATURE_ENGINE_BACKUP_RESTORED_TABLE_H_

// The table that a restore makes: its source with the overrides of the request.

#include "absl/status/statusor.h"
#include "engine/backup/table_backups.h"
#include "storage/model/table_descriptor.h"

namespace armature::engine {

// Returns the new table for a request that has passed CheckRestoreTable, or the checks of RestoreTableToPointInTime.
// Stream, time to live, tags, table class, warm throughput, deletion protection, policy and continuous backups of the
// source are not restored. Errors: ValidationException for overrides that the rules of settings refuse
// (storage/model/setting_rules.h), or that do not fit the source. Source of the texts: answers of the original service,
// captured in October 2026.
absl::StatusOr<model::TableDescriptor> RestoredTable(const model::TableDescriptor& source,
                                                     const RestoreTableRequest& request);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_RESTORED_TABLE_H_
