// armatured: flags, logging, start and signals.

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "armature/version.h"
#include "daemon/config.h"
#include "daemon/flags.h"
#include "daemon/machine_memory.h"
#include "daemon/metrics/metric_table.h"
#include "daemon/net/listening_socket.h"
#include "daemon/process_end.h"
#include "daemon/server.h"
#include "glog/logging.h"
#include "storage/base/did_you_mean.h"
#include "storage/base/lock_checks.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"

ABSL_FLAG(std::string, data_dir, "", "Directory of the database. Created if it does not exist. Fixed at start.");
ABSL_FLAG(
    std::string, store, "",
    "Keeps the database in Ceph RADOS instead of --data_dir: rados://POOL/NAMESPACE (docs/RADOS.md). A second daemon "
    "with the same value waits until the first one has ended, and takes over. Fixed at start.");
ABSL_FLAG(std::string, rados_conf, "",
          "Ceph's configuration file for --store and backups in RADOS. Empty: where Ceph looks, /etc/ceph/ceph.conf "
          "first. Fixed at start.");
ABSL_FLAG(std::string, rados_user, "",
          "Ceph's user for --store and backups in RADOS, without \"client.\". Empty: admin. Fixed at start.");
ABSL_FLAG(int64_t, lease_seconds, 5,
          "With --store: time after which another daemon may take the database from one that does not renew its lease. "
          "Equal on all daemons of a database. The same for backups in RADOS. Fixed at start.");
ABSL_FLAG(
    int64_t, rados_timeout_seconds, 0,
    "With --store: an operation that the cluster has not answered for this time fails; after a failed write of the log "
    "the daemon ends. 0 waits for as long as it takes. Operations on backups in RADOS fail alike, with 0 after 30 "
    "seconds. Fixed at start.");
ABSL_FLAG(
    std::string, sst_cache_dir, "",
    "With --store: local directory for copies of table files, so that reads need no round trip to the cluster. May "
    "be deleted at any time. Empty: no copies. Fixed at start.");
ABSL_FLAG(
    int64_t, sst_cache_mb, 10'240,
    "Limit in MiB on the copies in --sst_cache_dir, 512 to 16777216; those used least recently go first. A file of "
    "more than a quarter is not copied. Fixed at start.");
ABSL_FLAG(std::string, advertise, "",
          "With --store: host under which clients reach this daemon, as daemons that wait for the database tell it. "
          "Empty: that of --http_listen and --grpc_listen, or the name of this machine. Fixed at start.");
ABSL_FLAG(bool, forward, false,
          "With --store: while this daemon waits for the database, it passes connections on to the daemon that serves "
          "it. Otherwise HTTP is answered with 503 and that daemon's address, and gRPC is refused. Fixed at start.");
ABSL_FLAG(std::string, listen, "",
          "One address for gRPC and the original HTTP/JSON protocol, in place of the next two flags: HOST:PORT or "
          "[IPV6]:PORT. Port 0 picks a free one. Fixed at start.");
ABSL_FLAG(std::string, grpc_listen, armature::daemon::kGrpcListen,
          "Address for gRPC: HOST:PORT, [IPV6]:PORT, unix:PATH, or off. Port 0 picks a free one. HTTP is served there, "
          "too, unless it is off. Fixed at start.");
ABSL_FLAG(std::string, http_listen, armature::daemon::kHttpListen,
          "Address for the original HTTP/JSON protocol: HOST:PORT, [IPV6]:PORT, or off. Port 0 picks a free one. gRPC "
          "is served there, too, unless it is off, or would take secrets in clear text. Fixed at start.");
ABSL_FLAG(std::string, http_hosts, "",
          "Host names, separated by commas, under which HTTP clients reach this server. IP addresses, loopback names, "
          "the name of this machine and the host of --http_listen are always accepted. Other names are refused unless "
          "--credentials_file is given, because web pages of other sites could carry them. Fixed at start.");
ABSL_FLAG(std::string, cors_origins, "",
          "Origins of web pages that may send requests from a browser, such as https://app.example.org:8443, separated "
          "by commas. Requests of all other web pages are refused. Fixed at start.");
ABSL_FLAG(std::string, credentials_file, "",
          "File with access keys, certificate names and policies, mode 600 (docs/SECURITY.md). Empty: no "
          "authentication, all operations are permitted. Read again on SIGHUP.");
