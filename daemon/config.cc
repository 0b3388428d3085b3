#include "daemon/config.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "daemon/flag_forms.h"
#include "daemon/net/listening_socket.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/place/backup_places.h"

namespace armature::daemon {
namespace {

// For backups in RADOS: time for an operation of the cluster, and time beyond the lease for another process to end.
constexpr absl::Duration kBackupTimeout = absl::Seconds(30);
constexpr absl::Duration kBackupPatience = absl::Seconds(10);

absl::Status FlagError(std::string_view flag, std::string_view value, std::string_view allowed) {
  return absl::InvalidArgumentError(Cat("--", flag, "=", value, ": ", allowed));
}

// Checks that the flags of TLS and credentials fit together.
absl::Status CheckSecurity(const Config& config) {
  const TlsFiles& tls = config.tls;
  if (tls.certificate.empty() != tls.key.empty()) {
    return tls.certificate.empty()
               ? FlagError("tls_key", tls.key, "needs --tls_cert, the certificate of this key")
               : FlagError("tls_cert", tls.certificate, "needs --tls_key, the key of this certificate");
  }
  if (tls.client_ca.empty()) return absl::OkStatus();
  if (tls.certificate.empty()) return FlagError("tls_client_ca", tls.client_ca, "needs --tls_cert and --tls_key");
  if (config.credentials_file.empty()) {
    return FlagError("tls_client_ca", tls.client_ca,
                     "needs --credentials_file, which says what the owners of certificates may do");
  }
  return absl::OkStatus();
}

// Puts --listen in place of the two flags that it stands for.
absl::Status UseOnePort(Config* config) {
  config->is_one_port = !config->listen.empty();
  if (!config->is_one_port) return absl::OkStatus();
  if (config->grpc_listen != kGrpcListen || config->http_listen != kHttpListen) {
    return FlagError("listen", config->listen, "stands for --grpc_listen and --http_listen: give it alone");
  }
  config->grpc_listen = config->http_listen = config->listen;
  return absl::OkStatus();
}

// An address reachable from other machines needs authentication and TLS.
absl::Status CheckReach(const Config& config, std::string_view flag, std::string_view address) {
  const bool secured = config.tls.enabled() && !config.credentials_file.empty();
  if (IsLoopback(address) || secured || config.is_insecure) return absl::OkStatus();
  return FlagError(flag, address,
                   "is reachable from other machines: give --credentials_file, --tls_cert and --tls_key, listen on "
                   "127.0.0.1, or say --insecure");
}

absl::Status CheckListeners(const Config& config) {
  if (config.grpc_listen == kOff && config.http_listen == kOff) {
    return FlagError("grpc_listen", kOff, "with --http_listen=off there is nothing to serve");
  }
  if (config.http_listen != kOff) ARM_RETURN_IF_ERROR(CheckReach(config, "http_listen", config.http_listen));
  if (config.grpc_listen == kOff) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(CheckReach(config, "grpc_listen", config.grpc_listen));
  // gRPC clients send secrets in clear. HTTP signatures do not reveal them.
  const bool is_socket = config.grpc_listen.starts_with(kUnixPrefix);
  if (!config.credentials_file.empty() && !config.tls.enabled() && !is_socket && !config.is_insecure) {
    return FlagError("grpc_listen", config.grpc_listen,
                     "would take secrets of access keys in clear text: give --tls_cert and --tls_key, listen on "
                     "unix:PATH, or say --insecure");
  }
  return absl::OkStatus();
}

// Pages come in clear text, and with them what they show, so an address that other machines reach without TLS has none
// unless the operator asks for it.
ConsoleMode CompleteConsole(const Config& config) {
  if (config.http_listen == kOff) return ConsoleMode::kOff;
  if (config.console != ConsoleMode::kAuto) return config.console;
  const auto is_local = [](std::string_view address) { return address == kOff || IsLoopback(address); };
  const bool is_private = is_local(config.http_listen) && is_local(config.grpc_listen);
  return is_private || config.tls.enabled() ? ConsoleMode::kOn : ConsoleMode::kOff;
}

absl::Status CompletePlace(Config* config) {
  const std::string& store = config->store;
  if (config->data_dir.empty() && store.empty()) {
    return FlagError("data_dir", config->data_dir, "must name the directory that holds the database");
  }
  if (place::IsRados(config->data_dir)) {
    return FlagError("data_dir", config->data_dir, "must be a directory; name a volume in RADOS with --store");
  }
  if (!config->data_dir.empty() && !store.empty()) {
    return FlagError("store", store, "must not be given together with --data_dir: the database is in one of them");
  }
  config->place = store.empty() ? config->data_dir : store;
  if (store.empty()) {
    config->place_options.copies_directory.clear();
    config->advertised_host.clear();
    config->forwards = false;
    return absl::OkStatus();
  }
  if (const absl::Status known = place::CheckRados(store); !known.ok()) {
    return FlagError("store", store, Sv(known.message()));
  }
  // A daemon that waits is the standby of the one that serves.
  config->place_options.owner_wait = absl::InfiniteDuration();
  return absl::OkStatus();
}

absl::Status CompleteBackups(Config* config) {
  const engine::BackupOptions& backup = config->engine.backup;
  if (!backup.directory.empty()) {
    const absl::Status named = place::SharedBackupPlaces(config->place, {}).CheckName(backup.directory);
    if (!named.ok()) return FlagError("backup_dir", backup.directory, Sv(named.message()));
  }
  if (backup.interval != absl::ZeroDuration() && backup.directory.empty()) {
    return FlagError("backup_interval", absl::FormatDuration(backup.interval), "needs --backup_dir");
  }
  config->backup_places = config->place_options;
  // The daemon goes on without backups, and must not wait for the end of one for ever.
  if (config->place_options.op_timeout == absl::ZeroDuration()) config->backup_places.op_timeout = kBackupTimeout;
  // A daemon that was killed keeps the lease until it runs out.
  config->backup_places.owner_wait = config->backup_places.lease + kBackupPatience;
  config->backup_places.copies_directory.clear();
  return absl::OkStatus();
}

absl::Status CompleteArchive(Config* config) {
  const std::string& directory = config->archive.directory;
  config->database.archived_log.is_on = !directory.empty();
  if (directory.empty()) return absl::OkStatus();
  if (directory.front() != '/') return FlagError("archive_dir", directory, "must be an absolute path");
  if (!config->store.empty()) {
    return FlagError("archive_dir", directory, "needs --data_dir: databases in RADOS are not archived yet");
  }
  const auto folder = [](const std::string& path) {
    std::error_code error;
    std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
    if (error) whole = std::filesystem::absolute(path).lexically_normal();
    return Cat(whole.string(), whole.has_filename() ? "/" : "");
  };
  const std::string archive = folder(directory);
  const std::string data = folder(config->data_dir);
  if (archive.starts_with(data) || data.starts_with(archive)) {
    return FlagError("archive_dir", directory, "must not be in --data_dir, nor --data_dir in it");
  }
  return absl::OkStatus();
}

void SizePools(size_t processors, Config* config) {
  constexpr size_t kReadThreadsMax = 256;
  constexpr size_t kApplierThreadsMax = 8;
  constexpr size_t kBackgroundThreadsMax = 16;
  const auto size = [](size_t by_processors, size_t most, size_t least, size_t* threads) {
    if (*threads == 0) *threads = std::clamp(by_processors, least, most);
  };
  size(processors, kReadThreadsMax, 2, &config->engine.read_threads);
  size(processors / 2, kApplierThreadsMax, 1, &config->engine.applier_threads);
  size(processors, kBackgroundThreadsMax, 2, &config->database.background_threads);
  config->http_threads = std::max<size_t>(processors, 2);
}

// Limit of the log with a store: its reader is a standby that clients wait for.
constexpr size_t kStoreLogBytes = size_t{64} << 20;

// Parts of the memory that the block cache gets by default, on large machines and on small ones.
constexpr uint64_t kCachePart = 4;
constexpr uint64_t kCachePartMin = 16;
// Code, threads, and what the allocator keeps.
constexpr uint64_t kProcessBytes = uint64_t{64} << 20;

void SizeMemory(uint64_t memory_bytes, Config* config) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  store::DatabaseOptions& database = config->database;
  if (database.wal_max_bytes == 0) {
    database.wal_max_bytes = config->store.empty() ? store::DatabaseOptions().wal_max_bytes : kStoreLogBytes;
  }
  // The limit of the log keeps the memtables below about this, so more would have no effect.
  if (database.memtables_bytes_max == 0) {
    database.memtables_bytes_max = std::clamp(memory_bytes / 16, 32 * kMiB, 512 * kMiB);
  }
  if (config->request_memory_bytes == 0) {
    config->request_memory_bytes = std::clamp(memory_bytes / 8, 64 * kMiB, 512 * kMiB);
  }
  if (database.cache_bytes != 0) return;
  // A small machine needs most of its memory for the process itself, and for requests, which are there as they came and
  // as they are written.
  const uint64_t others = kProcessBytes + database.memtables_bytes_max + 2 * config->request_memory_bytes;
  const uint64_t rest = std::max(memory_bytes - std::min(memory_bytes, others), memory_bytes / kCachePartMin);
  database.cache_bytes = std::clamp(std::min(memory_bytes / kCachePart, rest), 8 * kMiB, uint64_t{1} << 40);
}

}  // namespace

