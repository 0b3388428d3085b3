#include "daemon/config.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace armature::daemon::config_test {

RawConfig Valid() {
  RawConfig raw;
  raw.data_dir = "/data";
  raw.grpc_listen = "127.0.0.1:8100";
  raw.durability = "sync";
  raw.cache_mb = 256;
  raw.read_threads = 8;
  raw.column_families_max = 2000;
  return raw;
}

TEST(Config, ValidFlagsBecomeOptions) {
  RawConfig raw = Valid();
  raw.durability = "interval:250";
  raw.item_collection_mb_max = 3;
  const absl::StatusOr<Config> config = MakeConfig(raw, {.processors = 2, .memory_bytes = uint64_t{8} << 30});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->grpc_listen, "127.0.0.1:8100");
  EXPECT_EQ(config->place, "/data");
  EXPECT_EQ(config->database.durability, store::Durability::kInterval);
  EXPECT_EQ(config->database.sync_interval_ms, 250);
  EXPECT_EQ(config->database.cache_bytes, size_t{256} << 20);
  EXPECT_EQ(config->database.column_families_max, 2000u);
  EXPECT_EQ(config->database.item_collection_bytes_max, uint64_t{3} << 20);
  EXPECT_EQ(config->engine.read_threads, 8u);
  EXPECT_EQ(config->connections.connections_max, 20'000u);
  EXPECT_EQ(config->request_memory_bytes, size_t{512} << 20);
}

TEST(Config, OnePortStandsForBoth) {
  RawConfig raw = Valid();
  raw.grpc_listen = kGrpcListen;
  raw.http_listen = kHttpListen;
  absl::StatusOr<Config> config = MakeConfig(raw);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->is_one_port);
  raw.listen = "127.0.0.1:0";
  config = MakeConfig(raw);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->is_one_port);
  EXPECT_EQ(config->grpc_listen, "127.0.0.1:0");
  EXPECT_EQ(config->http_listen, "127.0.0.1:0");
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
    RawConfig raw = Valid();
    raw.read_threads = c.read_flag;
    raw.applier_threads = c.applier_flag;
    const absl::StatusOr<Config> config =
        MakeConfig(raw, {.processors = c.processors, .memory_bytes = size_t{1} << 30});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->engine.read_threads, c.read) << c.processors;
    EXPECT_EQ(config->engine.applier_threads, c.applier) << c.processors;
    EXPECT_EQ(config->http_threads, c.http) << c.processors;
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
    RawConfig raw = Valid();
    raw.cache_mb = c.cache_flag;
    raw.memtables_mb = c.memtables_flag;
    raw.request_memory_mb = c.request_flag;
    const absl::StatusOr<Config> config = MakeConfig(raw, {.processors = 2, .memory_bytes = c.memory_mb << 20});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->database.cache_bytes, c.cache_mb << 20) << c.memory_mb;
    EXPECT_EQ(config->database.memtables_bytes_max, c.memtables_mb << 20) << c.memory_mb;
    EXPECT_EQ(config->request_memory_bytes, c.request_mb << 20) << c.memory_mb;
  }
}

TEST(Config, TheLogHasALimit) {
  RawConfig raw = Valid();
  EXPECT_EQ(MakeConfig(raw)->database.wal_max_bytes, 256u << 20);
  raw.wal_max_mb = 16;
  EXPECT_EQ(MakeConfig(raw)->database.wal_max_bytes, 16u << 20);
}

TEST(Config, ThreadsForFilesAreSizedFromTheProcessors) {
  for (const auto& [processors, flag, threads] :
       std::vector<std::tuple<size_t, int64_t, size_t>>{{1, 0, 2}, {8, 0, 8}, {64, 0, 16}, {2, 5, 5}}) {
    RawConfig raw = Valid();
    raw.background_threads = flag;
    const absl::StatusOr<Config> config = MakeConfig(raw, {.processors = processors, .memory_bytes = size_t{1} << 30});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->database.background_threads, threads) << processors;
  }
}

TEST(Config, HostsAndOriginsAreLists) {
  RawConfig raw = Valid();
  EXPECT_TRUE(MakeConfig(raw)->http_hosts.empty());
  raw.http_hosts = "DB.test, db";
  raw.cors_origins = "https://app.test:443 ,http://localhost:3000,";
  const absl::StatusOr<Config> config = MakeConfig(raw);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->http_hosts, (std::vector<std::string>{"db.test", "db"}));
  EXPECT_EQ(config->cors_origins, (std::vector<std::string>{"https://app.test", "http://localhost:3000"}));
}