ABSL_FLAG(
    std::string, tls_cert, "",
    "PEM file with the server's certificate and the intermediate certificates. Empty: no TLS. Read again on SIGHUP.");
ABSL_FLAG(std::string, tls_key, "", "PEM file with the private key of --tls_cert, mode 600. Read again on SIGHUP.");
ABSL_FLAG(std::string, tls_client_ca, "",
          "PEM file with the authorities of gRPC client certificates. Empty: clients are not asked for certificates. "
          "Read again on SIGHUP.");
ABSL_FLAG(std::string, audit_log, "",
          "File that gets a line for each operation on tables and each operation of the admin service. Empty: no audit "
          "log. Reopened on SIGHUP.");
ABSL_FLAG(std::string, durability, "sync",
          "When a write is acknowledged: sync (after fsync), interval:<ms> (before fsync, which runs at this interval; "
          "a crash of the machine may lose that much), os (before fsync, which the operating system schedules). Fixed "
          "at start.");
ABSL_FLAG(int64_t, cache_mb, 0,
          "Block cache in MiB, 8 to 1048576. 0: a quarter of the memory that the machine, or the control group of the "
          "daemon, has. Fixed at start.");
ABSL_FLAG(int64_t, memtables_mb, 0,
          "Budget in MiB for the memtables of all tables and indexes, 16 to 1048576; the oldest is flushed beyond it. "
          "0: a sixteenth of the memory, 32 to 512. Fixed at start.");
ABSL_FLAG(int64_t, wal_max_mb, 0,
          "Size in MiB of the write-ahead log beyond which memtables are flushed, 16 to 65536: a start reads so much "
          "after a crash. 0: 256, and 64 with --store, for a standby that takes over. Fixed at start.");
ABSL_FLAG(
    int64_t, background_threads, 0,
    "Flushes and compactions at once, 2 to 256; large compactions are done by up to four threads. 0: one for each "
    "processor, 2 to 16. Fixed at start.");
ABSL_FLAG(int64_t, read_threads, 0,
          "Threads for queries, scans and reads from disk, 1 to 256. 0: one for each processor, at least 2. Fixed at "
          "start.");
ABSL_FLAG(int64_t, applier_threads, 0,
          "Threads that bring global indexes up to date, a table on one of them at a time, 1 to 64. 0: one for two "
          "processors, at most 8. Fixed at start.");
ABSL_FLAG(int64_t, column_families_max, 16'000,
          "Limit on the column families that all tables and indexes may need, about one each, 1 to 100000. Fixed at "
          "start.");
ABSL_FLAG(int64_t, item_collection_mb_max, 10'240,
          "Limit in MiB on an item collection (items and local index entries with one partition key value, in tables "
          "with local indexes), 1 to 1048576. Writes that would exceed it are refused. Fixed at start.");
ABSL_FLAG(absl::Duration, stream_retention, absl::Hours(24),
          "How long the records of streams are kept, 1m to 8760h. Fixed at start.");
ABSL_FLAG(
    int64_t, stream_mb_max, 16'384,
    "Limit in MiB on the records of all streams together, 16 to 1048576. Beyond it, the oldest are removed before "
    "their time, with a warning. Fixed at start.");
ABSL_FLAG(
    int64_t, stream_shards, 1,
    "Number of open shards of a new stream, unless its table asks for a number: 1, 2, 4, 8, 16, 32 or 64. Streams "
    "that exist keep theirs. Fixed at start.");
ABSL_FLAG(int64_t, watch_max, 1000,
          "Limit on open watches (clients that follow the changes of a table), 1 to 100000. A client has at most half. "
          "Fixed at start.");
ABSL_FLAG(
    absl::Duration, ttl_interval, absl::Seconds(5),
    "Interval at which items are looked for whose time to live is over, and deleted, 10ms to 24h. Fixed at start.");
ABSL_FLAG(
    std::string, disk_reserve, "auto",
    "Free space on the disk of --data_dir below which writes are refused, so that the disk never becomes full: bytes "
    "(500M, 2G), a percentage of the disk (5%), or auto, which is 5% but at most 1G. 0: no reserve. Fixed at start.");