bool IsLoopback(std::string_view address) {
  // Digits and dots only, because 127.example.org is an ordinary name.
  const std::string_view host = address.substr(0, address.rfind(':'));
  const bool is_127 = host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_127 || address.starts_with("localhost:") || address.starts_with("[::1]:") ||
         address.starts_with(kUnixPrefix);
}

absl::Status CheckDescriptorLimit(uint64_t limit, const Config& config) {
  // The database keeps a few files open for each table and index in use. Connections need more.
  constexpr uint64_t kNeeded = 1024;
  constexpr uint64_t kFilesPerFamily = 4;
  const uint64_t wanted = kNeeded + kFilesPerFamily * config.database.column_families_max;
  constexpr std::string_view kAdvice = "; raise it with ulimit -n, or LimitNOFILE= of the service";
  if (limit < kNeeded) {
    return absl::FailedPreconditionError(
        Cat("the limit of open files is ", limit, ", at least ", kNeeded, " are needed", kAdvice));
  }
  if (limit < wanted) {
    // A default does not say that there will be so many.
    const bool is_asked_for = config.database.column_families_max != store::DatabaseOptions().column_families_max;
    LOG_AT_LEVEL(is_asked_for ? google::GLOG_WARNING : google::GLOG_INFO)
        << "server: the limit of open files is " << limit
        << ", with --column_families_max=" << config.database.column_families_max << " up to " << wanted
        << " may be needed" << kAdvice;
  }
  return absl::OkStatus();
}

absl::StatusOr<Config> MakeConfig(const Config& given, const Machine& machine) {
  Config config = given;
  ARM_RETURN_IF_ERROR(UseOnePort(&config));
  ARM_RETURN_IF_ERROR(CompletePlace(&config));
  ARM_RETURN_IF_ERROR(CheckSecurity(config));
  ARM_RETURN_IF_ERROR(CheckListeners(config));
  ARM_RETURN_IF_ERROR(CompleteBackups(&config));
  ARM_RETURN_IF_ERROR(CompleteArchive(&config));
  config.console = CompleteConsole(config);
  for (std::string* const address : {&config.grpc_listen, &config.http_listen, &config.metrics_listen}) {
    if (*address == kOff) address->clear();
  }
  if (config.connection_age_max == absl::ZeroDuration()) config.connection_age_max = absl::InfiniteDuration();
  if (!config.settles_index_reads) config.engine.index_read_wait = absl::ZeroDuration();
  SizePools(machine.processors, &config);
  SizeMemory(machine.memory_bytes, &config);
  return config;
}

}  // namespace armature::daemon
