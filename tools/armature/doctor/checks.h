#ifndef ARMATURE_TOOLS_ARMATURE_DOCTOR_CHECKS_H_
#define ARMATURE_TOOLS_ARMATURE_DOCTOR_CHECKS_H_

// The checks of `armature doctor`. Each returns what it found, good news too; one that does not apply finds nothing.

#include <sys/types.h>

#include <optional>

#include "absl/status/statusor.h"
#include "armature/admin/v1/admin.pb.h"
#include "tools/armature/doctor/daemon_settings.h"
#include "tools/armature/doctor/finding.h"
#include "tools/armature/doctor/host.h"

namespace armature::cli {

// A daemon, with the machine that it runs on, or would run on. Lifetime: refers to its host.
struct Patient {
  const Host& host;
  DaemonSettings settings = {};
  pid_t process = 0;               // 0: none on this machine
  std::optional<uid_t> user = {};  // that the daemon runs as; nullopt: unknown
};

// host_checks
// The user that the daemon runs as, or would. `is_packaged`: by the configuration file of the package, whose unit names
// the user. Any other daemon that does not run is taken for that of the owner of its data.
std::optional<uid_t> FindDaemonUser(const Patient& patient, bool is_packaged);
Findings CheckDescriptors(const Patient& patient);
Findings CheckData(const Patient& patient);  // file system, owner and free space of the data directory
Findings CheckMemory(const Patient& patient);
Findings CheckClock(const Patient& patient);
Findings CheckPorts(const Patient& patient);

// secret_checks
Findings CheckCertificates(const Patient& patient);
Findings CheckSecrets(const Patient& patient);  // owners and modes of files with secrets

// daemon_checks. `info`: the answer of the daemon, or why there is none.
Findings CheckDaemon(const absl::StatusOr<admin::v1::GetServerInfoResponse>& info);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DOCTOR_CHECKS_H_
