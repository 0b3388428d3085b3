#ifndef ARMATURE_DAEMON_CONFIG_H_
#define ARMATURE_DAEMON_CONFIG_H_

// The daemon's configuration, validated before the start.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/auth/tls_identity.h"
#include "daemon/log_lines.h"
#include "daemon/machine_memory.h"
#include "daemon/net/connection_ledger.h"
#include "engine/engine.h"
#include "storage/archive/shipper.h"
#include "storage/base/thread_pool.h"
#include "storage/place/place.h"
#include "storage/store/options.h"

namespace armature::daemon {

// Where the daemon listens unless it is told otherwise.
inline constexpr char kGrpcListen[] = "127.0.0.1:7700";
inline constexpr char kHttpListen[] = "127.0.0.1:7701";

// The web console at the addresses of the JSON protocol.
enum class ConsoleMode : uint8_t {
  kAuto,  // as given; MakeConfig replaces it
  kOff,
  kReadOnly,  // operations that change something are refused to its pages
  kOn,
};

// A flag that was given, on the command line or in the file of flags.
struct GivenFlag {
  std::string value;  // as FlagText writes it, before MakeConfig completes it
  int file_line = 0;  // 0: on the command line, which takes precedence
};

// Flags about the command line itself.
struct CommandLine {
  std::string config_file;
  bool prints_config = false;
  bool prints_flags_doc = false;
  bool prints_metrics_doc = false;
  std::map<std::string, GivenFlag, std::less<>> given = {};  // by the flag's name
};

// The flags set members (flag_table.h); the comments say what a value means after MakeConfig.
struct Config {
  CommandLine command_line;
  // One of them is given. `place` is the one, the place of the database as the operator names it.
  std::string data_dir;
  std::string store;
  std::string place;
  place::PlaceOptions place_options;
  // Host that daemons which wait for the database tell their clients; empty: the listener's, or this machine's name.
  std::string advertised_host;
  // True once for each order to read credentials and certificates again. Asked while the daemon waits. May be null.
  std::function<bool()> takes_reload;
  bool forwards = false;  // while it waits for the database, passes connections on to the owner
  std::string listen;
  // One port for both protocols, `listen`: the next two are the same address.
  bool is_one_port = false;
  std::string grpc_listen;     // empty: off
  std::string http_listen;     // empty: off
  std::string metrics_listen;  // empty: off
  absl::Duration connection_age_max = absl::InfiniteDuration();
  bool is_insecure = false;  // other machines may reach the daemon without TLS and credentials
  // Further host names and permitted web pages of both HTTP listeners; see SiteRules.
  std::vector<std::string> http_hosts;
  std::vector<std::string> cors_origins;
  ConsoleMode console = ConsoleMode::kAuto;
  std::string credentials_file;  // empty: no authentication, all operations are permitted
  TlsFiles tls;                  // for all listeners except Unix sockets
  std::string audit_log;         // empty: off
  LogOptions log;
  int64_t slow_request_ms = 0;  // 0: slow requests are not logged
  // The gRPC and the HTTP front together. A per_address_max of 0 is half of connections_max.
  ConnectionLimits connections;
  size_t request_memory_bytes = 0;    // of both fronts
  size_t http_threads = 2;            // serve HTTP connections
  absl::Duration drain_time;          // time for running requests to finish at the end
  place::PlaceOptions backup_places;  // how places of backups in RADOS are opened
  store::DatabaseOptions database;
  archive::ShipperOptions archive;   // without a directory: no archive
  bool settles_index_reads = false;  // engine.index_read_wait is zero without it
  engine::EngineOptions engine;
};

// The part of the machine that the process may use.
struct Machine {
  size_t processors = UsableProcessors();
  uint64_t memory_bytes = UsableMemory();
};

// Checks that the values of the flags in `given` fit together, and completes them: pools of threads and budgets of
// memory that are not given are sized from `machine`. Errors: InvalidArgument with one line that names the flag, the
// value, and the allowed values.
absl::StatusOr<Config> MakeConfig(const Config& given, const Machine& machine = {});

// Checks that the process may open enough files. `limit` is the limit after RaiseDescriptorLimit. Errors:
// FailedPrecondition with one line that has both numbers.
absl::Status CheckDescriptorLimit(uint64_t limit, const Config& config);

// True if `address` (host:port, [v6]:port or unix:path) cannot be reached from another machine.
bool IsLoopback(std::string_view address);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_CONFIG_H_
