#include <string>

#include "armature/version.h"
#include "storage/base/strings.h"
#include "tools/armature/doctor/checks.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

Finding CheckVersion(const std::string& daemon) {
  if (daemon == kVersion) return Fine("version", Cat("daemon and command line are both ", daemon));
  return {"version", FindingState::kWarn, Cat("the daemon is ", daemon, ", the command line ", kVersion),
          "install the same version of both, and restart the daemon after an upgrade"};
}

Finding CheckWrites(const admin::v1::GetServerInfoResponse& info) {
  if (!info.writes_refused_reason().empty()) {
    return {"writes", FindingState::kFail, Cat("refused: ", info.writes_refused_reason()),
            "see docs/operate/troubleshooting.md, A full disk"};
  }
  if (info.writes_stopped() || info.writes_delayed_to_bytes_per_second() > 0) {
    return {"writes", FindingState::kWarn, "held back: compactions do not keep up", "a faster disk, or fewer writes"};
  }
  return Fine("writes", "accepted");
}

}  // namespace

Findings CheckDaemon(const absl::StatusOr<admin::v1::GetServerInfoResponse>& info) {
  if (!info.ok() && ExitCodeOf(info.status()) != ExitCode::kUnreachable) {
    return {{"daemon", FindingState::kWarn, Cat("it answers, but not this: ", Sv(info.status().message())),
             "give --access-key or a certificate with the right admin"}};
  }
  if (!info.ok()) return {Fine("daemon", "none answers: this looks at the file and the machine only")};
  Findings findings = {Fine("daemon", Cat("runs as process ", info->pid(), " on ", info->data_directory())),
                       CheckVersion(info->version()), CheckWrites(*info)};
  for (const std::string& damaged : info->damaged()) {
    findings.push_back({"damage", FindingState::kFail, damaged,
                        "restore the table from a backup, rebuild the index, or see armature recover"});
  }
  return findings;
}

}  // namespace armature::cli
