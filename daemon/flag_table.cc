#include "daemon/flag_table.h"

#include <algorithm>

#include "daemon/flag_forms.h"

namespace armature::daemon {
namespace {

constexpr Unit kSwitch = {};
constexpr Unit kFile = {"FILE"};
constexpr Unit kDirectory = {"DIRECTORY"};
constexpr Unit kMode = {"MODE"};
constexpr Unit kName = {"NAME"};
constexpr Unit kHost = {"HOST"};
constexpr Unit kAddress = {"ADDRESS"};
constexpr Unit kAddressOrOff = {"ADDRESS|off"};
constexpr Unit kCount = {"COUNT"};
constexpr Unit kMib = {"MIB", "MiB", Measure::kSize, int64_t{1} << 20};
constexpr Unit kMibPerSecond = {"MIB_PER_SECOND", "MiB per second", Measure::kSize, int64_t{1} << 20};
constexpr Unit kSeconds = {"SECONDS", "seconds", Measure::kTime, 1000 * kMillisecond};
constexpr Unit kMilliseconds = {"MILLISECONDS", "milliseconds", Measure::kTime, kMillisecond};
constexpr Unit kDuration = {"DURATION", "", Measure::kTime, 0};

constexpr bool kOrZero = true;
constexpr bool kLive = true;

constexpr std::string_view kData = "Data";
constexpr std::string_view kRados = "Data in Ceph RADOS";
constexpr std::string_view kAddresses = "Addresses";
constexpr std::string_view kSecurity = "Security";
constexpr std::string_view kResources = "Resources";
constexpr std::string_view kWaiting = "Waiting and throttling";
constexpr std::string_view kBackups = "Backups";
constexpr std::string_view kArchive = "Archive";
constexpr std::string_view kTransfers = "Exports and imports";
constexpr std::string_view kService = "Service";

// Name, group, {unit, default, limits}, help, member, kLive if it may change while the daemon serves.
constexpr FlagRow kRows[] = {
    {"data_dir",
     kData,
     {kDirectory, ""},
     "Directory of the database. Created if it does not exist.",
     [](Config& c) { return &c.data_dir; }},
    {"durability",
     kData,
     {kMode, "sync"},
     "When a write is acknowledged: sync (after fsync), interval:MILLISECONDS (before fsync, which runs at this "
     "interval, at most 60000; a crash of the machine may lose that much), os (before fsync, which the operating "
     "system schedules).",
     &kDurabilityForm},
    {"disk_reserve",
     kData,
     {Unit{"BYTES|PERCENT%|auto"}, "auto"},
     "Free space on the disk of --data_dir below which writes are refused, so that the disk never becomes full: bytes "
     "(500M, 2G), a percentage of the disk (5%, at most 50%), or auto, which is 5% but at most 1G. 0: no reserve.",
     &kDiskReserveForm,
     kLive},
    {"store",
     kRados,
     {Unit{"rados://POOL/NAMESPACE"}, ""},
     "Keeps the database in Ceph RADOS instead of --data_dir: rados://POOL/NAMESPACE (docs/operate/rados.md). A second "
     "daemon "
     "with the same value waits until the first one has ended, and takes over.",
     [](Config& c) { return &c.store; }},
    {"rados_conf",
     kRados,
     {kFile, ""},
     "Ceph's configuration file for --store and backups in RADOS. Empty: where Ceph looks, /etc/ceph/ceph.conf first.",
     [](Config& c) { return &c.place_options.rados_conf; }},
    {"rados_user",
     kRados,
     {kName, ""},
     "Ceph's user for --store and backups in RADOS, without \"client.\". Empty: admin.",
     [](Config& c) { return &c.place_options.rados_user; }},
    {"lease_seconds",
     kRados,
     {kSeconds, "5", {"1", "300"}},
     "With --store: time after which another daemon may take the database from one that does not renew its lease. "
     "Equal on all daemons of a database. The same for backups in RADOS.",
     [](Config& c) { return &c.place_options.lease; }},
    {"rados_timeout_seconds",
     kRados,
     {kSeconds, "0", {"0", "3600"}},
     "With --store: an operation that the cluster has not answered for this time fails; after a failed write of the "
     "log the daemon ends. 0 waits for as long as it takes. Operations on backups in RADOS fail alike, with 0 after 30 "
     "seconds.",
     [](Config& c) { return &c.place_options.op_timeout; }},
    {"sst_cache_dir",
     kRados,
     {kDirectory, ""},
     "With --store: local directory for copies of table files, so that reads need no round trip to the cluster. May be "
     "deleted at any time. Empty: no copies.",
     [](Config& c) { return &c.place_options.copies_directory; }},
    {"sst_cache_mb",
     kRados,
     {kMib, "10240", {"512", "16777216"}},
     "Limit on the copies in --sst_cache_dir; those used least recently go first. A file of more than a quarter is not "
     "copied.",
     [](Config& c) { return &c.place_options.copies_bytes_max; }},
    {"advertise",
     kRados,
     {kHost, ""},
     "With --store: host under which clients reach this daemon, as daemons that wait for the database tell it. Empty: "
     "that of --http_listen and --grpc_listen, or the name of this machine.",
     CheckedText{[](Config& c) { return &c.advertised_host; }, IsHostOrEmpty,
                 "must be a host name or an IPv4 address, without a port"}},
    {"forward",
     kRados,
     {kSwitch, "false"},
     "With --store: while this daemon waits for the database, it passes connections on to the daemon that serves it. "
     "Otherwise HTTP is answered with 503 and that daemon's address, and gRPC is refused.",
     [](Config& c) { return &c.forwards; }},
    {"listen",
     kAddresses,
     {kAddress, ""},
     "One address for gRPC and the original HTTP/JSON protocol, in place of the next two flags: HOST:PORT or "
     "[IPV6]:PORT. Port 0 picks a free one.",
     CheckedText{[](Config& c) { return &c.listen; }, IsAddressOrEmpty,
                 "must be HOST:PORT or [IPV6]:PORT; port 0 picks a free one"}},
    {"grpc_listen",
     kAddresses,
     {kAddressOrOff, kGrpcListen},
     "Address for gRPC: HOST:PORT, [IPV6]:PORT, unix:PATH, or off. Port 0 picks a free one. HTTP is served there, too, "
     "unless it is off.",
     CheckedText{[](Config& c) { return &c.grpc_listen; }, IsSocketOrOff,
                 "must be HOST:PORT, [IPV6]:PORT, unix:PATH or off; port 0 picks a free one"}},
    {"http_listen",
     kAddresses,
     {kAddressOrOff, kHttpListen},
     "Address for the original HTTP/JSON protocol: HOST:PORT, [IPV6]:PORT, or off. Port 0 picks a free one. gRPC is "
     "served there, too, unless it is off, or would take secrets in clear text.",
     CheckedText{[](Config& c) { return &c.http_listen; }, IsAddressOrOff,
                 "must be HOST:PORT, [IPV6]:PORT or off; port 0 picks a free one"}},
    {"metrics_listen",
     kAddresses,
     {kAddressOrOff, "off"},
     "Address for operators, with /metrics, /healthz and /readyz over HTTP: HOST:PORT, [IPV6]:PORT, or off. It needs "
     "no credentials and shows table names.",
     CheckedText{[](Config& c) { return &c.metrics_listen; }, IsAddressOrOff,
                 "must be HOST:PORT, [IPV6]:PORT or off; port 0 picks a free one"}},
    {"credentials_file",
     kSecurity,
     {kFile, ""},
     "File with access keys, certificate names and policies, mode 600 (docs/operate/security.md). Empty: no "
     "authentication, "
     "all operations are permitted. Read again on SIGHUP.",
     [](Config& c) { return &c.credentials_file; }},
    {"tls_cert",
     kSecurity,
     {kFile, ""},
     "PEM file with the server's certificate and the intermediate certificates. Empty: no TLS. Read again on SIGHUP.",
     [](Config& c) { return &c.tls.certificate; }},
    {"tls_key",
     kSecurity,
     {kFile, ""},
     "PEM file with the private key of --tls_cert, mode 600. Read again on SIGHUP.",
     [](Config& c) { return &c.tls.key; }},
    {"tls_client_ca",
     kSecurity,
     {kFile, ""},
     "PEM file with the authorities of gRPC client certificates. Empty: clients are not asked for certificates. Read "
     "again on SIGHUP.",
     [](Config& c) { return &c.tls.client_ca; }},
    {"audit_log",
     kSecurity,
     {kFile, ""},
     "File that gets a line for each operation on tables and each operation of the admin service. Empty: no audit log. "
     "Reopened on SIGHUP.",
     [](Config& c) { return &c.audit_log; }},
    {"http_hosts",
     kSecurity,
     {Unit{"NAMES"}, ""},
     "Host names, separated by commas, under which HTTP clients reach this server. IP addresses, loopback names, the "
     "name of this machine and the host of --http_listen are always accepted. Other names are refused unless "
     "--credentials_file is given, because web pages of other sites could carry them.",
     &kHttpHostsForm},
    {"cors_origins",
     kSecurity,
     {Unit{"ORIGINS"}, ""},
     "Origins of web pages that may send requests from a browser, such as https://app.example.org:8443, separated by "
     "commas. Requests of all other web pages are refused.",
     &kCorsOriginsForm},
    {"console",
     kSecurity,
     {kMode, "auto"},
     "The web console at /console/ of --http_listen: on, off, read-only (it offers no changes, and the daemon refuses "
     "changes that its pages send; rights are given by --credentials_file), or auto: on if --grpc_listen and "
     "--http_listen are loopback, Unix sockets or off, or with TLS, else off.",
     &kConsoleForm},
    {"insecure",
     kSecurity,
     {kSwitch, "false"},
     "Allow an address that other machines can reach without TLS and credentials, and secrets in clear text.",
     [](Config& c) { return &c.is_insecure; }},
    {"cache_mb",
     kResources,
     {kMib, "0", {"8", "1048576", kOrZero}},
     "Block cache. 0: a quarter of the memory that the machine, or the control group of the daemon, has.",
     [](Config& c) { return &c.database.cache_bytes; },
     kLive},
    {"memtables_mb",
     kResources,
     {kMib, "0", {"16", "1048576", kOrZero}},
     "Budget for the memtables of all tables and indexes; the oldest is flushed beyond it. 0: a sixteenth of the "
     "memory, 32 to 512 MiB.",
     [](Config& c) { return &c.database.memtables_bytes_max; }},
    {"wal_max_mb",
     kResources,
     {kMib, "0", {"16", "65536", kOrZero}},
     "Size of the write-ahead log beyond which memtables are flushed: a start reads so much after a crash. 0: 256, and "
     "64 with --store, for a standby that takes over.",
     [](Config& c) { return &c.database.wal_max_bytes; }},
    {"background_threads",
     kResources,
     {kCount, "0", {"2", "256", kOrZero}},
     "Flushes and compactions at once; large compactions are done by up to four threads. 0: one for each processor, 2 "
     "to 16.",
     [](Config& c) { return &c.database.background_threads; }},
    {"read_threads",
     kResources,
     {kCount, "0", {"0", "256"}},
     "Threads for queries, scans and reads from disk. 0: one for each processor, at least 2.",
     [](Config& c) { return &c.engine.read_threads; }},
    {"applier_threads",
     kResources,
     {kCount, "0", {"0", "64"}},
     "Threads that bring global indexes up to date, a table on one of them at a time. 0: one for two processors, at "
     "most 8.",
     [](Config& c) { return &c.engine.applier_threads; }},
    {"connections_max",
     kResources,
     {kCount, "20000", {"1", "1000000"}},
     "Limit on connections of gRPC and HTTP clients together. Further ones are closed at once.",
     [](Config& c) { return &c.connections.connections_max; },
     kLive},
    {"connections_per_address_max",
     kResources,
     {kCount, "0", {"0", "1000000"}},
     "Limit on connections from one IPv4 address or one IPv6 network of 64 bits. 0: half of --connections_max.",
     [](Config& c) { return &c.connections.per_address_max; },
     kLive},
    {"connection_max_age",
     kResources,
     {kDuration, "0", {"0", "87600h"}},
     "After this time a connection of gRPC is told to begin anew, so that clients spread over the daemons behind a "
     "balancer; its calls go on. 0: never.",
     [](Config& c) { return &c.connection_age_max; }},
    {"request_memory_mb",
     kResources,
     {kMib, "0", {"64", "1048576", kOrZero}},
     "Memory for requests being received, answers not yet sent and TLS handshakes. When it is used up, large requests "
     "are refused with a retryable error. 0: an eighth of the memory, 64 to 512 MiB.",
     [](Config& c) { return &c.request_memory_bytes; }},
    {"column_families_max",
     kResources,
     {kCount, "16000", {"1", "100000"}},
     "Limit on the column families that all tables and indexes may need, about one each.",
     [](Config& c) { return &c.database.column_families_max; }},
    {"item_collection_mb_max",
     kResources,
     {kMib, "10240", {"1", "1048576"}},
     "Limit on an item collection (items and local index entries with one partition key value, in tables with local "
     "indexes). Writes that would exceed it are refused.",
     [](Config& c) { return &c.database.item_collection_bytes_max; }},
    {"stream_retention",
     kResources,
     {kDuration, "24h", {"1m", "8760h"}},
     "How long the records of streams are kept.",
     [](Config& c) { return &c.database.streams.retention_ms; }},
    {"stream_mb_max",
     kResources,
     {kMib, "16384", {"16", "1048576"}},
     "Limit on the records of all streams together. Beyond it, the oldest are removed before their time, with a "
     "warning.",
     [](Config& c) { return &c.database.streams.bytes_max; }},
    {"stream_shards",
     kResources,
     {kCount, "1"},
     "Number of open shards of a new stream, unless its table asks for a number: 1, 2, 4, 8, 16, 32 or 64. Streams "
     "that exist keep theirs.",
     &kStreamShardsForm},
    {"watch_max",
     kResources,
     {Unit{"WATCHES"}, "1000", {"1", "100000"}},
     "Limit on open watches (clients that follow the changes of a table). A client has at most half.",
     [](Config& c) { return &c.engine.watches_max; },
     kLive},
    {"ttl_interval",
     kResources,
     {kDuration, "5s", {"10ms", "24h"}},
     "Interval at which items are looked for whose time to live is over, and deleted.",
     [](Config& c) { return &c.engine.expiry_interval; },
     kLive},
    {"gsi_backlog_max",
     kWaiting,
     {Unit{"CHANGES"}, "1000000", {"1", "1099511627776"}},
     "Limit on changes not yet applied to a global index. Writes to an index above the limit are throttled until it "
     "has caught up.",
     [](Config& c) { return &c.engine.gsi_backlog_records_max; },
     kLive},
    {"gsi_backlog_mb_max",
     kWaiting,
     {kMib, "1024", {"1", "1048576"}},
     "Limit on changes not yet applied to a global index, as the size of index rows.",
     [](Config& c) { return &c.engine.gsi_backlog_bytes_max; },
     kLive},
    {"transaction_wait",
     kWaiting,
     {kDuration, "5s", {"1ms", "1h"}},
     "Longest wait of a transaction for row locks of other requests, and of a single-item write for a row lock of a "
     "transaction, before it fails with a conflict.",
     [](Config& c) { return &c.engine.transaction_wait; }},
    {"describe_wait",
     kWaiting,
     {kDuration, "1s", {"0", "20s"}},
     "Longest wait of DescribeTable for the end of a table's creation or deletion, so that clients that poll need not "
     "ask twice, and of CreateTable for the end of the deletion of a table of that name.",
     [](Config& c) { return &c.engine.describe_wait; },
     kLive},
    {"table_wait",
     kWaiting,
     {kDuration, "10s", {"0", "20s"}},
     "Longest time for which CreateTable holds back its answer until the table can be used, and DeleteTable until it "
     "is gone.",
     [](Config& c) { return &c.engine.table_wait; },
     kLive},
    {"index_updates",
     kWaiting,
     {kMode, "with_item"},
     "Writes of global indexes: with_item, in the batch of the item, unless the index has a backlog, is being built, "
     "or has too many rows of the item; or logged, always after the item, by way of the change log.",
     &kIndexUpdatesForm},
    {"index_reads",
     kWaiting,
     {kMode, "eventual"},
     "Reads of global indexes: eventual, from the entries that are there; or settled, after a wait of up to "
     "--index_read_wait for the writes that were acknowledged before the read.",
     &kIndexReadsForm},
    {"index_read_wait",
     kWaiting,
     {kDuration, "100ms", {"1ms", "20s"}},
     "Longest wait of a settled read of a global index. Then it reads what is there.",
     [](Config& c) { return &c.engine.index_read_wait; }},
    {"enforce_throughput",
     kWaiting,
     {kSwitch, "true"},
     "Throttle requests beyond the provisioned throughput of tables and global indexes, or beyond the maximum "
     "throughput of on-demand tables.",
     [](Config& c) { return &c.engine.enforce_throughput; },
     kLive},
    {"backup_dir",
     kBackups,
     {kDirectory, ""},
     "Directory of backups, an absolute path, best on another disk, or rados://POOL/NAMESPACE for a namespace of their "
     "own in Ceph RADOS (docs/operate/rados.md): for --backup_interval and for requests that name no directory. Empty: "
     "none.",
     [](Config& c) { return &c.engine.backup.directory; }},
    {"backup_interval",
     kBackups,
     {kDuration, "0", {"1s", "8784h", kOrZero}},
     "Interval between scheduled backups, counted from the last backup. 0: only on request.",
     [](Config& c) { return &c.engine.backup.interval; },
     kLive},
    {"backup_keep",
     kBackups,
     {kCount, "0", {"0", "1000000"}},
     "Number of backups without a note that a scheduled backup leaves in --backup_dir, including backups on request. "
     "0: all.",
     [](Config& c) { return &c.engine.backup.keep; },
     kLive},
    {"backup_mb_per_second",
     kBackups,
     {kMibPerSecond, "32", {"0", "1048576"}},
     "Limit on reads and writes of a backup in a second, so that clients keep their share of the disk. 0: no limit.",
     [](Config& c) { return &c.engine.backup.bytes_per_second_max; },
     kLive},
    {"archive_dir",
     kArchive,
     {kDirectory, ""},
     "Directory of the archive, an absolute path, on another disk: everything that is written goes there, so that any "
     "moment can be restored (armature archive). Empty: no archive.",
     [](Config& c) { return &c.archive.directory; }},
    {"archive_interval",
     kArchive,
     {kDuration, "5s", {"100ms", "1h"}},
     "Time between two segments, which is the longest time until a write is in the archive. A segment has about 16 MiB "
     "at most.",
     [](Config& c) { return &c.archive.interval; },
     kLive},
    {"archive_base_interval",
     kArchive,
     {kDuration, "24h", {"1m", "8784h"}},
     "Time between two bases, which are backups in the archive: a restore copies the one before its moment and replays "
     "what was written since.",
     [](Config& c) { return &c.archive.base_interval; },
     kLive},
    {"archive_keep",
     kArchive,
     {kDuration, "840h", {"1m", "87840h", kOrZero}},
     "Age up to which any moment can be restored. Bases and segments of older moments are removed together. 0: nothing "
     "is "
     "removed.",
     [](Config& c) { return &c.archive.keep; },
     kLive},
    {"archive_wait_mb",
     kArchive,
     {kMib, "4096", {"16", "16777216"}},
     "Limit on the log files in --data_dir that wait for an archive which cannot be written. Beyond it they are "
     "dropped, "
     "and the archive begins anew with a base when it can be written again.",
     [](Config& c) { return &c.database.archived_log.wait_bytes_max; }},
    {"archive_mb_per_second",
     kArchive,
     {kMibPerSecond, "32", {"0", "1048576"}},
     "Limit on reads and writes of a base in a second, so that clients keep their share of the disk. 0: no limit.",
     [](Config& c) { return &c.archive.base_bytes_per_second_max; },
     kLive},
    {"export_dir",
     kTransfers,
     {kDirectory, ""},
     "Directory for exports and the reports of bulk operations, an absolute path. A client names a directory in it as "
     "its bucket. Empty: exports and bulk operations are refused.",
     CheckedText{[](Config& c) { return &c.engine.transfer.export_directory; }, IsPathOrEmpty,
                 "must be an absolute path"}},
    {"import_dir",
     kTransfers,
     {kDirectory, ""},
     "Directory for the files of imports and bulk operations, an absolute path. A client names a directory in it as "
     "its bucket. Empty: imports and bulk operations are refused.",
     CheckedText{[](Config& c) { return &c.engine.transfer.import_directory; }, IsPathOrEmpty,
                 "must be an absolute path"}},
    {"log_level",
     kService,
     {kMode, "info"},
     "The least urgent lines of the log on standard error: info, warning or error.",
     &kLogLevelForm,
     kLive},
    {"log_format",
     kService,
     {kMode, "text"},
     "Lines of the log: text, or json (objects with time, level, thread, source and message). If standard error is the "
     "journal of systemd, lines have priorities for it.",
     &kLogFormatForm},
    {"slow_request_ms",
     kService,
     {kMilliseconds, "0", {"0", "3600000"}},
     "Requests that take at least this long are logged with the durations of their waits. 0: none.",
     [](Config& c) { return &c.slow_request_ms; },
     kLive},
    {"drain_seconds",
     kService,
     {kSeconds, "10", {"0", "3600"}},
     "Time for running requests to finish after SIGTERM.",
     [](Config& c) { return &c.drain_time; },
     kLive},
    {"config",
     kCommandLineGroup,
     {kFile, ""},
     "File of flags, one per line: name = value. Empty lines and lines that begin with # are ignored. Flags on the "
     "command line take precedence.",
     [](Config& c) { return &c.command_line.config_file; }},
    {"print_config",
     kCommandLineGroup,
     {kSwitch, "false"},
     "Print the flags in effect, in the form of --config, and exit.",
     [](Config& c) { return &c.command_line.prints_config; }},
    {"print_flags_doc",
     kCommandLineGroup,
     {kSwitch, "false"},
     "Print docs/reference/flags.md and exit.",
     [](Config& c) { return &c.command_line.prints_flags_doc; }},
    {"print_metrics_doc",
     kCommandLineGroup,
     {kSwitch, "false"},
     "Print docs/reference/metrics.md and exit.",
     [](Config& c) { return &c.command_line.prints_metrics_doc; }},
};

}  // namespace

std::span<const FlagRow> FlagTable() { return kRows; }

const FlagRow* FindFlag(std::string_view name) {
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [name](const FlagRow& each) { return each.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace armature::daemon