TEST(Config, DurabilityHasThreeForms) {
  RawConfig raw = Valid();
  EXPECT_EQ(MakeConfig(raw)->database.durability, store::Durability::kSync);
  EXPECT_EQ(MakeConfig(raw)->database.index_updates, store::IndexUpdates::kWithItem);
  raw.index_updates = "logged";
  EXPECT_EQ(MakeConfig(raw)->database.index_updates, store::IndexUpdates::kLogged);
  raw.durability = "os";
  EXPECT_EQ(MakeConfig(raw)->database.durability, store::Durability::kOs);
  for (const char* text : {"interval:1", "interval:60000"}) {
    raw.durability = text;
    EXPECT_TRUE(MakeConfig(raw).ok()) << text;
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
  RawConfig raw = Valid();
  for (const Case& each : kCases) {
    raw.disk_reserve = each.text;
    const absl::StatusOr<Config> config = MakeConfig(raw);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->database.disk_reserve.bytes, each.bytes) << each.text;
    EXPECT_EQ(config->database.disk_reserve.percent, each.percent) << each.text;
  }
  for (const char* text : {"", "much", "5X", "5MB", "91%", "-1", "%", "99999999999999T"}) {
    raw.disk_reserve = text;
    EXPECT_FALSE(MakeConfig(raw).ok()) << text;
  }
}

TEST(Config, TheLimitOfOpenFilesMustBeEnough) {
  const absl::StatusOr<Config> config = MakeConfig(Valid());
  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(CheckDescriptorLimit(1024, *config).ok());
  EXPECT_FALSE(CheckDescriptorLimit(1023, *config).ok());
}

constexpr char kAddressForms[] = "must be HOST:PORT, [IPV6]:PORT, unix:PATH or off; port 0 picks a free one";
constexpr char kHttpAddressForms[] = "must be HOST:PORT, [IPV6]:PORT or off; port 0 picks a free one";
constexpr char kHostForms[] = "must be host names without ports, separated by commas";
constexpr char kOriginForms[] =
    "must be origins of web pages, such as https://app.example.org:8443, separated by commas";
constexpr char kDurabilityForms[] = "must be sync, os, or interval:<1 to 60000 milliseconds>";
constexpr char kOpenAddress[] =
    "is reachable from other machines: give --credentials_file, --tls_cert and --tls_key, listen on 127.0.0.1, or say "
    "--insecure";
constexpr char kClearText[] =
    "would take secrets of access keys in clear text: give --tls_cert and --tls_key, listen on unix:PATH, or say "
    "--insecure";

void AddTls(RawConfig* c) {
  c->tls_cert = "cert.pem";
  c->tls_key = "key.pem";
}

