#ifndef ARMATURE_STORAGE_RADOS_VOLUME_CHECK_H_
#define ARMATURE_STORAGE_RADOS_VOLUME_CHECK_H_

// Comparison of the names of a volume with its objects. Inside this component only.

#include "absl/status/statusor.h"
#include "storage/rados/name_table.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/rados_volume.h"

namespace armature::rados {

// See RadosVolume::Check. Memory: the names of all objects, some tens of bytes each.
absl::StatusOr<VolumeCheck> CheckVolume(RadosSession* session, const NameTable& names, bool collects);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_VOLUME_CHECK_H_
