#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "daemon/auth/tls_identity.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/doctor/checks.h"

namespace armature::cli {
namespace {

// As those of the alarms (packaging/armature.rules.yml).
constexpr int64_t kDaySeconds = 86'400;
constexpr int64_t kFailDays = 3;
constexpr int64_t kWarnDays = 14;

Finding CheckExpiry(const Host& host, const std::string& path, int64_t expiry_s) {
  const int64_t left_s = expiry_s - absl::ToUnixSeconds(host.Now());
  const std::string text = Cat(path, left_s < 0 ? " has expired on " : " expires on ", ShowTime(expiry_s * 1000));
  const bool is_urgent = left_s < kFailDays * kDaySeconds;
  if (!is_urgent && left_s >= kWarnDays * kDaySeconds) return Fine("certificate", text);
  return {"certificate", is_urgent ? FindingState::kFail : FindingState::kWarn, text,
          "replace the file, then systemctl reload armatured"};
}

// The rule of the daemon (daemon/auth/private_file.h), for its user in place of ours.
Finding CheckSecret(const Patient& patient, const std::string& path) {
  const absl::StatusOr<FileFacts> file = patient.host.Stat(path);
  if (!file.ok()) {
    return {"secrets", FindingState::kFail, std::string(file.status().message()), "make the file, or correct its path"};
  }
  const std::string mode = absl::StrFormat("mode %04o", file->mode & 07777);
  if (patient.user.has_value() && file->owner != *patient.user && file->owner != 0) {
    return {"secrets", FindingState::kFail,
            Cat(path, " belongs to user ", file->owner, ", and the daemon runs as user ", *patient.user),
            Cat("chown ", *patient.user, " ", path)};
  }
  // Only by its group does the daemon read a file of root.
  const bool is_by_group = file->owner == 0 && patient.user.has_value() && *patient.user != 0;
  const mode_t refused = is_by_group ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if ((file->mode & refused) != 0) {
    return {"secrets", FindingState::kFail, Cat("others may use ", path, " (", mode, ")"),
            Cat("chmod ", is_by_group ? "640 " : "600 ", path)};
  }
  return Fine("secrets", Cat(path, " is private (", mode, ")"));
}

}  // namespace

Findings CheckCertificates(const Patient& patient) {
  const daemon::TlsFiles files{.certificate = patient.settings.tls_cert,
                               .key = patient.settings.tls_key,
                               .client_ca = patient.settings.tls_client_ca};
  if (!files.enabled()) return {};
  daemon::TlsIdentity identity;
  struct Part {
    const std::string& path;
    std::string* content;
  };
  const Part parts[] = {{files.certificate, &identity.certificate_pem},
                        {files.key, &identity.key_pem},
                        {files.client_ca, &identity.client_ca_pem}};
  for (const auto& [path, content] : parts) {
    if (path.empty()) continue;
    absl::StatusOr<std::string> read = patient.host.Read(path);
    if (!read.ok()) {
      return {{"certificate", absl::IsNotFound(read.status()) ? FindingState::kFail : FindingState::kWarn,
               std::string(read.status().message()),
               "correct its path, or run this as the user of the daemon or as root"}};
    }
    *content = *std::move(read);
  }
  if (const absl::Status fits = daemon::CompleteTlsIdentity(files, &identity); !fits.ok()) {
    return {{"certificate", FindingState::kFail, std::string(fits.message()),
             "give certificate and key that belong together"}};
  }
  Findings findings = {CheckExpiry(patient.host, files.certificate, identity.certificate_expiry_s)};
  if (!files.client_ca.empty()) {
    findings.push_back(CheckExpiry(patient.host, files.client_ca, identity.client_ca_expiry_s));
  }
  return findings;
}

Findings CheckSecrets(const Patient& patient) {
  Findings findings;
  for (const std::string& path : {patient.settings.tls_key, patient.settings.credentials_file}) {
    if (!path.empty()) findings.push_back(CheckSecret(patient, path));
  }
  return findings;
}

}  // namespace armature::cli
