#include "daemon/config.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "daemon/http/site_rules.h"
#include "daemon/net/listening_socket.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"
#include "storage/model/table_settings.h"
#include "storage/place/backup_places.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kOff = "off";
// For backups in RADOS: time for an operation of the cluster, and time beyond the lease for another process to end.
constexpr absl::Duration kBackupTimeout = absl::Seconds(30);
constexpr absl::Duration kBackupPatience = absl::Seconds(10);

absl::Status FlagError(std::string_view flag, std::string_view value, std::string_view allowed) {
  return absl::InvalidArgumentError(Cat("--", flag, "=", value, ": ", allowed));
}

absl::Status CheckRange(std::string_view flag, int64_t value, int64_t minimum, int64_t maximum) {
  if (value >= minimum && value <= maximum) return absl::OkStatus();
  return FlagError(flag, std::to_string(value), Cat("must be between ", minimum, " and ", maximum));
}

absl::Status ParseDurability(const std::string& text, store::DatabaseOptions* options) {
  constexpr std::string_view kInterval = "interval:";
  constexpr int64_t kIntervalMaxMs = 60'000;
  if (text == "sync") {
    options->durability = store::Durability::kSync;
    return absl::OkStatus();
  }
  if (text == "os") {
    options->durability = store::Durability::kOs;
    return absl::OkStatus();
  }
  if (text.starts_with(kInterval)) {
    int64_t ms = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + kInterval.size(), end, ms);
    if (error == std::errc() && rest == end && ms >= 1 && ms <= kIntervalMaxMs) {
      options->durability = store::Durability::kInterval;
      options->sync_interval_ms = ms;
      return absl::OkStatus();
    }
  }
  return FlagError("durability", text, "must be sync, os, or interval:<1 to 60000 milliseconds>");
}

absl::Status ParseIndexUpdates(const std::string& text, store::DatabaseOptions* options) {
  if (text != "with_item" && text != "logged") {
    return FlagError("index_updates", text, "must be with_item or logged");
  }
  options->index_updates = text == "logged" ? store::IndexUpdates::kLogged : store::IndexUpdates::kWithItem;
  return absl::OkStatus();
}

// Parses a size such as "10G". False if `text` is not a size.
bool ParseBytes(std::string_view text, uint64_t* bytes) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *bytes);
  if (error != std::errc()) return false;
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  constexpr std::string_view kUnits = "KMGT";
  if (unit.empty()) return true;
  const size_t place = kUnits.find(unit[0]);
  if (unit.size() != 1 || place == std::string_view::npos) return false;
  const size_t shift = 10 * (place + 1);
  if (*bytes > (UINT64_MAX >> shift)) return false;
  *bytes <<= shift;
  return true;
}

absl::Status ParseDiskReserve(const std::string& text, store::DiskReserve* reserve) {
  constexpr uint64_t kAutoBytes = uint64_t{1} << 30;
  constexpr uint32_t kAutoPercent = 5;
  constexpr uint32_t kPercentMax = 50;
  if (text == "auto") {
    *reserve = {.bytes = kAutoBytes, .percent = kAutoPercent};
    return absl::OkStatus();
  }
  if (text.ends_with('%')) {
    *reserve = {.bytes = UINT64_MAX, .percent = 0};
    const char* const end = text.data() + text.size() - 1;
    const auto [rest, error] = std::from_chars(text.data(), end, reserve->percent);
    if (error == std::errc() && rest == end && reserve->percent <= kPercentMax) return absl::OkStatus();
  } else {
    *reserve = {.bytes = 0, .percent = 100};
    if (ParseBytes(text, &reserve->bytes)) return absl::OkStatus();
  }
  return FlagError("disk_reserve", text, "must be auto, a percentage from 0% to 50%, or bytes such as 500M or 2G");
}

bool HasPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  uint32_t port = 0;
  const std::string_view digits = address.substr(colon + 1);
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc() && rest == digits.data() + digits.size() && port <= 65'535;
}

