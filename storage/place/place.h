#ifndef ARMATURE_STORAGE_PLACE_PLACE_H_
#define ARMATURE_STORAGE_PLACE_PLACE_H_

// Places of databases as operators name them: a directory of this machine, or rados://POOL/NAMESPACE.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
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
  std::function<bool()> is_cancelled;
  std::function<void(std::string_view reason)> on_lost;
};

// True if `text` names a volume in RADOS and not a directory.
bool IsRados(std::string_view text);
// OK if `text` is rados://POOL/NAMESPACE, and this program was built with RADOS. Errors: InvalidArgument.
absl::Status CheckRados(std::string_view text);

// A volume, and the data directory in it.
//
// Lifetime: outlives the database.
class Place {
 public:
  virtual ~Place() = default;
  virtual store::Volume* volume() const = 0;
  virtual const std::string& data_dir() const = 0;
};

// Opens the place `text`. A volume in RADOS is owned by this process until the place is destroyed; its data directory
// is /data. Errors: InvalidArgument, as CheckRados; those of rados::RadosVolume::Mount.
absl::StatusOr<std::unique_ptr<Place>> OpenPlace(std::string_view text, const PlaceOptions& options);

}  // namespace armature::place

#endif  // ARMATURE_STORAGE_PLACE_PLACE_H_
