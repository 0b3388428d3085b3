#ifndef ARMATURE_STORAGE_PLACE_PLACE_H_
#define ARMATURE_STORAGE_PLACE_PLACE_H_

// Places of databases and backups as operators name them: a directory of this machine, or rados://POOL/NAMESPACE.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/rados/volume_facts.h"
#include "storage/store/files/volume.h"

namespace armature::place {

struct PlaceOptions {
  // Ceph's configuration file; empty: where librados looks. Ceph's user without "client."; empty: admin.
  std::string rados_conf;
  std::string rados_user;
  // See rados::RadosVolumeOptions.
  absl::Duration lease = absl::Seconds(5);
  absl::Duration owner_wait = absl::Seconds(15);
  absl::Duration op_timeout = absl::ZeroDuration();
  std::string copies_directory;
  uint64_t copies_bytes_max = uint64_t{10} << 30;
  absl::Duration monitor_timeout = absl::Seconds(30);
  bool must_exist = false;  // a place in RADOS that is not there is an error, and nothing is made
  bool is_quiet = false;
  bool checks_takeover = false;
  bool scans_objects = false;
  std::function<bool()> is_cancelled;
  std::function<void(const rados::VolumeWait& wait)> on_waiting;
  std::function<void(std::string_view reason)> on_lost;
  std::function<void()> on_handover;
};

// True if `text` names a volume in RADOS and not a directory.
bool IsRados(std::string_view text);
// OK if `text` is rados://POOL/NAMESPACE, and this program was built with RADOS. Errors: InvalidArgument.
absl::Status CheckRados(std::string_view text);

// A volume, and the directory in it: of a database, or of backups.
//
// Lifetime: outlives the database, and what is open of the backups.
class Place {
 public:
  virtual ~Place() = default;
  virtual store::Volume* volume() const = 0;
  virtual const std::string& data_dir() const = 0;
  // Tells the daemons that wait for this place where its owner serves: rados::OwnerRecord::service. Does nothing for a
  // directory. Errors: Unavailable.
  virtual absl::Status Announce(std::string_view service) = 0;
  // Leaves the cluster as the death of this process would: everything fails from then on, and the lease runs out by
  // itself. Does nothing for a directory.
  virtual void Abandon() = 0;
  // Objects of the files that are missing or too short, a line each; none for a directory. Errors: Unavailable.
  virtual absl::StatusOr<std::vector<std::string>> FindLostObjects() = 0;
  // State of this process as the owner of a volume in RADOS. Nullopt for a directory.
  virtual std::optional<rados::VolumeStats> stats() const = 0;
};

// Looks at a place in RADOS without owning it. Errors: InvalidArgument, as CheckRados; NotFound if there is no volume;
// those of rados::RadosVolume::Mount.
absl::StatusOr<rados::VolumeStatus> ReadPlaceStatus(std::string_view text, const PlaceOptions& options);

// Asks the owner of a place in RADOS to end, and waits until another process owns it. Errors: those of
// rados::HandOverVolume; InvalidArgument, as CheckRados.
absl::StatusOr<rados::VolumeStatus> HandOverPlace(std::string_view text, const PlaceOptions& options);

// Opens the place `text` of a database. A volume in RADOS is owned by this process until the place is destroyed; its
// data directory is /data. Errors: InvalidArgument, as CheckRados; FailedPrecondition if the volume holds backups;
// those of rados::RadosVolume::Mount. With must_exist, NotFound if there is no volume.
absl::StatusOr<std::unique_ptr<Place>> OpenPlace(std::string_view text, const PlaceOptions& options);

// Opens the place `text` of backups. In a volume in RADOS, which this process owns until the place is destroyed, the
// directory is /backups. `makes`: makes a volume that is not there. Errors: NotFound without `makes`;
// FailedPrecondition if the volume holds a database, which is not disturbed if a daemon serves it; those of OpenPlace.
absl::StatusOr<std::unique_ptr<Place>> OpenBackupPlace(std::string_view text, const PlaceOptions& options, bool makes);

// Compares the names of a place in RADOS with its objects, and removes orphans if `collects`. Owns the place meanwhile.
// Errors: NotFound if there is no volume; those of OpenPlace.
absl::StatusOr<rados::VolumeCheck> CheckPlace(std::string_view text, const PlaceOptions& options, bool collects);

}  // namespace armature::place

#endif  // ARMATURE_STORAGE_PLACE_PLACE_H_