// Checks that the flags of TLS and credentials fit together.
absl::Status CheckSecurity(const RawConfig& raw) {
  if (raw.tls_cert.empty() != raw.tls_key.empty()) {
    return raw.tls_cert.empty() ? FlagError("tls_key", raw.tls_key, "needs --tls_cert, the certificate of this key")
                                : FlagError("tls_cert", raw.tls_cert, "needs --tls_key, the key of this certificate");
  }
  if (raw.tls_client_ca.empty()) return absl::OkStatus();
  if (raw.tls_cert.empty()) return FlagError("tls_client_ca", raw.tls_client_ca, "needs --tls_cert and --tls_key");
  if (raw.credentials_file.empty()) {
    return FlagError("tls_client_ca", raw.tls_client_ca,
                     "needs --credentials_file, which says what the owners of certificates may do");
  }
  return absl::OkStatus();
}

// `raw` with --listen in place of the two flags that it stands for.
absl::StatusOr<RawConfig> WithOnePort(const RawConfig& raw) {
  RawConfig one = raw;
  if (raw.listen.empty()) return one;
  if (raw.grpc_listen != kGrpcListen || raw.http_listen != kHttpListen) {
    return FlagError("listen", raw.listen, "stands for --grpc_listen and --http_listen: give it alone");
  }
  if (!HasPort(raw.listen)) {
    return FlagError("listen", raw.listen, "must be HOST:PORT or [IPV6]:PORT; port 0 picks a free one");
  }
  one.grpc_listen = one.http_listen = raw.listen;
  return one;
}

// An address reachable from other machines needs authentication and TLS.
absl::Status CheckReach(const RawConfig& raw, std::string_view flag, std::string_view address) {
  const bool secured = !raw.tls_cert.empty() && !raw.credentials_file.empty();
  if (IsLoopback(address) || secured || raw.insecure) return absl::OkStatus();
  return FlagError(flag, address,
                   "is reachable from other machines: give --credentials_file, --tls_cert and --tls_key, listen on "
                   "127.0.0.1, or say --insecure");
}

absl::Status CheckListeners(const RawConfig& raw) {
  if (raw.grpc_listen == kOff && raw.http_listen == kOff) {
    return FlagError("grpc_listen", kOff, "with --http_listen=off there is nothing to serve");
  }
  if (raw.http_listen != kOff) {
    if (!HasPort(raw.http_listen)) {
      return FlagError("http_listen", raw.http_listen,
                       "must be HOST:PORT, [IPV6]:PORT or off; port 0 picks a free one");
    }
    ARM_RETURN_IF_ERROR(CheckReach(raw, "http_listen", raw.http_listen));
  }
  if (raw.metrics_listen != kOff && !HasPort(raw.metrics_listen)) {
    return FlagError("metrics_listen", raw.metrics_listen,
                     "must be HOST:PORT, [IPV6]:PORT or off; port 0 picks a free one");
  }
  if (raw.grpc_listen == kOff) return absl::OkStatus();
  const bool is_socket = raw.grpc_listen.starts_with(kUnixPrefix);
  if (!is_socket && !HasPort(raw.grpc_listen)) {
    return FlagError("grpc_listen", raw.grpc_listen,
                     "must be HOST:PORT, [IPV6]:PORT, unix:PATH or off; port 0 picks a free one");
  }
  ARM_RETURN_IF_ERROR(CheckReach(raw, "grpc_listen", raw.grpc_listen));
  // gRPC clients send secrets in clear. HTTP signatures do not reveal them.
  if (!raw.credentials_file.empty() && raw.tls_cert.empty() && !is_socket && !raw.insecure) {
    return FlagError("grpc_listen", raw.grpc_listen,
                     "would take secrets of access keys in clear text: give --tls_cert and --tls_key, listen on "
                     "unix:PATH, or say --insecure");
  }
  return absl::OkStatus();
}

// Reads a list separated by commas.
absl::Status ReadList(std::string_view flag, const std::string& text,
                      std::optional<std::string> (*parse)(std::string_view), std::string_view allowed,
                      std::vector<std::string>* list) {
  for (const std::string& entry : std::vector<std::string>(absl::StrSplit(text, ',', absl::SkipWhitespace()))) {
    std::optional<std::string> parsed = parse(Sv(absl::StripAsciiWhitespace(entry)));
    if (!parsed.has_value()) return FlagError(flag, text, allowed);
    list->push_back(*std::move(parsed));
  }
  return absl::OkStatus();
}

