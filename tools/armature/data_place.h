#ifndef ARMATURE_TOOLS_ARMATURE_DATA_PLACE_H_
#define ARMATURE_TOOLS_ARMATURE_DATA_PLACE_H_

// Data directories of stopped daemons, and directories of backups, in this machine or in Ceph RADOS.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/place/place.h"

namespace armature::cli {

// How the cluster is reached: values of the options --rados-conf, --rados-user and --timeout, set while the command
// line is read.
place::PlaceOptions& RadosAccess();

// The error of an access to `place` as the command ends with it: UnreachableError if the cluster does not answer,
// InputError for damage, UsageError otherwise. Names the place.
absl::Status PlaceError(const std::string& place, const absl::Status& status);

// The place is there already, or is made.
enum class PlaceUse : uint8_t { kExisting, kNew };

// Opens `data_dir`: a path, or rados://POOL/NAMESPACE, which no other process may use meanwhile. A place in RADOS that
// is not there is made for kNew only. Objects of an existing place that are lost, and files of it that are made anew,
// are named on standard error. Errors: those of PlaceError.
absl::StatusOr<std::unique_ptr<place::Place>> OpenDataPlace(const std::string& data_dir,
                                                            PlaceUse use = PlaceUse::kExisting);

// Opens a directory of backups: a path, or rados://POOL/NAMESPACE. Another process that uses a place in RADOS is waited
// for, for some seconds. `makes`: makes a place in RADOS that is not there. `data_dir`: of the database that is backed
// up or restored, or empty; it must be elsewhere. Errors: those of PlaceError.
absl::StatusOr<std::unique_ptr<place::Place>> OpenBackupPlace(const std::string& directory, bool makes,
                                                              const std::string& data_dir);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DATA_PLACE_H_
