#ifndef ARMATURE_STORAGE_PLACE_PLACE_H_
#define ARMATURE_STORAGE_PLACE_PLACE_H_

// Places of databases as operators name them: a directory of this machine, or rados://POOL/NAMESPACE.

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
  std::function<bool()> is_cancelled;
  std::function<void(const std::string& service)> on_waiting;
  std::function<void(std::string_view reason)> on_lost;
};

// True if `text` names a volume in RADOS and not a directory.
bool IsRados(std::string_view text);
// OK if `text` is rados://POOL/NAMESPACE, and this program was built with RADOS. Errors: InvalidArgument.
absl::Status CheckRados(std::string_view text);

// State of this process as the owner of a place in RADOS.
struct PlaceStats {
  uint64_t epoch = 0;       // number of owners so far
  double lease_left_s = 0;  // for which no other process can be the owner
  // Copies of table files on the local disk.
  uint64_t copies_bytes = 0;
  uint64_t copies_bytes_max = 0;  // 0: no copies
  uint64_t copies_files = 0;
  uint64_t reads_from_copies = 0;
  uint64_t reads_from_cluster = 0;
  uint64_t copies_damaged = 0;
};

// A volume, and the data directory in it.
//
// Lifetime: outlives the database.
class Place {
 public:
  virtual ~Place() = default;
  virtual store::Volume* volume() const = 0;
  virtual const std::string& data_dir() const = 0;
  // Tells the daemons that wait for this place where its owner serves: "grpc=HOST:PORT http=HOST:PORT". Does nothing
  // for a directory. Errors: Unavailable.
  virtual absl::Status Announce(std::string_view service) = 0;
  // Nullopt for a directory.
  virtual std::optional<PlaceStats> stats() const = 0;
};

// The owner of a place in RADOS.
struct PlaceStatus {
  std::string volume_id;
  uint64_t epoch = 0;         // number of owners so far
  uint64_t stripe_bytes = 0;  // size of its objects
  std::string owner_client;   // address of the owner's Ceph client; empty after an orderly end
  std::string owner_service;  // where it serves; empty: not yet, or it does not serve
  std::string owner_host;
  uint64_t owner_since_s = 0;  // Unix time
  std::string lease_holder;    // in words; empty: nobody
};

// Looks at a place in RADOS without owning it. Errors: InvalidArgument, as CheckRados; NotFound if there is no volume;
// those of rados::RadosVolume::Mount.
absl::StatusOr<PlaceStatus> ReadPlaceStatus(std::string_view text, const PlaceOptions& options);

// Opens the place `text`. A volume in RADOS is owned by this process until the place is destroyed; its data directory
// is /data. Errors: InvalidArgument, as CheckRados; those of rados::RadosVolume::Mount.
absl::StatusOr<std::unique_ptr<Place>> OpenPlace(std::string_view text, const PlaceOptions& options);

// Result of a comparison of the names of a place in RADOS with its objects.
struct PlaceCheck {
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t objects = 0;
  // Objects that belong to no file: left by a process that died while it made or removed a file.
  uint64_t orphans = 0;
  uint64_t orphan_bytes = 0;
  std::vector<std::string> problems;  // a line each; bounded
};

// Compares, and removes orphans if `collects`. Owns the place meanwhile. Errors: those of OpenPlace.
absl::StatusOr<PlaceCheck> CheckPlace(std::string_view text, const PlaceOptions& options, bool collects);

}  // namespace armature::place

#endif  // ARMATURE_STORAGE_PLACE_PLACE_H_