struct FlagCase {
  void (*change)(RawConfig*);
  std::string_view flag;  // with its value
  std::string_view allowed;
};
constexpr FlagCase kRefused[] = {
    {[](RawConfig* c) { c->data_dir = ""; }, "--data_dir=", "must name the directory that holds the database"},
    {[](RawConfig* c) { c->data_dir = "rados://pool/space"; }, "--data_dir=rados://pool/space",
     "must be a directory; name a volume in RADOS with --store"},
    {[](RawConfig* c) { c->store = "rados://pool/space"; }, "--store=rados://pool/space",
     "must not be given together with --data_dir: the database is in one of them"},
    {[](RawConfig* c) { c->listen = "127.0.0.1:1"; }, "--listen=127.0.0.1:1",
     "stands for --grpc_listen and --http_listen: give it alone"},
    {[](RawConfig* c) {
       c->grpc_listen = kGrpcListen;
       c->http_listen = kHttpListen;
       c->listen = "unix:/run/a";
     },
     "--listen=unix:/run/a", "must be HOST:PORT or [IPV6]:PORT; port 0 picks a free one"},
    {[](RawConfig* c) { c->grpc_listen = ""; }, "--grpc_listen=", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "127.0.0.1"; }, "--grpc_listen=127.0.0.1", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = ":80"; }, "--grpc_listen=:80", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "localhost:"; }, "--grpc_listen=localhost:", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "localhost:80x"; }, "--grpc_listen=localhost:80x", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "localhost:65536"; }, "--grpc_listen=localhost:65536", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "0.0.0.0:80"; }, "--grpc_listen=0.0.0.0:80", kOpenAddress},
    {[](RawConfig* c) { c->grpc_listen = "[::]:80"; }, "--grpc_listen=[::]:80", kOpenAddress},
    {[](RawConfig* c) { c->http_listen = ""; }, "--http_listen=", kHttpAddressForms},
    {[](RawConfig* c) { c->http_listen = "unix:/run/a"; }, "--http_listen=unix:/run/a", kHttpAddressForms},
    {[](RawConfig* c) { c->http_listen = "0.0.0.0:80"; }, "--http_listen=0.0.0.0:80", kOpenAddress},
    {[](RawConfig* c) { c->grpc_listen = "off"; }, "--grpc_listen=off",
     "with --http_listen=off there is nothing to serve"},
    {[](RawConfig* c) {
       c->grpc_listen = "0.0.0.0:80";
       AddTls(c);
     },
     "--grpc_listen=0.0.0.0:80", kOpenAddress},
    {[](RawConfig* c) {
       c->grpc_listen = "0.0.0.0:80";
       c->credentials_file = "credentials";
     },
     "--grpc_listen=0.0.0.0:80", kOpenAddress},
    {[](RawConfig* c) {
       c->http_listen = "10.0.0.1:80";
       c->credentials_file = "credentials";
     },
     "--http_listen=10.0.0.1:80", kOpenAddress},
    {[](RawConfig* c) { c->credentials_file = "credentials"; }, "--grpc_listen=127.0.0.1:8100", kClearText},
    {[](RawConfig* c) { c->tls_cert = "cert.pem"; }, "--tls_cert=cert.pem",
     "needs --tls_key, the key of this certificate"},
    {[](RawConfig* c) { c->tls_key = "key.pem"; }, "--tls_key=key.pem",
     "needs --tls_cert, the certificate of this key"},
    {[](RawConfig* c) { c->tls_client_ca = "ca.pem"; }, "--tls_client_ca=ca.pem", "needs --tls_cert and --tls_key"},
    {[](RawConfig* c) {
       AddTls(c);
       c->tls_client_ca = "ca.pem";
     },
     "--tls_client_ca=ca.pem", "needs --credentials_file, which says what the owners of certificates may do"},
    {[](RawConfig* c) { c->http_hosts = "db.test,db.test:80"; }, "--http_hosts=db.test,db.test:80", kHostForms},
    {[](RawConfig* c) { c->http_hosts = "*"; }, "--http_hosts=*", kHostForms},
    {[](RawConfig* c) { c->cors_origins = "app.test"; }, "--cors_origins=app.test", kOriginForms},
    {[](RawConfig* c) { c->cors_origins = "http://app.test/"; }, "--cors_origins=http://app.test/", kOriginForms},
    {[](RawConfig* c) { c->cors_origins = "*"; }, "--cors_origins=*", kOriginForms},
    {[](RawConfig* c) { c->gsi_backlog_max = 0; }, "--gsi_backlog_max=0", "must be between 1 and 1099511627776"},
    {[](RawConfig* c) { c->gsi_backlog_mb_max = 0; }, "--gsi_backlog_mb_max=0", "must be between 1 and 1048576"},
    {[](RawConfig* c) { c->transaction_wait = absl::ZeroDuration(); }, "--transaction_wait=0",
     "must be between 1ms and 1h"},
    {[](RawConfig* c) { c->transaction_wait = absl::InfiniteDuration(); }, "--transaction_wait=inf",
     "must be between 1ms and 1h"},
    {[](RawConfig* c) { c->describe_wait = absl::Seconds(-1); }, "--describe_wait=-1s", "must be between 0 and 20s"},
    {[](RawConfig* c) { c->describe_wait = absl::Seconds(21); }, "--describe_wait=21s", "must be between 0 and 20s"},
    {[](RawConfig* c) { c->stream_shards = 0; }, "--stream_shards=0", "must be 1, 2, 4, 8, 16, 32 or 64"},
    {[](RawConfig* c) { c->stream_shards = 3; }, "--stream_shards=3", "must be 1, 2, 4, 8, 16, 32 or 64"},
    {[](RawConfig* c) { c->stream_shards = 128; }, "--stream_shards=128", "must be 1, 2, 4, 8, 16, 32 or 64"},
    {[](RawConfig* c) { c->table_wait = absl::Seconds(-1); }, "--table_wait=-1s", "must be between 0 and 20s"},
    {[](RawConfig* c) { c->table_wait = absl::Seconds(21); }, "--table_wait=21s", "must be between 0 and 20s"},
    {[](RawConfig* c) { c->index_updates = "sync"; }, "--index_updates=sync", "must be with_item or logged"},
    {[](RawConfig* c) { c->index_reads = "strong"; }, "--index_reads=strong", "must be eventual or settled"},
    {[](RawConfig* c) { c->index_read_wait = absl::ZeroDuration(); }, "--index_read_wait=0",
     "must be between 1ms and 20s"},
    {[](RawConfig* c) { c->index_read_wait = absl::Seconds(21); }, "--index_read_wait=21s",
     "must be between 1ms and 20s"},
    {[](RawConfig* c) { c->ttl_interval = absl::Milliseconds(9); }, "--ttl_interval=9ms",
     "must be between 10ms and 24h"},
    {[](RawConfig* c) { c->ttl_interval = absl::Hours(25); }, "--ttl_interval=25h", "must be between 10ms and 24h"},
    {[](RawConfig* c) { c->durability = ""; }, "--durability=", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "fast"; }, "--durability=fast", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:"; }, "--durability=interval:", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:0"; }, "--durability=interval:0", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:60001"; }, "--durability=interval:60001", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:5s"; }, "--durability=interval:5s", kDurabilityForms},
    {[](RawConfig* c) { c->cache_mb = 7; }, "--cache_mb=7", "must be between 8 and 1048576"},
    {[](RawConfig* c) { c->cache_mb = 1048577; }, "--cache_mb=1048577", "must be between 8 and 1048576"},
    {[](RawConfig* c) { c->wal_max_mb = 15; }, "--wal_max_mb=15", "must be between 16 and 65536"},
    {[](RawConfig* c) { c->memtables_mb = 15; }, "--memtables_mb=15", "must be between 16 and 1048576"},
    {[](RawConfig* c) { c->background_threads = 1; }, "--background_threads=1", "must be between 2 and 256"},
    {[](RawConfig* c) { c->read_threads = -1; }, "--read_threads=-1", "must be between 0 and 256"},
    {[](RawConfig* c) { c->read_threads = 257; }, "--read_threads=257", "must be between 0 and 256"},
    {[](RawConfig* c) { c->applier_threads = 65; }, "--applier_threads=65", "must be between 0 and 64"},
    {[](RawConfig* c) { c->connections_max = 0; }, "--connections_max=0", "must be between 1 and 1000000"},
    {[](RawConfig* c) { c->connections_per_address_max = -1; }, "--connections_per_address_max=-1",
     "must be between 0 and 1000000"},
    {[](RawConfig* c) { c->request_memory_mb = 63; }, "--request_memory_mb=63", "must be between 64 and 1048576"},
    {[](RawConfig* c) { c->column_families_max = -1; }, "--column_families_max=-1", "must be between 1 and 100000"},
    {[](RawConfig* c) { c->column_families_max = 100001; }, "--column_families_max=100001",
     "must be between 1 and 100000"},
    {[](RawConfig* c) { c->item_collection_mb_max = 0; }, "--item_collection_mb_max=0",
     "must be between 1 and 1048576"},
    {[](RawConfig* c) { c->item_collection_mb_max = 1048577; }, "--item_collection_mb_max=1048577",
     "must be between 1 and 1048576"},
    {[](RawConfig* c) { c->backup_dir = "backups"; }, "--backup_dir=backups",
     "must be an absolute path, or rados://POOL/NAMESPACE"},
    {[](RawConfig* c) { c->backup_dir = "rados://pool"; }, "--backup_dir=rados://pool",
     "must be rados://POOL/NAMESPACE"},
    {[](RawConfig* c) { c->backup_interval = absl::Hours(1); }, "--backup_interval=1h", "needs --backup_dir"},
    {[](RawConfig* c) { c->lease_seconds = 0; }, "--lease_seconds=0", "must be between 1 and 300"},
};

