#ifndef ARMATURE_STORAGE_RADOS_VOLUME_CHECK_H_
#define ARMATURE_STORAGE_RADOS_VOLUME_CHECK_H_

// Comparison of the names of a volume with its objects. Inside this component only.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/rados/name_table.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/rados_volume.h"

namespace armature::rados {

// Objects of closed files that are missing or too short, a line each, at most VolumeCheck::kProblemsMax. Asks for the
// size of each object, some at a time, and lists none. Files may change meanwhile. `is_stopped` ends it early; may be
// null. Errors: Unavailable.
absl::StatusOr<std::vector<std::string>> FindLostObjects(RadosSession* session, const NameTable& names,
                                                         const std::function<bool()>& is_stopped);

// See RadosVolume::Check. Memory: the names of all objects, some tens of bytes each.
absl::StatusOr<VolumeCheck> CheckVolume(RadosSession* session, const NameTable& names, bool collects);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_VOLUME_CHECK_H_
