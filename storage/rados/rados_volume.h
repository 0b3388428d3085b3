#ifndef ARMATURE_STORAGE_RADOS_RADOS_VOLUME_H_
#define ARMATURE_STORAGE_RADOS_RADOS_VOLUME_H_

// A volume in Ceph RADOS: the files of a database in the objects of a pool. See docs/RADOS.md and
// docs/decisions/0036-files-in-rados.md

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/rados/rados_options.h"
#include "storage/store/files/volume.h"

namespace armature::rados {

// A namespace of a pool, owned by this process until destroyed. It owns the whole volume, so that names and locks are
// its own matter; another process becomes the owner when the lease of this one has run out, and makes this one harmless
// first. Bytes that are not synced are lost with the process: boot() is another number in each.
//
// Paths are absolute: "a/b" is "/a/b". No symbolic links, no users.
//
// Thread-safety: thread-safe. Errors: as in Volume. After a loss of the ownership everything fails with Unavailable.
class RadosVolume : public store::Volume {
 public:
  // Becomes the owner. Errors: FailedPrecondition if another process owns the volume for longer than `owner_wait`, or
  // the cluster, pool, user or format is not as needed; DataLoss if the volume is damaged; Unavailable.
  static absl::StatusOr<std::unique_ptr<RadosVolume>> Mount(const RadosVolumeOptions& options);

  // True while no other process can be the owner: an answer from memory is then as new as one can be.
  virtual bool IsOwnerForCertain() const = 0;
  virtual uint64_t epoch() const = 0;
  // Leaves the cluster as the death of this process would: nothing more is written, and the lease runs out by itself.
  virtual void Abandon() = 0;

 protected:
  using Volume::Volume;
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_RADOS_VOLUME_H_
