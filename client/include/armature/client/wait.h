#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WAIT_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WAIT_H_

// Waits for background work of the daemon, by polling with growing pauses.
//
// Errors of all functions: DEADLINE_EXCEEDED with the last state if the condition is not met in time; any error of a
// call, at once.

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/client/client.h"

namespace armature::client {

// Waits until the table and all its global indexes are ACTIVE. A missing table is an error only at the deadline.
absl::Status WaitForTable(const Client& client, std::string_view table_name, absl::Time deadline);

// Waits until the table does not exist.
absl::Status WaitForTableGone(const Client& client, std::string_view table_name, absl::Time deadline);

// Waits until the backup of a table is AVAILABLE.
absl::Status WaitForBackup(const Client& client, std::string_view backup_arn, absl::Time deadline);

// Waits until every global index of the table is ACTIVE and has applied all changes up to `change_sequence`, the change
// sequence of a write. 0: waits for the states only.
absl::Status WaitForIndexes(const Client& client, std::string_view table_name, uint64_t change_sequence,
                            absl::Time deadline);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WAIT_H_