ABSL_FLAG(int64_t, gsi_backlog_max, 1'000'000,
          "Limit on changes not yet applied to a global index, 1 to 2^40. Writes to an index above the limit are "
          "throttled until it has caught up. Fixed at start.");
ABSL_FLAG(int64_t, gsi_backlog_mb_max, 1024,
          "Limit on changes not yet applied to a global index, in MiB of index rows, 1 to 1048576. Fixed at start.");
ABSL_FLAG(absl::Duration, transaction_wait, absl::Seconds(5),
          "Longest wait of a transaction for row locks of other requests, and of a single-item write for a row lock of "
          "a transaction, before it fails with a conflict; 1ms to 1h. Fixed at start.");
ABSL_FLAG(absl::Duration, describe_wait, absl::Seconds(1),
          "Longest wait of DescribeTable for the end of a table's creation or deletion, so that clients that poll need "
          "not ask twice, and of CreateTable for the end of the deletion of a table of that name; 0 to 20s. Fixed at "
          "start.");
ABSL_FLAG(absl::Duration, table_wait, absl::Seconds(10),
          "Longest time for which CreateTable holds back its answer until the table can be used, and DeleteTable until "
          "it is gone; 0 to 20s. Fixed at start.");
ABSL_FLAG(
    std::string, index_updates, "with_item",
    "Writes of global indexes: with_item, in the batch of the item, unless the index has a backlog, is being built, "
    "or has too many rows of the item; or logged, always after the item, by way of the change log. Fixed at start.");
ABSL_FLAG(std::string, index_reads, "eventual",
          "Reads of global indexes: eventual, from the entries that are there; or settled, after a wait of up to "
          "--index_read_wait for the writes that were acknowledged before the read. Fixed at start.");
ABSL_FLAG(absl::Duration, index_read_wait, absl::Milliseconds(100),
          "Longest wait of a settled read of a global index. Then it reads what is there; 1ms to 20s. Fixed at start.");
ABSL_FLAG(bool, enforce_throughput, true,
          "Throttle requests beyond the provisioned throughput of tables and global indexes, or beyond the maximum "
          "throughput of on-demand tables. Fixed at start.");
ABSL_FLAG(std::string, metrics_listen, "off",
          "Address for operators, with /metrics, /healthz and /readyz over HTTP: HOST:PORT, [IPV6]:PORT, or off. It "
          "needs no credentials and shows table names. Fixed at start.");
ABSL_FLAG(int64_t, slow_request_ms, 0,
          "Requests that take at least this long are logged with the durations of their waits, 0 to 3600000; 0: none. "
          "Fixed at start.");
ABSL_FLAG(
    int64_t, connections_max, 20'000,
    "Limit on connections of gRPC and HTTP clients together, 1 to 1000000. Further ones are closed at once. Fixed "
    "at start.");
ABSL_FLAG(int64_t, connections_per_address_max, 0,
          "Limit on connections from one IPv4 address or one IPv6 network of 64 bits, 1 to 1000000; 0: half of "
          "--connections_max. Fixed at start.");
ABSL_FLAG(
    absl::Duration, connection_max_age, absl::ZeroDuration(),
    "After this time a connection of gRPC is told to begin anew, so that clients spread over the daemons behind a "
    "balancer; its calls go on. 0: never. Fixed at start.");
ABSL_FLAG(int64_t, request_memory_mb, 0,
          "Memory for requests being received and answers not yet sent, in MiB, 64 to 1048576. When it is used up, "
          "large requests are refused with a retryable error. 0: an eighth of the memory, 64 to 512. Fixed at start.");
ABSL_FLAG(int64_t, drain_seconds, 10, "Time for running requests to finish after SIGTERM, 0 to 3600. Fixed at start.");
ABSL_FLAG(std::string, backup_dir, "",
          "Directory of backups, an absolute path, best on another disk, or rados://POOL/NAMESPACE for a namespace of "
          "their own in Ceph RADOS (docs/RADOS.md): for --backup_interval and for requests that name no directory. "
          "Empty: none. Fixed at start.");
ABSL_FLAG(absl::Duration, backup_interval, absl::ZeroDuration(),
          "Interval between scheduled backups, counted from the last backup; 1s to 8784h, or 0: only on request. Fixed "
          "at start.");
ABSL_FLAG(int64_t, backup_keep, 0,
          "Number of backups without a note that a scheduled backup leaves in --backup_dir, including backups on "
          "request, 0 to 1000000; 0: all. Fixed at start.");