absl::Status ReadSites(const RawConfig& raw, Config* config) {
  ARM_RETURN_IF_ERROR(ReadList("http_hosts", raw.http_hosts, ParseHostName,
                               "must be host names without ports, separated by commas", &config->http_hosts));
  return ReadList("cors_origins", raw.cors_origins, ParseOrigin,
                  "must be origins of web pages, such as https://app.example.org:8443, separated by commas",
                  &config->cors_origins);
}

absl::Status ReadBackups(const RawConfig& raw, Config* config) {
  if (!raw.backup_dir.empty()) {
    const absl::Status named = place::SharedBackupPlaces(config->place, {}).CheckName(raw.backup_dir);
    if (!named.ok()) return FlagError("backup_dir", raw.backup_dir, Sv(named.message()));
  }
  const std::string interval = absl::FormatDuration(raw.backup_interval);
  if (raw.backup_interval != absl::ZeroDuration()) {
    if (raw.backup_interval < absl::Seconds(1) || raw.backup_interval > absl::Hours(24 * 366)) {
      return FlagError("backup_interval", interval, "must be 0, or between 1s and 8784h");
    }
    if (raw.backup_dir.empty()) return FlagError("backup_interval", interval, "needs --backup_dir");
  }
  ARM_RETURN_IF_ERROR(CheckRange("backup_keep", raw.backup_keep, 0, 1'000'000));
  ARM_RETURN_IF_ERROR(CheckRange("backup_mb_per_second", raw.backup_mb_per_second, 0, 1 << 20));
  config->engine.backup = {.directory = raw.backup_dir,
                           .bytes_per_second_max = static_cast<uint64_t>(raw.backup_mb_per_second) << 20,
                           .interval = raw.backup_interval,
                           .keep = static_cast<size_t>(raw.backup_keep)};
  config->backup_places = config->place_options;
  // The daemon goes on without backups, and must not wait for the end of one for ever.
  if (raw.rados_timeout_seconds == 0) config->backup_places.op_timeout = kBackupTimeout;
  // A daemon that was killed keeps the lease until it runs out.
  config->backup_places.owner_wait = config->backup_places.lease + kBackupPatience;
  config->backup_places.copies_directory.clear();
  return absl::OkStatus();
}

absl::Status ReadTransfers(const RawConfig& raw, engine::TransferOptions* transfer) {
  for (const auto& [flag, directory] : {std::pair("export_dir", &raw.export_dir), {"import_dir", &raw.import_dir}}) {
    if (directory->empty()) continue;
    if (directory->front() != '/') return FlagError(flag, *directory, "must be an absolute path");
  }
  transfer->export_directory = raw.export_dir;
  transfer->import_directory = raw.import_dir;
  return absl::OkStatus();
}

absl::Status ReadStreams(const RawConfig& raw, store::StreamOptions* streams) {
  if (raw.stream_retention < absl::Minutes(1) || raw.stream_retention > absl::Hours(8760)) {
    return FlagError("stream_retention", absl::FormatDuration(raw.stream_retention), "must be between 1m and 8760h");
  }
  ARM_RETURN_IF_ERROR(CheckRange("stream_mb_max", raw.stream_mb_max, 16, 1 << 20));
  streams->retention_ms = absl::ToInt64Milliseconds(raw.stream_retention);
  streams->bytes_max = static_cast<uint64_t>(raw.stream_mb_max) << 20;
  if (!model::IsShardCount(raw.stream_shards)) {
    return FlagError("stream_shards", std::to_string(raw.stream_shards), "must be 1, 2, 4, 8, 16, 32 or 64");
  }
  streams->shards = static_cast<uint32_t>(raw.stream_shards);
  return absl::OkStatus();
}

