#ifndef ARMATURE_STORAGE_STORE_RECOVERY_H_
#define ARMATURE_STORAGE_STORE_RECOVERY_H_

// A data directory whose start is refused because acknowledged writes are missing: what is damaged, and how to start
// without them.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace armature::store {

struct Damage {
  std::string fault;  // names the file and the offset, or the column family
  std::string loss;   // given up by AcceptLosses; empty: AcceptLosses cannot help
};

// Finds the damage that stops a start of the database in `data_dir`. Changes nothing. Errors: FailedPrecondition if
// there is no database, or a process uses it; Unavailable.
absl::StatusOr<std::vector<Damage>> FindDamage(const std::string& data_dir);

// Makes a start possible: forgets missing log files, skips damaged records of the log, and drops column families that
// belong to no table. Rows and indexes may differ afterwards. Errors as above, and DataLoss, with nothing changed, if
// the database cannot be opened even so.
absl::Status AcceptLosses(const std::string& data_dir);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_RECOVERY_H_
