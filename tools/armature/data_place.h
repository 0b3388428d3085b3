#ifndef ARMATURE_TOOLS_ARMATURE_DATA_PLACE_H_
#define ARMATURE_TOOLS_ARMATURE_DATA_PLACE_H_

// Data directories of stopped daemons, and directories of backups, in this machine or in Ceph RADOS.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/place/place.h"

namespace armature::cli {

// Values of the options --rados-conf and --rados-user, set while the command line is read.
place::PlaceOptions& RadosAccess();

// Opens `data_dir`: a path, or rados://POOL/NAMESPACE, which no other process may use meanwhile. Errors: UsageError.
absl::StatusOr<std::unique_ptr<place::Place>> OpenDataPlace(const std::string& data_dir);

// The same for a directory of backups. Another process that uses a place in RADOS is waited for, for some seconds.
// `makes`: makes a place in RADOS that is not there. `data_dir`: of the database that is backed up or restored, or
// empty; it must be elsewhere. Errors: UsageError.
absl::StatusOr<std::unique_ptr<place::Place>> OpenBackupPlace(const std::string& directory, bool makes,
                                                              const std::string& data_dir);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DATA_PLACE_H_