ABSL_FLAG(int64_t, backup_mb_per_second, 32,
          "Limit on reads and writes of a backup in MiB a second, so that clients keep their share of the disk, 0 to "
          "1048576; 0: no limit. Fixed at start.");
ABSL_FLAG(
    std::string, export_dir, "",
    "Directory for exports and the reports of bulk operations, an absolute path. A client names a directory in it as "
    "its bucket. Empty: exports and bulk operations are refused. Fixed at start.");
ABSL_FLAG(
    std::string, import_dir, "",
    "Directory for the files of imports and bulk operations, an absolute path. A client names a directory in it as "
    "its bucket. Empty: imports and bulk operations are refused. Fixed at start.");
ABSL_FLAG(std::string, config, "",
          "File of flags, one per line: name = value. Empty lines and lines that begin with # are ignored. Flags on "
          "the command line take precedence.");
ABSL_FLAG(bool, print_config, false, "Print the flags in effect, in the form of --config, and exit.");
ABSL_FLAG(bool, print_metrics_doc, false, "Print docs/METRICS.md and exit.");
ABSL_FLAG(bool, insecure, false,
          "Allow an address that other machines can reach without TLS and credentials, and secrets in clear text.");

// Options read by jemalloc at process start: a background thread returns free memory to the system after ten seconds,
// even if nothing is allocated meanwhile. The environment variable MALLOC_CONF takes precedence.
extern "C" {
const char* malloc_conf = "background_thread:true";  // NOLINT: jemalloc's name and type
}