TEST(Config, ErrorsNameFlagValueAndWhatIsAllowed) {
  for (const FlagCase& c : kRefused) {
    RawConfig raw = Valid();
    c.change(&raw);
    const absl::Status status = MakeConfig(raw).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.flag;
    EXPECT_EQ(std::string(status.message()), std::string(c.flag) + ": " + std::string(c.allowed));
  }
}

TEST(Config, BackupsInRadosHaveAnotherPlaceThanTheDatabase) {
  RawConfig raw = Valid();
  raw.backup_dir = "/backup";
  raw.rados_conf = "/etc/ceph/other.conf";
  raw.rados_user = "armature";
  raw.lease_seconds = 30;
  absl::StatusOr<Config> config = MakeConfig(raw);
  ASSERT_TRUE(config.ok()) << config.status();
  // A request may name a place in RADOS, too.
  EXPECT_EQ(config->backup_places.rados_conf, "/etc/ceph/other.conf");
  EXPECT_EQ(config->backup_places.rados_user, "armature");
  // Longer than a killed process holds the lease, and bounded, like operations.
  EXPECT_GT(config->backup_places.owner_wait, absl::Seconds(30));
  EXPECT_LT(config->backup_places.owner_wait, absl::Minutes(1));
  EXPECT_GT(config->backup_places.op_timeout, absl::ZeroDuration());
  EXPECT_EQ(config->place_options.op_timeout, absl::ZeroDuration());

  if (!place::CheckRados("rados://pool/space").ok()) GTEST_SKIP() << "built without RADOS";
  raw.backup_dir = "rados://pool/backups";
  config = MakeConfig(raw);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->engine.backup.directory, "rados://pool/backups");
  raw.data_dir = "";
  raw.store = "rados://pool/orders";
  raw.sst_cache_dir = "/cache";
  raw.rados_timeout_seconds = 7;
  config = MakeConfig(raw);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_LT(config->backup_places.owner_wait, absl::Minutes(1));
  EXPECT_EQ(config->backup_places.op_timeout, absl::Seconds(7));
  EXPECT_EQ(config->backup_places.copies_directory, "");
  raw.store = raw.backup_dir;
  EXPECT_EQ(
      MakeConfig(raw).status().message(),
      "--backup_dir=rados://pool/backups: must not be the place of the database: backups need a namespace of their "
      "own");
}

