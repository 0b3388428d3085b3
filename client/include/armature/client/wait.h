#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WAIT_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WAIT_H_

// Waits for what the daemon does in the background, by asking with growing pauses.
//
// Errors of all functions: DEADLINE_EXCEEDED with the last state seen, if the condition did not
// hold in time; any error of the calls they make, at once.

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "armature/client/client.h"

namespace armature::client {

// Until the table and all its global indexes are ACTIVE. A table that does not exist (yet) is no
// error before the deadline.
absl::Status WaitForTable(const Client& client, std::string_view table_name, absl::Time deadline);

// Until there is no such table.
absl::Status WaitForTableGone(const Client& client, std::string_view table_name, absl::Time deadline);

// Until the backup of a table is AVAILABLE.
absl::Status WaitForBackup(const Client& client, std::string_view backup_arn, absl::Time deadline);

// Until every global index of the table is ACTIVE and holds all changes up to `change_sequence`, as
// a write has answered it. 0 waits for the states only.
absl::Status WaitForIndexes(const Client& client, std::string_view table_name, uint64_t change_sequence,
                            absl::Time deadline);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WAIT_H_