void SizePools(const RawConfig& raw, size_t processors, Config* config) {
  constexpr size_t kApplierThreadsMax = 8;
  constexpr size_t kBackgroundThreadsMax = 16;
  const size_t read = raw.read_threads == 0 ? std::max<size_t>(processors, 2) : static_cast<size_t>(raw.read_threads);
  config->engine.read_threads = std::min<size_t>(read, 256);
  config->engine.applier_threads = raw.applier_threads == 0 ? std::clamp<size_t>(processors / 2, 1, kApplierThreadsMax)
                                                            : static_cast<size_t>(raw.applier_threads);
  config->http_threads = std::max<size_t>(processors, 2);
  config->database.background_threads = raw.background_threads == 0
                                            ? std::clamp<size_t>(processors, 2, kBackgroundThreadsMax)
                                            : static_cast<size_t>(raw.background_threads);
}

// Limit of the log with a store: its reader is a standby that clients wait for.
constexpr int64_t kStoreLogMb = 64;

// Parts of the memory that the block cache gets by default, on large machines and on small ones.
constexpr uint64_t kCachePart = 4;
constexpr uint64_t kCachePartMin = 16;
// Code, threads, and what the allocator keeps.
constexpr uint64_t kProcessBytes = uint64_t{64} << 20;

absl::Status SizeMemory(const RawConfig& raw, uint64_t memory_bytes, Config* config) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  // The value of the flag, or else a fraction of the memory (1/`part`) between `least` and `most`.
  const auto size = [memory_bytes](int64_t flag_mb, uint64_t part, uint64_t least, uint64_t most) -> size_t {
    return flag_mb == 0 ? std::clamp(memory_bytes / part, least, most) : static_cast<uint64_t>(flag_mb) * kMiB;
  };
  if (raw.cache_mb != 0) ARM_RETURN_IF_ERROR(CheckRange("cache_mb", raw.cache_mb, 8, 1 << 20));
  if (raw.memtables_mb != 0) ARM_RETURN_IF_ERROR(CheckRange("memtables_mb", raw.memtables_mb, 16, 1 << 20));
  if (raw.wal_max_mb != 0) ARM_RETURN_IF_ERROR(CheckRange("wal_max_mb", raw.wal_max_mb, 16, 1 << 16));
  if (raw.request_memory_mb != 0) {
    ARM_RETURN_IF_ERROR(CheckRange("request_memory_mb", raw.request_memory_mb, 64, 1 << 20));
  }
  const int64_t log_mb = raw.wal_max_mb == 0 && !raw.store.empty() ? kStoreLogMb : raw.wal_max_mb;
  if (log_mb != 0) config->database.wal_max_bytes = static_cast<uint64_t>(log_mb) * kMiB;
  // The limit of the log keeps the memtables below about this, so more would have no effect.
  config->database.memtables_bytes_max = size(raw.memtables_mb, 16, 32 * kMiB, 512 * kMiB);
  config->request_memory_bytes = size(raw.request_memory_mb, 8, 64 * kMiB, 512 * kMiB);
  // A small machine needs most of its memory for the process itself, and for requests, which are there as they came and
  // as they are written.
  const uint64_t others = kProcessBytes + config->database.memtables_bytes_max + 2 * config->request_memory_bytes;
  const uint64_t rest = std::max(memory_bytes - std::min(memory_bytes, others), memory_bytes / kCachePartMin);
  const uint64_t cache = std::clamp(std::min(memory_bytes / kCachePart, rest), 8 * kMiB, uint64_t{1} << 40);
  config->database.cache_bytes = size(raw.cache_mb, 1, cache, cache);
  return absl::OkStatus();
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
    LOG(WARNING) << "server: the limit of open files is " << limit
                 << ", with --column_families_max=" << config.database.column_families_max << " up to " << wanted
                 << " may be needed" << kAdvice;
  }
  return absl::OkStatus();
}

