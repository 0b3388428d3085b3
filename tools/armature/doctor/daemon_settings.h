#ifndef ARMATURE_TOOLS_ARMATURE_DOCTOR_DAEMON_SETTINGS_H_
#define ARMATURE_TOOLS_ARMATURE_DOCTOR_DAEMON_SETTINGS_H_

// The flags of a daemon that `armature doctor` looks at, from its configuration file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace armature::cli {

// A flag that is not in the file has its default.
struct DaemonSettings {
  std::string data_dir;
  std::string store;
  std::vector<std::string> listen;  // HOST:PORT of each listener that is on and has a fixed port
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
  std::string credentials_file;
  std::string backup_dir;
  // 0: the daemon chooses.
  uint64_t cache_bytes = 0;
  uint64_t memtables_bytes = 0;
  uint64_t request_memory_bytes = 0;
  uint64_t column_families_max = 16000;
  std::string disk_reserve = "auto";
};

// The settings in the text of a file. Only the daemon knows all flags: others are ignored here. Errors: InvalidArgument
// with the line.
absl::StatusOr<DaemonSettings> ParseDaemonSettings(std::string_view text);

// The free space below which writes are refused, on a disk of this size. 0 for a value that the daemon does not take.
uint64_t DiskReserveBytes(std::string_view disk_reserve, uint64_t disk_bytes);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DOCTOR_DAEMON_SETTINGS_H_
