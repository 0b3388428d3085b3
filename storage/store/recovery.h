#ifndef ARMATURE_STORAGE_STORE_RECOVERY_H_
#define ARMATURE_STORAGE_STORE_RECOVERY_H_

// A data directory whose start is refused because acknowledged writes are missing: what is damaged, and how to start
// without them.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"

namespace armature::store {

struct Damage {
  std::string fault;   // names the file and the offset, or the column family
  std::string loss;    // given up by AcceptLosses; empty: AcceptLosses cannot help
  std::string family;  // a column family that is dropped: it belongs to no table, or is made anew; otherwise empty
};

// Finds the damage that stops a start of the database in `data_dir`. Changes nothing. Not found: damaged rows of
// tables, which stop no start. Errors: FailedPrecondition if there is no database, or a process uses it; Unavailable.
absl::StatusOr<std::vector<Damage>> FindDamage(Volume* volume, const std::string& data_dir);

// Finds the damage of the log and of its register, a part of what FindDamage finds. Changes nothing. Errors:
// Unavailable.
absl::StatusOr<std::vector<Damage>> FindLogDamage(Volume* volume, const std::string& data_dir);

// Damaged table files, by reading all of them. They stop no start: the daemon serves the rows that it can read, until a
// compaction meets the damage and sets the table or the index apart.
struct DamagedFile {
  std::string name;  // of the table, the index, or what tables share
  std::string text;  // file and reason
  std::string advice;
  // Not empty: AcceptLosses makes the column family anew, and this is lost. Empty, too, if a global index would then be
  // built from rows that cannot be read; FindDamage, which reads no rows, does not know of this.
  std::string loss;
  std::string family;
};
// Changes nothing. Errors: those of FindDamage.
absl::StatusOr<std::vector<DamagedFile>> FindDamagedFiles(Volume* volume, const std::string& data_dir);

// Makes a start possible without what `accepted` names: writes a lost CURRENT anew, forgets missing log files, skips
// damaged records of the log, makes accepted column families anew that all tables share, and drops the other ones, and
// those without rows that belong to no table. Rows and indexes may differ afterwards. Only then can further column
// families be known to belong to no table: see FindDamage. Errors: those of FindDamage, and DataLoss if the database
// cannot be opened even so. Then at most the ends of log files that were being written, which every start removes, and
// a register of log files that could not be read are gone, and CURRENT is written anew.
absl::Status AcceptLosses(Volume* volume, const std::string& data_dir, const std::vector<Damage>& accepted);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_RECOVERY_H_
