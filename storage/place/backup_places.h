#ifndef ARMATURE_STORAGE_PLACE_BACKUP_PLACES_H_
#define ARMATURE_STORAGE_PLACE_BACKUP_PLACES_H_

// Places of backups for a daemon: directories of this machine, and volumes in RADOS that its jobs share.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/monotonic_wait.h"
#include "storage/place/place.h"
#include "storage/store/backup/backup_place.h"

namespace armature::place {

// Owns each volume from its first use until the end of the last one at the same time. A volume whose lease is lost is
// not used any more, and opened anew for the next use.
//
// Thread-safety: thread-safe.
class SharedBackupPlaces final : public store::BackupPlaces {
 public:
  // OpenBackupPlace, or another function in tests.
  using Opener = std::function<absl::StatusOr<std::unique_ptr<Place>>(const std::string& name,
                                                                      const PlaceOptions& options, bool makes)>;

  // `database`: the place of the database, which no backups may be in. `options`: how volumes are opened. Their
  // `is_cancelled` and `on_lost` are not used.
  SharedBackupPlaces(std::string database, PlaceOptions options, Opener opener = OpenBackupPlace);

  absl::Status CheckName(const std::string& name) const override;
  // A volume that another thread opens just now is waited for, for `owner_wait` of the options at most.
  absl::StatusOr<store::BackupPlacePtr> Open(const std::string& name, Use use,
                                             const std::function<bool()>& is_cancelled) override;
  // Gives up all volumes that are open, as the death of this process would: their users fail with the next operation.
  // For the end of a daemon whose cluster does not answer. No other volume may be opened meanwhile.
  void Abandon();

  // State of the volumes that are owned now, by name.
  struct Owned {
    std::string name;
    rados::VolumeStats stats;
  };
  std::vector<Owned> owned() const;

 private:
  class Volume;
  class OpenVolumes;

  absl::StatusOr<std::shared_ptr<Volume>> OpenAnew(const std::string& name, Use use,
                                                   const std::function<bool()>& is_cancelled) const;

  const std::string database_;
  const PlaceOptions options_;
  const Opener opener_;
  const std::shared_ptr<OpenVolumes> volumes_;
  absl::Mutex mutex_;
  MonotonicWait opened_;  // notified when an attempt to open a volume has ended
  std::set<std::string> opening_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::weak_ptr<Volume>> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::place

#endif  // ARMATURE_STORAGE_PLACE_BACKUP_PLACES_H_