namespace {

constexpr char kUsage[] =
    "armatured serves tables of items over gRPC and the original HTTP/JSON protocol.\n"
    "\n"
    "  armatured --data_dir=DIRECTORY [--FLAG=VALUE ...]\n"
    "\n"
    "Prints one line on standard output when it serves: ready grpc=ADDRESS. With --store, a line that begins with\n"
    "standby may come before, while another daemon serves the database. Stops cleanly on SIGTERM or SIGINT;\n"
    "reads credentials and certificates again on SIGHUP. A switch is turned off as --noNAME or --NAME=false.";

// Prints the error as one line for the operator, in addition to the log.
int Refuse(const absl::Status& status) {
  const std::string message(status.message());
  std::fprintf(stderr, "armatured: %s\n", message.c_str());
  return 1;
}

armature::daemon::RawConfig FromFlags() {
  armature::daemon::RawConfig raw;
  raw.data_dir = absl::GetFlag(FLAGS_data_dir);
  raw.store = absl::GetFlag(FLAGS_store);
  raw.rados_conf = absl::GetFlag(FLAGS_rados_conf);
  raw.rados_user = absl::GetFlag(FLAGS_rados_user);
  raw.lease_seconds = absl::GetFlag(FLAGS_lease_seconds);
  raw.rados_timeout_seconds = absl::GetFlag(FLAGS_rados_timeout_seconds);
  raw.sst_cache_dir = absl::GetFlag(FLAGS_sst_cache_dir);
  raw.sst_cache_mb = absl::GetFlag(FLAGS_sst_cache_mb);
  raw.advertise = absl::GetFlag(FLAGS_advertise);
  raw.forward = absl::GetFlag(FLAGS_forward);
  raw.listen = absl::GetFlag(FLAGS_listen);
  raw.grpc_listen = absl::GetFlag(FLAGS_grpc_listen);
  raw.durability = absl::GetFlag(FLAGS_durability);
  raw.cache_mb = absl::GetFlag(FLAGS_cache_mb);
  raw.memtables_mb = absl::GetFlag(FLAGS_memtables_mb);
  raw.wal_max_mb = absl::GetFlag(FLAGS_wal_max_mb);
  raw.background_threads = absl::GetFlag(FLAGS_background_threads);
  raw.read_threads = absl::GetFlag(FLAGS_read_threads);
  raw.applier_threads = absl::GetFlag(FLAGS_applier_threads);
  raw.column_families_max = absl::GetFlag(FLAGS_column_families_max);
  raw.item_collection_mb_max = absl::GetFlag(FLAGS_item_collection_mb_max);
  raw.stream_retention = absl::GetFlag(FLAGS_stream_retention);
  raw.ttl_interval = absl::GetFlag(FLAGS_ttl_interval);
  raw.stream_mb_max = absl::GetFlag(FLAGS_stream_mb_max);
  raw.stream_shards = absl::GetFlag(FLAGS_stream_shards);
  raw.watch_max = absl::GetFlag(FLAGS_watch_max);
  raw.gsi_backlog_max = absl::GetFlag(FLAGS_gsi_backlog_max);
  raw.gsi_backlog_mb_max = absl::GetFlag(FLAGS_gsi_backlog_mb_max);
  raw.transaction_wait = absl::GetFlag(FLAGS_transaction_wait);
  raw.describe_wait = absl::GetFlag(FLAGS_describe_wait);
  raw.table_wait = absl::GetFlag(FLAGS_table_wait);
  raw.index_updates = absl::GetFlag(FLAGS_index_updates);
  raw.index_reads = absl::GetFlag(FLAGS_index_reads);
  raw.index_read_wait = absl::GetFlag(FLAGS_index_read_wait);
  raw.enforce_throughput = absl::GetFlag(FLAGS_enforce_throughput);
  raw.insecure = absl::GetFlag(FLAGS_insecure);
  raw.http_listen = absl::GetFlag(FLAGS_http_listen);
  raw.http_hosts = absl::GetFlag(FLAGS_http_hosts);
  raw.cors_origins = absl::GetFlag(FLAGS_cors_origins);
  raw.credentials_file = absl::GetFlag(FLAGS_credentials_file);
  raw.tls_cert = absl::GetFlag(FLAGS_tls_cert);
  raw.tls_key = absl::GetFlag(FLAGS_tls_key);
  raw.tls_client_ca = absl::GetFlag(FLAGS_tls_client_ca);
  raw.audit_log = absl::GetFlag(FLAGS_audit_log);
  raw.disk_reserve = absl::GetFlag(FLAGS_disk_reserve);
  raw.metrics_listen = absl::GetFlag(FLAGS_metrics_listen);
  raw.slow_request_ms = absl::GetFlag(FLAGS_slow_request_ms);
  raw.connections_max = absl::GetFlag(FLAGS_connections_max);
  raw.connections_per_address_max = absl::GetFlag(FLAGS_connections_per_address_max);
  raw.connection_max_age = absl::GetFlag(FLAGS_connection_max_age);
  raw.request_memory_mb = absl::GetFlag(FLAGS_request_memory_mb);
  raw.drain_seconds = absl::GetFlag(FLAGS_drain_seconds);
  raw.backup_dir = absl::GetFlag(FLAGS_backup_dir);
  raw.export_dir = absl::GetFlag(FLAGS_export_dir);
  raw.import_dir = absl::GetFlag(FLAGS_import_dir);
  raw.backup_interval = absl::GetFlag(FLAGS_backup_interval);
  raw.backup_keep = absl::GetFlag(FLAGS_backup_keep);
  raw.backup_mb_per_second = absl::GetFlag(FLAGS_backup_mb_per_second);
  return raw;
}

using Flags = std::map<std::string, absl::CommandLineFlag*>;

// The flags of this file by name, without those of libraries.
Flags OwnFlags() {
  Flags own;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (absl::EndsWith(flag->Filename(), "daemon/main.cc")) own[std::string(name)] = flag;
  }
  return own;
}

// The flags that a file may set: not those about the command line itself.
Flags FileFlags() {
  Flags flags = OwnFlags();
  for (const char* name : {"config", "print_config", "print_metrics_doc"}) flags.erase(name);
  return flags;
}

std::string Suggestion(std::string_view name, const Flags& flags) {
  std::vector<std::string> names;
  for (const auto& [known, flag] : flags) names.push_back(known);
  return armature::DidYouMean(name, names);
}

// Sets the flags of the file. Errors: InvalidArgument with one line that names file, line and flag.
absl::Status ApplyConfigFile(const std::string& path) {
  const auto lines = armature::daemon::ReadConfigFile(path);
  if (!lines.ok()) return lines.status();
  const Flags flags = FileFlags();
  for (const armature::daemon::ConfigLine& line : *lines) {
    const std::string place = armature::Cat(path, ": line ", line.number, ": ");
    const auto flag = flags.find(line.name);
    if (flag == flags.end()) {
      return absl::InvalidArgumentError(
          armature::Cat(place, "there is no flag '", line.name, "'", Suggestion(line.name, flags)));
    }
    std::string fault;
    if (!flag->second->ParseFrom(line.value, &fault)) {
      return absl::InvalidArgumentError(
          armature::Cat(place, "'", line.value, "' is no value of ", line.name, ": ", fault));
    }
  }
  return absl::OkStatus();
}