namespace {

absl::Status ReadPlace(const RawConfig& raw, Config* config) {
  if (raw.data_dir.empty() && raw.store.empty()) {
    return FlagError("data_dir", raw.data_dir, "must name the directory that holds the database");
  }
  if (place::IsRados(raw.data_dir)) {
    return FlagError("data_dir", raw.data_dir, "must be a directory; name a volume in RADOS with --store");
  }
  if (!raw.data_dir.empty() && !raw.store.empty()) {
    return FlagError("store", raw.store, "must not be given together with --data_dir: the database is in one of them");
  }
  config->place = raw.store.empty() ? raw.data_dir : raw.store;
  ARM_RETURN_IF_ERROR(CheckRange("lease_seconds", raw.lease_seconds, 1, 300));
  ARM_RETURN_IF_ERROR(CheckRange("rados_timeout_seconds", raw.rados_timeout_seconds, 0, 3600));
  // Backups may be in RADOS beside a database in a directory.
  config->place_options.rados_conf = raw.rados_conf;
  config->place_options.rados_user = raw.rados_user;
  config->place_options.lease = absl::Seconds(raw.lease_seconds);
  config->place_options.op_timeout = absl::Seconds(raw.rados_timeout_seconds);
  if (raw.store.empty()) return absl::OkStatus();
  if (const absl::Status known = place::CheckRados(raw.store); !known.ok()) {
    return FlagError("store", raw.store, Sv(known.message()));
  }
  ARM_RETURN_IF_ERROR(CheckRange("sst_cache_mb", raw.sst_cache_mb, 512, 1 << 24));
  config->place_options.copies_directory = raw.sst_cache_dir;
  config->place_options.copies_bytes_max = static_cast<uint64_t>(raw.sst_cache_mb) << 20;
  if (!raw.advertise.empty() && !ParseHostName(raw.advertise).has_value()) {
    return FlagError("advertise", raw.advertise, "must be a host name or an IPv4 address, without a port");
  }
  config->advertised_host = raw.advertise;
  config->forwards = raw.forward;
  // A daemon that waits is the standby of the one that serves.
  config->place_options.owner_wait = absl::InfiniteDuration();
  return absl::OkStatus();
}

absl::Status ReadConnections(const RawConfig& raw, Config* config) {
  config->is_one_port = !raw.listen.empty();
  ARM_RETURN_IF_ERROR(CheckRange("connections_max", raw.connections_max, 1, 1'000'000));
  ARM_RETURN_IF_ERROR(CheckRange("connections_per_address_max", raw.connections_per_address_max, 0, 1'000'000));
  if (raw.connection_max_age < absl::ZeroDuration()) {
    return FlagError("connection_max_age", absl::FormatDuration(raw.connection_max_age), "must not be negative");
  }
  if (raw.connection_max_age > absl::ZeroDuration()) config->connection_age_max = raw.connection_max_age;
  config->connections = {.connections_max = static_cast<size_t>(raw.connections_max),
                         .per_address_max = static_cast<size_t>(raw.connections_per_address_max)};
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Config> MakeConfig(const RawConfig& given, const Machine& machine) {
  Config config;
  ARM_ASSIGN_OR_RETURN(const RawConfig raw, WithOnePort(given));
  ARM_RETURN_IF_ERROR(ReadPlace(raw, &config));
  ARM_RETURN_IF_ERROR(CheckSecurity(raw));
  ARM_RETURN_IF_ERROR(CheckListeners(raw));
  ARM_RETURN_IF_ERROR(ReadSites(raw, &config));
  if (raw.grpc_listen != kOff) config.grpc_listen = raw.grpc_listen;
  if (raw.http_listen != kOff) config.http_listen = raw.http_listen;
  if (raw.metrics_listen != kOff) config.metrics_listen = raw.metrics_listen;
  ARM_RETURN_IF_ERROR(CheckRange("slow_request_ms", raw.slow_request_ms, 0, 3'600'000));
  config.slow_request_ms = raw.slow_request_ms;
  ARM_RETURN_IF_ERROR(ReadConnections(raw, &config));
  ARM_RETURN_IF_ERROR(CheckRange("drain_seconds", raw.drain_seconds, 0, 3600));
  config.drain_time = absl::Seconds(raw.drain_seconds);
  config.credentials_file = raw.credentials_file;
  config.tls = {raw.tls_cert, raw.tls_key, raw.tls_client_ca};
  config.audit_log = raw.audit_log;
  ARM_RETURN_IF_ERROR(ParseDurability(raw.durability, &config.database));
  ARM_RETURN_IF_ERROR(ParseIndexUpdates(raw.index_updates, &config.database));
  ARM_RETURN_IF_ERROR(SizeMemory(raw, machine.memory_bytes, &config));
  if (raw.background_threads != 0) {
    ARM_RETURN_IF_ERROR(CheckRange("background_threads", raw.background_threads, 2, 256));
  }
  ARM_RETURN_IF_ERROR(CheckRange("read_threads", raw.read_threads, 0, 256));
  ARM_RETURN_IF_ERROR(CheckRange("applier_threads", raw.applier_threads, 0, 64));
  ARM_RETURN_IF_ERROR(CheckRange("column_families_max", raw.column_families_max, 1, 100'000));
  ARM_RETURN_IF_ERROR(CheckRange("item_collection_mb_max", raw.item_collection_mb_max, 1, 1 << 20));
  ARM_RETURN_IF_ERROR(ReadStreams(raw, &config.database.streams));
  if (raw.ttl_interval < absl::Milliseconds(10) || raw.ttl_interval > absl::Hours(24)) {
    return FlagError("ttl_interval", absl::FormatDuration(raw.ttl_interval), "must be between 10ms and 24h");
  }
  config.engine.expiry_interval = raw.ttl_interval;
  ARM_RETURN_IF_ERROR(CheckRange("watch_max", raw.watch_max, 1, 100'000));
  config.engine.watches_max = static_cast<size_t>(raw.watch_max);
  ARM_RETURN_IF_ERROR(ParseDiskReserve(raw.disk_reserve, &config.database.disk_reserve));
  config.database.item_collection_bytes_max = static_cast<uint64_t>(raw.item_collection_mb_max) << 20;
  config.database.column_families_max = static_cast<size_t>(raw.column_families_max);
  ARM_RETURN_IF_ERROR(CheckRange("gsi_backlog_max", raw.gsi_backlog_max, 1, int64_t{1} << 40));
  ARM_RETURN_IF_ERROR(CheckRange("gsi_backlog_mb_max", raw.gsi_backlog_mb_max, 1, 1 << 20));
  config.engine.gsi_backlog_records_max = static_cast<uint64_t>(raw.gsi_backlog_max);
  config.engine.gsi_backlog_bytes_max = static_cast<uint64_t>(raw.gsi_backlog_mb_max) << 20;
  if (raw.transaction_wait < absl::Milliseconds(1) || raw.transaction_wait > absl::Hours(1)) {
    return FlagError("transaction_wait", absl::FormatDuration(raw.transaction_wait), "must be between 1ms and 1h");
  }
  config.engine.transaction_wait = raw.transaction_wait;
  if (raw.describe_wait < absl::ZeroDuration() || raw.describe_wait > absl::Seconds(20)) {
    return FlagError("describe_wait", absl::FormatDuration(raw.describe_wait), "must be between 0 and 20s");
  }
  config.engine.describe_wait = raw.describe_wait;
  if (raw.table_wait < absl::ZeroDuration() || raw.table_wait > absl::Seconds(20)) {
    return FlagError("table_wait", absl::FormatDuration(raw.table_wait), "must be between 0 and 20s");
  }
  config.engine.table_wait = raw.table_wait;
  if (raw.index_reads != "eventual" && raw.index_reads != "settled") {
    return FlagError("index_reads", raw.index_reads, "must be eventual or settled");
  }
  if (raw.index_read_wait < absl::Milliseconds(1) || raw.index_read_wait > absl::Seconds(20)) {
    return FlagError("index_read_wait", absl::FormatDuration(raw.index_read_wait), "must be between 1ms and 20s");
  }
  if (raw.index_reads == "settled") config.engine.index_read_wait = raw.index_read_wait;
  config.engine.enforce_throughput = raw.enforce_throughput;
  ARM_RETURN_IF_ERROR(ReadBackups(raw, &config));
  ARM_RETURN_IF_ERROR(ReadTransfers(raw, &config.engine.transfer));
  SizePools(raw, machine.processors, &config);
  return config;
}

}  // namespace armature::daemon
