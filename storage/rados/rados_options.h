#ifndef ARMATURE_STORAGE_RADOS_RADOS_OPTIONS_H_
#define ARMATURE_STORAGE_RADOS_RADOS_OPTIONS_H_

// Where a volume in Ceph RADOS is, and how it is used.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/rados/volume_facts.h"

namespace armature::rados {

struct RadosVolumeOptions {
  std::string pool;
  // Namespace of the pool. Nothing else is kept in it. One volume, and so one database, each.
  std::string name_space;
  // Ceph's configuration file. Empty: the places where librados looks, /etc/ceph/ceph.conf first.
  std::string conf_file;
  // Name of the Ceph user, without "client.".
  std::string user = "admin";
  // An operation that the cluster has not answered for this time fails, with an outcome that is unknown. Zero: waits
  // for as long as it takes.
  absl::Duration op_timeout = absl::ZeroDuration();
  // A request to monitors that is not answered for this time fails. Connections, blocks of clients and the free space
  // need monitors; none of them may wait for ever.
  absl::Duration monitor_timeout = absl::Seconds(30);

  // An owner that has not renewed its lease for this time may be replaced.
  absl::Duration lease = absl::Seconds(5);
  // A volume that is not there is an error, and nothing is made.
  bool must_exist = false;
  // The log lines of Ceph's library are not written to standard error.
  bool is_quiet = false;
  // Looks once for objects that are lost, after the mount and beside everything else, and logs them.
  bool scans_objects = false;
  // Looks for reasons for which this process could not take the volume over, while it waits for another owner and once
  // in any case: see TakeoverCheck.
  bool checks_takeover = false;
  // With checks_takeover: the reason for which the files of the volume, which another process owns, could not be used
  // by this one. `read` returns the content of a small file by its path; errors: NotFound; FailedPrecondition if it is
  // a directory; DataLoss; Unavailable. Called by another thread. May be null.
  using ReadFile = std::function<absl::StatusOr<std::string>(const std::string& path)>;
  std::function<std::optional<TakeoverProblem>(const ReadFile& read)> check_files;
  // How long Mount waits for the lease of another owner to end. A killed process holds its lease until it runs out.
  absl::Duration owner_wait = absl::Seconds(15);
  // Ends the wait of Mount for another owner early if it returns true. May be null.
  std::function<bool()> is_cancelled;
  // Called by Mount while it waits for another owner, some times a second. May be null.
  std::function<void(const VolumeWait& wait)> on_waiting;
  // Called once, by any thread, when this process has lost the volume to another one or may not write it any more. All
  // further writes fail. May be null.
  std::function<void(std::string_view reason)> on_lost;
  // Called once, by the thread of the lease, when an operator asks this owner to end (HandOverVolume). May be null.
  std::function<void()> on_handover;

  // Bytes of an object that holds a part of a file. A new volume takes them; an existing one keeps its own.
  uint64_t stripe_bytes = uint64_t{4} << 20;

  // Local directory for copies of table files, of at most `copies_bytes_max` together. Empty: no copies.
  std::string copies_directory = {};
  uint64_t copies_bytes_max = uint64_t{10} << 30;

  // How a new owner makes its predecessor harmless, which may still run: it lets the cluster block its connection, and
  // takes over the objects that it may write. Either is enough; each covers faults of the other. All but kFull are for
  // tests; kNone loses acknowledged writes.
  enum class Fence : uint8_t { kFull, kBlock, kTakeOver, kNone };
  Fence fence = Fence::kFull;
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_RADOS_OPTIONS_H_