// Refuses unknown flags with a suggestion, which Abseil's own message lacks.
absl::Status CheckFlagNames(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if (name == "--") break;
    if (!name.starts_with('-')) continue;
    name.remove_prefix(name.starts_with("--") ? 2 : 1);
    const size_t end = name.find('=');
    name = name.substr(0, end);
    const absl::CommandLineFlag* const flag = absl::FindCommandLineFlag(armature::Av(name));
    const bool is_off = name.starts_with("no") && absl::FindCommandLineFlag(armature::Av(name.substr(2))) != nullptr;
    if (flag == nullptr && !is_off) {
      return absl::InvalidArgumentError(armature::Cat("unknown flag '--", name, "'", Suggestion(name, OwnFlags())));
    }
    if (flag != nullptr && end == std::string_view::npos && !flag->IsOfType<bool>()) ++i;  // its value
  }
  return absl::OkStatus();
}

// Reads the flags of the file given by --config, and of the command line, which takes precedence.
absl::Status ReadFlags(int argc, char** argv) {
  const absl::Status names = CheckFlagNames(argc, argv);
  if (!names.ok()) return names;
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) return absl::InvalidArgumentError(armature::Cat("unexpected argument: ", rest[1]));
  const std::string path = absl::GetFlag(FLAGS_config);
  if (path.empty()) return absl::OkStatus();
  const absl::Status applied = ApplyConfigFile(path);
  // Parsed again, because the command line takes precedence.
  if (applied.ok()) absl::ParseCommandLine(argc, argv);
  return applied;
}

void PrintConfig() {
  for (const auto& [name, flag] : FileFlags()) std::printf("%s = %s\n", name.c_str(), flag->CurrentValue().c_str());
}

// True if an argument before "--" is one of `words`.
bool HasArgument(int argc, char** argv, std::initializer_list<std::string_view> words) {
  char** const end = std::find(argv + 1, argv + argc, std::string_view("--"));
  return std::find_first_of(argv + 1, end, words.begin(), words.end()) != end;
}

void PrintHelp() {
  std::map<std::string, armature::daemon::FlagText> texts;
  for (const auto& [name, flag] : OwnFlags()) texts[name] = {flag->Help(), flag->DefaultValue()};
  std::printf("%s\n%s\n--help prints this text, --version the version.\n", kUsage,
              armature::daemon::FlagHelp(texts).c_str());
}

// A Unix socket is no file of the database: its users are those that the operator's umask and its directory permit.
void OpenSocket(std::string_view address, unsigned given_umask) {
  if (!address.starts_with(armature::daemon::kUnixPrefix)) return;
  const std::string path(address.substr(armature::daemon::kUnixPrefix.size()));
  if (chmod(path.c_str(), 0777 & ~given_umask) != 0) PLOG(WARNING) << "server: cannot set the mode of " << path;
}

void PrintStandby(const armature::daemon::Standby& standby) {
  std::printf("standby");
  const std::pair<const char*, std::string> addresses[] = {
      {"grpc", standby.grpc_address()}, {"http", standby.http_address()}, {"metrics", standby.metrics_address()}};
  for (const auto& [name, address] : addresses) {
    if (!address.empty()) std::printf(" %s=%s", name, address.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void PrintReady(const armature::daemon::Server& server) {
  std::printf("ready grpc=%s", server.grpc_address().c_str());
  if (!server.http_address().empty()) std::printf(" http=%s", server.http_address().c_str());
  if (!server.metrics_address().empty()) std::printf(" metrics=%s", server.metrics_address().c_str());
  std::printf("\n");
  std::fflush(stdout);
}

// Sends `state` ("READY=1", "STOPPING=1") to systemd by the protocol of sd_notify(3): one datagram to the socket named
// by the environment variable NOTIFY_SOCKET. Does nothing without it. A failure is only logged.
void NotifyServiceManager(std::string_view state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr) return;
  const std::string_view path = name;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() > sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
    LOG(WARNING) << "server: NOTIFY_SOCKET is not a socket address";
    return;
  }
  path.copy(address.sun_path, path.size());
  // In an abstract name the first byte is zero for the kernel, '@' for systemd.
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (fd < 0 ||
      sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length) < 0) {
    LOG(WARNING) << "server: cannot notify the service manager: " << std::strerror(errno);
  }
  if (fd >= 0) close(fd);
}

