#ifndef ARMATURE_DAEMON_CONFIG_H_
#define ARMATURE_DAEMON_CONFIG_H_

// The daemon's configuration, validated before the start.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/auth/tls_identity.h"
#include "daemon/machine_memory.h"
#include "daemon/net/connection_ledger.h"
#include "engine/engine.h"
#include "storage/base/thread_pool.h"
#include "storage/place/place.h"
#include "storage/store/options.h"

namespace armature::daemon {

// Where the daemon listens unless it is told otherwise.
inline constexpr char kGrpcListen[] = "127.0.0.1:7700";
inline constexpr char kHttpListen[] = "127.0.0.1:7701";

// Values of the flags.
struct RawConfig {
  std::string data_dir;
  std::string store = {};
  std::string rados_conf = {};
  std::string rados_user = {};
  int64_t lease_seconds = 5;
  int64_t rados_timeout_seconds = 0;
  std::string sst_cache_dir = {};
  int64_t sst_cache_mb = 10'240;
  std::string advertise = {};
  bool forward = false;
  std::string listen = {};  // in place of the next one and of http_listen
  std::string grpc_listen;
  std::string durability;
  int64_t cache_mb = 0;
  int64_t memtables_mb = 0;
  int64_t wal_max_mb = 0;
  int64_t background_threads = 0;
  int64_t read_threads = 0;
  int64_t applier_threads = 0;
  int64_t column_families_max = 0;
  int64_t item_collection_mb_max = 10'240;
  absl::Duration stream_retention = absl::Hours(24);
  absl::Duration ttl_interval = absl::Seconds(5);
  int64_t stream_mb_max = 16'384;
  int64_t stream_shards = 1;
  int64_t watch_max = 1000;
  int64_t gsi_backlog_max = 1'000'000;
  int64_t gsi_backlog_mb_max = 1024;
  absl::Duration transaction_wait = absl::Seconds(5);
  absl::Duration describe_wait = absl::Seconds(1);
  absl::Duration table_wait = absl::Seconds(10);
  std::string index_updates = "with_item";
  std::string index_reads = "eventual";
  absl::Duration index_read_wait = absl::Milliseconds(100);
  bool enforce_throughput = true;
  bool insecure = false;
  std::string http_listen = "off";
  std::string http_hosts = {};
  std::string cors_origins = {};
  std::string credentials_file = {};
  std::string tls_cert = {};
  std::string tls_key = {};
  std::string tls_client_ca = {};
  std::string audit_log = {};
  std::string disk_reserve = "auto";
  std::string metrics_listen = "off";
  int64_t slow_request_ms = 0;
  int64_t connections_max = 20'000;
  int64_t connections_per_address_max = 0;
  absl::Duration connection_max_age = absl::ZeroDuration();
  int64_t request_memory_mb = 0;
  int64_t drain_seconds = 10;
  std::string backup_dir = {};
  absl::Duration backup_interval;
  int64_t backup_keep = 0;
  int64_t backup_mb_per_second = 32;
  std::string export_dir = {};
  std::string import_dir = {};
};

struct Config {
  std::string place;  // of the database, as the operator names it
  place::PlaceOptions place_options;
  // Host that daemons which wait for the database tell their clients; empty: the listener's, or this machine's name.
  std::string advertised_host;
  // True once for each order to read credentials and certificates again. Asked while the daemon waits. May be null.
  std::function<bool()> takes_reload;
  bool forwards = false;  // while it waits for the database, passes connections on to the owner
  // One port for both protocols: the next two are the same address.
  bool is_one_port = false;
  std::string grpc_listen;     // empty: off
  std::string http_listen;     // empty: off
  std::string metrics_listen;  // empty: off
  absl::Duration connection_age_max = absl::InfiniteDuration();
  // Further host names and permitted web pages of both HTTP listeners; see SiteRules.
  std::vector<std::string> http_hosts;
  std::vector<std::string> cors_origins;
  std::string credentials_file;  // empty: no authentication, all operations are permitted
  TlsFiles tls;                  // for all listeners except Unix sockets
  std::string audit_log;         // empty: off
  int64_t slow_request_ms = 0;   // 0: slow requests are not logged
  // The gRPC and the HTTP front together. A per_address_max of 0 is half of connections_max.
  ConnectionLimits connections;
  size_t request_memory_bytes = 0;    // of both fronts
  size_t http_threads = 2;            // serve HTTP connections
  absl::Duration drain_time;          // time for running requests to finish at the end
  place::PlaceOptions backup_places;  // how places of backups in RADOS are opened
  store::DatabaseOptions database;
  engine::EngineOptions engine;
};

// The part of the machine that the process may use.
struct Machine {
  size_t processors = UsableProcessors();
  uint64_t memory_bytes = UsableMemory();
};

// Pools of threads and budgets of memory that are not given are sized from `machine`. Errors: InvalidArgument with one
// line that names the flag, the value, and the allowed values.
absl::StatusOr<Config> MakeConfig(const RawConfig& given, const Machine& machine = {});

// Checks that the process may open enough files. `limit` is the limit after RaiseDescriptorLimit. Errors:
// FailedPrecondition with one line that has both numbers.
absl::Status CheckDescriptorLimit(uint64_t limit, const Config& config);

// True if `address` (host:port, [v6]:port or unix:path) cannot be reached from another machine.
bool IsLoopback(std::string_view address);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_CONFIG_H_