TEST(Config, InsecureAllowsAnyAddress) {
  RawConfig raw = Valid();
  raw.grpc_listen = "0.0.0.0:80";
  raw.insecure = true;
  EXPECT_TRUE(MakeConfig(raw).ok());
}

TEST(Config, WhatIsSecuredMayListenAnywhere) {
  RawConfig raw = Valid();
  raw.grpc_listen = "0.0.0.0:80";
  raw.http_listen = "[::]:81";
  AddTls(&raw);
  raw.credentials_file = "credentials";
  raw.tls_client_ca = "ca.pem";
  raw.audit_log = "audit";
  const absl::StatusOr<Config> config = MakeConfig(raw, {.processors = 2, .memory_bytes = uint64_t{8} << 30});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->grpc_listen, "0.0.0.0:80");
  EXPECT_EQ(config->http_listen, "[::]:81");
  EXPECT_EQ(config->tls.certificate, "cert.pem");
  EXPECT_EQ(config->tls.key, "key.pem");
  EXPECT_EQ(config->tls.client_ca, "ca.pem");
  EXPECT_EQ(config->credentials_file, "credentials");
  EXPECT_EQ(config->audit_log, "audit");
}

TEST(Config, SecretsMayPassWhereNobodyListens) {
  RawConfig raw = Valid();
  raw.credentials_file = "credentials";
  raw.grpc_listen = "unix:/run/a.sock";
  EXPECT_TRUE(MakeConfig(raw).ok());
  // Signatures do not reveal the secret.
  raw.grpc_listen = "off";
  raw.http_listen = "127.0.0.1:81";
  EXPECT_TRUE(MakeConfig(raw).ok());
  raw.grpc_listen = "127.0.0.1:80";
  EXPECT_FALSE(MakeConfig(raw).ok());
  raw.insecure = true;
  EXPECT_TRUE(MakeConfig(raw).ok());
}

TEST(Config, EachFrontMayBeOff) {
  RawConfig raw = Valid();
  EXPECT_EQ(MakeConfig(raw)->http_listen, "");
  raw.http_listen = "127.0.0.1:81";
  raw.grpc_listen = "off";
  EXPECT_EQ(MakeConfig(raw)->grpc_listen, "");
  EXPECT_EQ(MakeConfig(raw)->http_listen, "127.0.0.1:81");
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