// Serves until a signal stops the daemon. Returns the signal.
int WaitForEnd(armature::daemon::Server* server, const sigset_t& signals) {
  while (true) {
    const int received = sigwaitinfo(&signals, nullptr);
    if (received == SIGHUP) {
      LOG(INFO) << "server: got SIGHUP, reading credentials and certificates again";
      server->Reload();
    } else if (received >= 0) {
      return received;
    }
  }
}

// Starts the server, and serves until one of `signals` ends it. Returns the exit status.
int Run(const armature::daemon::RawConfig& raw, armature::daemon::Config config, const sigset_t& signals) {
  const bool is_rados = !raw.store.empty();
  config.place_options.on_lost = armature::daemon::EndLost;
  config.place_options.on_handover = armature::daemon::EndHandingOver;
  config.place_options.is_cancelled = armature::daemon::IsToldToEnd;
  config.takes_reload = armature::daemon::TakesHangup;
  if (is_rados) {
    // Another daemon, or this one after a new start, can write again.
    config.database.on_broken = [] {
      armature::daemon::EndLost("a write has failed, and only a new start can write again");
    };
  }
  const unsigned given_umask = armature::store::RestrictNewFiles();
  bool was_standby = false;
  const auto on_standby = [&was_standby](const armature::daemon::Standby* standby) {
    if (standby != nullptr) PrintStandby(*standby);
    // A service manager must not take the wait for a start that fails.
    if (!std::exchange(was_standby, true)) NotifyServiceManager("READY=1\nSTATUS=standby");
  };
  absl::StatusOr<std::unique_ptr<armature::daemon::Server>> server =
      armature::daemon::StartEndable(config, on_standby, is_rados);
  // Nothing was found wrong with the database: the wait was ended.
  const bool is_wait_over = absl::IsFailedPrecondition(server.status()) || absl::IsUnavailable(server.status());
  if (is_wait_over && is_rados && armature::daemon::IsToldToEnd()) return armature::daemon::EndStatus();
  if (!server.ok()) return Refuse(server.status());
  if (raw.insecure) LOG(WARNING) << "server: insecure, every client that reaches the address can read and write";
  OpenSocket((*server)->grpc_address(), given_umask);
  PrintReady(**server);
  NotifyServiceManager(was_standby ? "STATUS=serving" : "READY=1");

  const int received = WaitForEnd(server->get(), signals);
  LOG(INFO) << "server: got signal=" << received;
  NotifyServiceManager("STOPPING=1");
  armature::daemon::StopWithin(server->get(), config.drain_time, is_rados);
  armature::daemon::TellHandover();
  return armature::daemon::EndStatus();
}

}  // namespace

int main(int argc, char** argv) {
  armature::SkipLockChecks();
  if (HasArgument(argc, argv, {"--help", "-help", "-h"})) {
    PrintHelp();
    return 0;
  }
  if (HasArgument(argc, argv, {"--version", "-version"})) {
    std::printf("armatured %s\n", armature::kVersion);
    return 0;
  }
  const absl::Status flags = ReadFlags(argc, argv);
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(argv[0]);
  if (!flags.ok()) return Refuse(flags);
  if (absl::GetFlag(FLAGS_print_metrics_doc)) {
    std::printf("%s", armature::daemon::MetricsDocument().c_str());
    return 0;
  }

  const armature::daemon::RawConfig raw = FromFlags();
  absl::StatusOr<armature::daemon::Config> config = armature::daemon::MakeConfig(raw);
  if (!config.ok()) return Refuse(config.status());
  if (armature::daemon::UsableMemory() < armature::daemon::kSmallMemory) armature::daemon::GiveBackSoon();
  if (absl::GetFlag(FLAGS_print_config)) {
    PrintConfig();
    return 0;
  }

  // Blocked before any thread starts, so that only the main thread receives them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  return Run(raw, *std::move(config), signals);
}
