#include "daemon/config.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "daemon/flags.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon::config_test {

// The configuration of a command line with these flags after some that are valid. Later ones take precedence.
absl::StatusOr<Config> Made(const std::vector<std::string>& flags, const Machine& machine = {}) {
  std::vector<std::string_view> arguments = {"--data_dir=/data",  "--grpc_listen=127.0.0.1:8100",
                                             "--http_listen=off", "--cache_mb=256",
                                             "--read_threads=8",  "--column_families_max=2000"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  ARM_ASSIGN_OR_RETURN(const Config given, ReadFlags(arguments));
  return MakeConfig(given, machine);
}

Config Valid(const std::vector<std::string>& flags = {}, const Machine& machine = {}) {
  const absl::StatusOr<Config> config = Made(flags, machine);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(Config());
}

std::string Flag(std::string_view name, int64_t value) { return Cat("--", name, "=", value); }

TEST(Config, ValidFlagsBecomeOptions) {
  const Config config = Valid({"--durability=interval:250", "--item_collection_mb_max=3"},
                              {.processors = 2, .memory_bytes = uint64_t{8} << 30});
  EXPECT_EQ(config.grpc_listen, "127.0.0.1:8100");
  EXPECT_EQ(config.place, "/data");
  EXPECT_EQ(config.database.durability, store::Durability::kInterval);
  EXPECT_EQ(config.database.sync_interval_ms, 250);
  EXPECT_EQ(config.database.cache_bytes, size_t{256} << 20);
  EXPECT_EQ(config.database.column_families_max, 2000u);
  EXPECT_EQ(config.database.item_collection_bytes_max, uint64_t{3} << 20);
  EXPECT_EQ(config.engine.read_threads, 8u);
  EXPECT_EQ(config.connections.connections_max, 20'000u);
  EXPECT_EQ(config.request_memory_bytes, size_t{512} << 20);
  EXPECT_EQ(config.drain_time, absl::Seconds(10));
  EXPECT_EQ(config.connection_age_max, absl::InfiniteDuration());
  EXPECT_EQ(config.engine.describe_wait, absl::Seconds(1));
  EXPECT_EQ(config.database.streams.retention_ms, int64_t{24} * 3600 * 1000);
  EXPECT_EQ(config.place_options.lease, absl::Seconds(5));
  EXPECT_EQ(config.engine.backup.bytes_per_second_max, uint64_t{32} << 20);
}

TEST(Config, ReadsOfIndexesWaitIfTheyAreSettled) {
  EXPECT_EQ(Valid().engine.index_read_wait, absl::ZeroDuration());
  EXPECT_EQ(Valid({"--index_reads=settled"}).engine.index_read_wait, absl::Milliseconds(100));
  EXPECT_EQ(Valid({"--index_read_wait=2s"}).engine.index_read_wait, absl::ZeroDuration());
}

TEST(Config, OnePortStandsForBoth) {
  const std::string grpc = Cat("--grpc_listen=", kGrpcListen);
  const std::string http = Cat("--http_listen=", kHttpListen);
  EXPECT_FALSE(Valid({grpc, http}).is_one_port);
  const Config config = Valid({grpc, http, "--listen=127.0.0.1:0"});
  EXPECT_TRUE(config.is_one_port);
  EXPECT_EQ(config.grpc_listen, "127.0.0.1:0");
  EXPECT_EQ(config.http_listen, "127.0.0.1:0");
}

TEST(Config, PoolsAreSizedFromTheProcessors) {
  struct Case {
    size_t processors;
    int64_t read_flag;
    int64_t applier_flag;
    size_t read;
    size_t applier;
    size_t http;
  };
  for (const Case& c : {Case{1, 0, 0, 2, 1, 2}, Case{2, 0, 0, 2, 1, 2}, Case{8, 0, 0, 8, 4, 8},
                        Case{64, 0, 0, 64, 8, 64}, Case{1000, 0, 0, 256, 8, 1000}, Case{8, 3, 12, 3, 12, 8}}) {
    const Config config = Valid({Flag("read_threads", c.read_flag), Flag("applier_threads", c.applier_flag)},
                                {.processors = c.processors, .memory_bytes = size_t{1} << 30});
    EXPECT_EQ(config.engine.read_threads, c.read) << c.processors;
    EXPECT_EQ(config.engine.applier_threads, c.applier) << c.processors;
    EXPECT_EQ(config.http_threads, c.http) << c.processors;
  }
}

TEST(Config, BudgetsOfMemoryAreSizedFromTheMachine) {
  struct Case {
    uint64_t memory_mb;
    int64_t cache_flag;
    int64_t memtables_flag;
    int64_t request_flag;
    size_t cache_mb;
    size_t memtables_mb;
    size_t request_mb;
  };
  for (const Case& c : {Case{16, 0, 0, 0, 8, 32, 64}, Case{224, 0, 0, 0, 14, 32, 64}, Case{512, 0, 0, 0, 128, 32, 64},
                        Case{2048, 0, 0, 0, 512, 128, 256}, Case{1 << 20, 0, 0, 0, 1 << 18, 512, 512},
                        Case{8192, 9, 16, 65, 9, 16, 65}}) {
    const Config config = Valid({Flag("cache_mb", c.cache_flag), Flag("memtables_mb", c.memtables_flag),
                                 Flag("request_memory_mb", c.request_flag)},
                                {.processors = 2, .memory_bytes = c.memory_mb << 20});
    EXPECT_EQ(config.database.cache_bytes, c.cache_mb << 20) << c.memory_mb;
    EXPECT_EQ(config.database.memtables_bytes_max, c.memtables_mb << 20) << c.memory_mb;
    EXPECT_EQ(config.request_memory_bytes, c.request_mb << 20) << c.memory_mb;
  }
}

TEST(Config, TheLogHasALimit) {
  EXPECT_EQ(Valid().database.wal_max_bytes, 256u << 20);
  EXPECT_EQ(Valid({"--wal_max_mb=16"}).database.wal_max_bytes, 16u << 20);
}

TEST(Config, ThreadsForFilesAreSizedFromTheProcessors) {
  for (const auto& [processors, flag, threads] :
       std::vector<std::tuple<size_t, int64_t, size_t>>{{1, 0, 2}, {8, 0, 8}, {64, 0, 16}, {2, 5, 5}}) {
    const Config config =
        Valid({Flag("background_threads", flag)}, {.processors = processors, .memory_bytes = size_t{1} << 30});
    EXPECT_EQ(config.database.background_threads, threads) << processors;
  }
}

TEST(Config, HostsAndOriginsAreLists) {
  EXPECT_TRUE(Valid().http_hosts.empty());
  const Config config =
      Valid({"--http_hosts=DB.test, db", "--cors_origins=https://app.test:443 ,http://localhost:3000,"});
  EXPECT_EQ(config.http_hosts, (std::vector<std::string>{"db.test", "db"}));
  EXPECT_EQ(config.cors_origins, (std::vector<std::string>{"https://app.test", "http://localhost:3000"}));
}

TEST(Config, DurabilityHasThreeForms) {
  EXPECT_EQ(Valid().database.durability, store::Durability::kSync);
  EXPECT_EQ(Valid().database.index_updates, store::IndexUpdates::kWithItem);
  EXPECT_EQ(Valid({"--index_updates=logged"}).database.index_updates, store::IndexUpdates::kLogged);
  EXPECT_EQ(Valid({"--durability=os"}).database.durability, store::Durability::kOs);
  for (const auto& [text, ms] : std::vector<std::pair<std::string_view, int64_t>>{
           {"1", 1}, {"60000", 60'000}, {"7ms", 7}, {"5s", 5000}, {"1m", 60'000}}) {
    const Config config = Valid({Cat("--durability=interval:", text)});
    EXPECT_EQ(config.database.durability, store::Durability::kInterval) << text;
    EXPECT_EQ(config.database.sync_interval_ms, ms) << text;
  }
}

TEST(Config, DiskReserveIsBytesOrAShareOrBoth) {
  struct Case {
    const char* text;
    uint64_t bytes;
    uint32_t percent;
  };
  constexpr Case kCases[] = {
      {"auto", uint64_t{1} << 30, 5}, {"0", 0, 100},         {"12345", 12'345, 100}, {"500M", uint64_t{500} << 20, 100},
      {"2G", uint64_t{2} << 30, 100}, {"7%", UINT64_MAX, 7}, {"0%", UINT64_MAX, 0},
  };
  for (const Case& each : kCases) {
    const Config config = Valid({Cat("--disk_reserve=", each.text)});
    EXPECT_EQ(config.database.disk_reserve.bytes, each.bytes) << each.text;
    EXPECT_EQ(config.database.disk_reserve.percent, each.percent) << each.text;
  }
  for (const char* text : {"", "much", "5X", "5MB", "91%", "-1", "%", "99999999999999T"}) {
    EXPECT_FALSE(Made({Cat("--disk_reserve=", text)}).ok()) << text;
  }
}

TEST(Config, TheLimitOfOpenFilesMustBeEnough) {
  const Config config = Valid();
  EXPECT_TRUE(CheckDescriptorLimit(1024, config).ok());
  EXPECT_FALSE(CheckDescriptorLimit(1023, config).ok());
}

constexpr char kAddressForms[] = "must be HOST:PORT, [IPV6]:PORT, unix:PATH or off; port 0 picks a free one";
constexpr char kHttpAddressForms[] = "must be HOST:PORT, [IPV6]:PORT or off; port 0 picks a free one";
constexpr char kHostForms[] = "must be host names without ports, separated by commas";
constexpr char kOriginForms[] =
    "must be origins of web pages, such as https://app.example.org:8443, separated by commas";
constexpr char kDurabilityForms[] = "must be sync, os, or interval:<1 to 60000 milliseconds, or a time such as 2s>";
constexpr char kOpenAddress[] =
    "is reachable from other machines: give --credentials_file, --tls_cert and --tls_key, listen on 127.0.0.1, or say "
    "--insecure";
constexpr char kClearText[] =
    "would take secrets of access keys in clear text: give --tls_cert and --tls_key, listen on unix:PATH, or say "
    "--insecure";

struct FlagCase {
  std::string_view flag;  // the last on the command line
  std::string_view allowed;
  std::vector<std::string> others = {};
};
const FlagCase kRefused[] = {
    {"--data_dir=", "must name the directory that holds the database"},
    {"--data_dir=rados://pool/space", "must be a directory; name a volume in RADOS with --store"},
    {"--store=rados://pool/space", "must not be given together with --data_dir: the database is in one of them"},
    {"--listen=127.0.0.1:1", "stands for --grpc_listen and --http_listen: give it alone"},
    {"--listen=unix:/run/a",
     "must be HOST:PORT or [IPV6]:PORT; port 0 picks a free one",
     {Cat("--grpc_listen=", kGrpcListen), Cat("--http_listen=", kHttpListen)}},
    {"--grpc_listen=", kAddressForms},
    {"--grpc_listen=127.0.0.1", kAddressForms},
    {"--grpc_listen=:80", kAddressForms},
    {"--grpc_listen=localhost:", kAddressForms},
    {"--grpc_listen=localhost:80x", kAddressForms},
    {"--grpc_listen=localhost:65536", kAddressForms},
    {"--grpc_listen=0.0.0.0:80", kOpenAddress},
    {"--grpc_listen=[::]:80", kOpenAddress},
    {"--http_listen=", kHttpAddressForms},
    {"--http_listen=unix:/run/a", kHttpAddressForms},
    {"--http_listen=0.0.0.0:80", kOpenAddress},
    {"--grpc_listen=off", "with --http_listen=off there is nothing to serve"},
    {"--grpc_listen=0.0.0.0:80", kOpenAddress, {"--tls_cert=cert.pem", "--tls_key=key.pem"}},
    {"--grpc_listen=0.0.0.0:80", kOpenAddress, {"--credentials_file=credentials"}},
    {"--http_listen=10.0.0.1:80", kOpenAddress, {"--credentials_file=credentials"}},
    {"--grpc_listen=127.0.0.1:8100", kClearText, {"--credentials_file=credentials"}},
    {"--tls_cert=cert.pem", "needs --tls_key, the key of this certificate"},
    {"--tls_key=key.pem", "needs --tls_cert, the certificate of this key"},
    {"--tls_client_ca=ca.pem", "needs --tls_cert and --tls_key"},
    {"--tls_client_ca=ca.pem",
     "needs --credentials_file, which says what the owners of certificates may do",
     {"--tls_cert=cert.pem", "--tls_key=key.pem"}},
    {"--http_hosts=db.test,db.test:80", kHostForms},
    {"--http_hosts=*", kHostForms},
    {"--cors_origins=app.test", kOriginForms},
    {"--cors_origins=http://app.test/", kOriginForms},
    {"--cors_origins=*", kOriginForms},
    {"--console=yes", "must be auto, on, off or read-only"},
    {"--gsi_backlog_max=0", "must be between 1 and 1099511627776"},
    {"--gsi_backlog_mb_max=0", "must be between 1 and 1048576 MiB"},
    {"--transaction_wait=0", "must be between 1ms and 1h"},
    {"--transaction_wait=inf", "must be between 1ms and 1h"},
    {"--describe_wait=-1s", "must be between 0 and 20s"},
    {"--describe_wait=21s", "must be between 0 and 20s"},
    {"--stream_shards=0", "must be 1, 2, 4, 8, 16, 32 or 64"},
    {"--stream_shards=3", "must be 1, 2, 4, 8, 16, 32 or 64"},
    {"--stream_shards=128", "must be 1, 2, 4, 8, 16, 32 or 64"},
    {"--table_wait=-1s", "must be between 0 and 20s"},
    {"--table_wait=21s", "must be between 0 and 20s"},
    {"--index_updates=sync", "must be with_item or logged"},
    {"--index_reads=strong", "must be eventual or settled"},
    {"--index_read_wait=0", "must be between 1ms and 20s"},
    {"--index_read_wait=21s", "must be between 1ms and 20s"},
    {"--ttl_interval=9ms", "must be between 10ms and 24h"},
    {"--ttl_interval=25h", "must be between 10ms and 24h"},
    {"--durability=", kDurabilityForms},
    {"--durability=fast", kDurabilityForms},
    {"--durability=interval:", kDurabilityForms},
    {"--durability=interval:0", kDurabilityForms},
    {"--durability=interval:60001", kDurabilityForms},
    {"--durability=interval:61s", kDurabilityForms},
    {"--cache_mb=7", "must be between 8 and 1048576 MiB, or 0"},
    {"--cache_mb=1048577", "must be between 8 and 1048576 MiB, or 0"},
    {"--wal_max_mb=15", "must be between 16 and 65536 MiB, or 0"},
    {"--memtables_mb=15", "must be between 16 and 1048576 MiB, or 0"},
    {"--background_threads=1", "must be between 2 and 256, or 0"},
    {"--read_threads=-1", "must be between 0 and 256"},
    {"--read_threads=257", "must be between 0 and 256"},
    {"--applier_threads=65", "must be between 0 and 64"},
    {"--connections_max=0", "must be between 1 and 1000000"},
    {"--connections_per_address_max=-1", "must be between 0 and 1000000"},
    {"--request_memory_mb=63", "must be between 64 and 1048576 MiB, or 0"},
    {"--column_families_max=-1", "must be between 1 and 100000"},
    {"--column_families_max=100001", "must be between 1 and 100000"},
    {"--item_collection_mb_max=0", "must be between 1 and 1048576 MiB"},
    {"--item_collection_mb_max=1048577", "must be between 1 and 1048576 MiB"},
    {"--backup_dir=backups", "must be an absolute path, or rados://POOL/NAMESPACE"},
    {"--backup_dir=rados://pool", "must be rados://POOL/NAMESPACE"},
    {"--backup_interval=1h", "needs --backup_dir"},
    {"--archive_dir=archive", "must be an absolute path"},
    {"--lease_seconds=0", "must be between 1 and 300 seconds"},
};

TEST(Config, TheConsoleIsOnWhereNobodyElseListensIn) {
  struct Case {
    std::vector<std::string> flags;
    ConsoleMode mode = ConsoleMode::kAuto;
  };
  const std::string local = "--http_listen=127.0.0.1:1";
  const Case cases[] = {
      {{local}, ConsoleMode::kOn},
      {{"--http_listen=0.0.0.0:1", "--insecure"}, ConsoleMode::kOff},
      // The port of gRPC serves the pages, too.
      {{local, "--grpc_listen=0.0.0.0:1", "--insecure"}, ConsoleMode::kOff},
      {{"--grpc_listen=unix:/run/a", "--http_listen=[::1]:1"}, ConsoleMode::kOn},
      {{local, "--grpc_listen=off"}, ConsoleMode::kOn},
      // This one does not.
      {{local, "--metrics_listen=0.0.0.0:2"}, ConsoleMode::kOn},
      {{"--http_listen=off"}, ConsoleMode::kOff},
      {{"--http_listen=off", "--console=on"}, ConsoleMode::kOff},
      {{"--http_listen=0.0.0.0:1", "--insecure", "--tls_cert=c", "--tls_key=k"}, ConsoleMode::kOn},
      {{"--http_listen=0.0.0.0:1", "--insecure", "--console=read-only"}, ConsoleMode::kReadOnly},
      {{local, "--console=off"}, ConsoleMode::kOff},
  };
  for (const Case& c : cases) EXPECT_EQ(Valid(c.flags).console, c.mode) << c.flags.front() << " " << c.flags.back();
}

TEST(Config, ErrorsNameFlagValueAndWhatIsAllowed) {
  for (const FlagCase& c : kRefused) {
    std::vector<std::string> flags = c.others;
    flags.emplace_back(c.flag);
    const absl::Status status = Made(flags).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.flag;
    EXPECT_EQ(status.message(), Cat(c.flag, ": ", c.allowed));
  }
}

TEST(Config, TheArchiveIsOutsideOfTheDatabase) {
  EXPECT_FALSE(Valid({}).database.archived_log.is_on);
  EXPECT_TRUE(Valid({"--data_dir=/data", "--archive_dir=/data2"}).database.archived_log.is_on);
  for (const char* const directory :
       {"/data", "/data/", "/data/archive", "/./data//archive", "/x/../data/archive", "/"}) {
    for (const char* const data : {"/data", "/data/"}) {
      EXPECT_EQ(Made({Cat("--data_dir=", data), Cat("--archive_dir=", directory)}).status().message(),
                Cat("--archive_dir=", directory, ": must not be in --data_dir, nor --data_dir in it"));
    }
  }
}

TEST(Config, BackupsInRadosHaveAnotherPlaceThanTheDatabase) {
  std::vector<std::string> flags = {"--rados_conf=/etc/ceph/other.conf", "--rados_user=armature", "--lease_seconds=30",
                                    "--backup_dir=/backup"};
  Config config = Valid(flags);
  // A request may name a place in RADOS, too.
  EXPECT_EQ(config.backup_places.rados_conf, "/etc/ceph/other.conf");
  EXPECT_EQ(config.backup_places.rados_user, "armature");
  // Longer than a killed process holds the lease, and bounded, like operations.
  EXPECT_GT(config.backup_places.owner_wait, absl::Seconds(30));
  EXPECT_LT(config.backup_places.owner_wait, absl::Minutes(1));
  EXPECT_GT(config.backup_places.op_timeout, absl::ZeroDuration());
  EXPECT_EQ(config.place_options.op_timeout, absl::ZeroDuration());

  if (!place::CheckRados("rados://pool/space").ok()) GTEST_SKIP() << "built without RADOS";
  flags.emplace_back("--backup_dir=rados://pool/backups");
  EXPECT_EQ(Valid(flags).engine.backup.directory, "rados://pool/backups");
  for (const char* flag :
       {"--data_dir=", "--store=rados://pool/orders", "--sst_cache_dir=/cache", "--rados_timeout_seconds=7"}) {
    flags.emplace_back(flag);
  }
  config = Valid(flags);
  EXPECT_LT(config.backup_places.owner_wait, absl::Minutes(1));
  EXPECT_EQ(config.backup_places.op_timeout, absl::Seconds(7));
  EXPECT_EQ(config.backup_places.copies_directory, "");
  EXPECT_EQ(config.place_options.copies_directory, "/cache");
  EXPECT_EQ(config.database.wal_max_bytes, 64u << 20);
  flags.emplace_back("--store=rados://pool/backups");
  EXPECT_EQ(
      Made(flags).status().message(),
      "--backup_dir=rados://pool/backups: must not be the place of the database: backups need a namespace of their "
      "own");
}

TEST(Config, CopiesAndStandbysNeedAStore) {
  const Config config = Valid({"--sst_cache_dir=/cache", "--forward", "--advertise=db.test"});
  EXPECT_EQ(config.place_options.copies_directory, "");
  EXPECT_FALSE(config.forwards);
  EXPECT_EQ(config.advertised_host, "");
}

TEST(Config, InsecureAllowsAnyAddress) { EXPECT_TRUE(Made({"--grpc_listen=0.0.0.0:80", "--insecure"}).ok()); }

TEST(Config, WhatIsSecuredMayListenAnywhere) {
  const Config config =
      Valid({"--grpc_listen=0.0.0.0:80", "--http_listen=[::]:81", "--tls_cert=cert.pem", "--tls_key=key.pem",
             "--credentials_file=credentials", "--tls_client_ca=ca.pem", "--audit_log=audit"});
  EXPECT_EQ(config.grpc_listen, "0.0.0.0:80");
  EXPECT_EQ(config.http_listen, "[::]:81");
  EXPECT_EQ(config.tls.certificate, "cert.pem");
  EXPECT_EQ(config.tls.key, "key.pem");
  EXPECT_EQ(config.tls.client_ca, "ca.pem");
  EXPECT_EQ(config.credentials_file, "credentials");
  EXPECT_EQ(config.audit_log, "audit");
}

TEST(Config, SecretsMayPassWhereNobodyListens) {
  const std::string credentials = "--credentials_file=credentials";
  EXPECT_TRUE(Made({credentials, "--grpc_listen=unix:/run/a.sock"}).ok());
  // Signatures do not reveal the secret.
  EXPECT_TRUE(Made({credentials, "--grpc_listen=off", "--http_listen=127.0.0.1:81"}).ok());
  EXPECT_FALSE(Made({credentials, "--grpc_listen=127.0.0.1:80", "--http_listen=127.0.0.1:81"}).ok());
  EXPECT_TRUE(Made({credentials, "--grpc_listen=127.0.0.1:80", "--insecure"}).ok());
}

TEST(Config, EachFrontMayBeOff) {
  EXPECT_EQ(Valid().http_listen, "");
  EXPECT_EQ(Valid().metrics_listen, "");
  const Config config = Valid({"--http_listen=127.0.0.1:81", "--grpc_listen=off"});
  EXPECT_EQ(config.grpc_listen, "");
  EXPECT_EQ(config.http_listen, "127.0.0.1:81");
}

struct AddressCase {
  std::string_view address;
  bool loopback;
};
constexpr AddressCase kAddresses[] = {
    {"127.0.0.1:1", true},
    {"127.9.8.7:0", true},
    {"localhost:1", true},
    {"[::1]:1", true},
    {"unix:/run/a.sock", true},
    {"0.0.0.0:1", false},
    {"[::]:1", false},
    {"10.0.0.1:1", false},
    {"example.org:1", false},
    {"localhost.example.org:1", false},
    {"127.evil.example.org:1", false},
    {"1127.0.0.1:1", false},
};

TEST(Config, OnlyLoopbackAddressesCannotBeReached) {
  for (const AddressCase& c : kAddresses) EXPECT_EQ(IsLoopback(c.address), c.loopback) << c.address;
}

}  // namespace armature::daemon::config_test
