#include "daemon/config.h"

#include <gtest/gtest.h>

namespace armature::daemon {
namespace {

RawConfig Valid() { return {"/data", "127.0.0.1:8100", "sync", 256, 8, 2000, false}; }

TEST(Config, ValidFlagsBecomeOptions) {
  RawConfig raw = Valid();
  raw.durability = "interval:250";
  const absl::StatusOr<Config> config = MakeConfig(raw);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->grpc_listen, "127.0.0.1:8100");
  EXPECT_EQ(config->database.path, "/data");
  EXPECT_EQ(config->database.durability, store::Durability::kInterval);
  EXPECT_EQ(config->database.sync_interval_ms, 250);
  EXPECT_EQ(config->database.cache_bytes, size_t{256} << 20);
  EXPECT_EQ(config->database.column_families_max, 2000u);
  EXPECT_EQ(config->engine.read_threads, 8u);
}

TEST(Config, DurabilityHasThreeForms) {
  RawConfig raw = Valid();
  EXPECT_EQ(MakeConfig(raw)->database.durability, store::Durability::kSync);
  raw.durability = "os";
  EXPECT_EQ(MakeConfig(raw)->database.durability, store::Durability::kOs);
  for (const char* text : {"interval:1", "interval:60000"}) {
    raw.durability = text;
    EXPECT_TRUE(MakeConfig(raw).ok()) << text;
  }
}

constexpr char kAddressForms[] = "must be HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 picks a free one";
constexpr char kDurabilityForms[] = "must be sync, os, or interval:<1 to 60000 milliseconds>";
constexpr char kOpenAddress[] =
    "is reachable from other machines, and this version has no TLS and no credentials; listen on 127.0.0.1, or say "
    "--insecure";

struct FlagCase {
  void (*change)(RawConfig*);
  std::string_view flag;  // with its value
  std::string_view allowed;
};
constexpr FlagCase kRefused[] = {
    {[](RawConfig* c) { c->data_dir = ""; }, "--data_dir=", "must name the directory that holds the database"},
    {[](RawConfig* c) { c->grpc_listen = ""; }, "--grpc_listen=", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "127.0.0.1"; }, "--grpc_listen=127.0.0.1", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = ":80"; }, "--grpc_listen=:80", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "localhost:"; }, "--grpc_listen=localhost:", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "localhost:80x"; }, "--grpc_listen=localhost:80x", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "localhost:65536"; }, "--grpc_listen=localhost:65536", kAddressForms},
    {[](RawConfig* c) { c->grpc_listen = "0.0.0.0:80"; }, "--grpc_listen=0.0.0.0:80", kOpenAddress},
    {[](RawConfig* c) { c->grpc_listen = "[::]:80"; }, "--grpc_listen=[::]:80", kOpenAddress},
    {[](RawConfig* c) { c->durability = ""; }, "--durability=", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "fast"; }, "--durability=fast", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:"; }, "--durability=interval:", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:0"; }, "--durability=interval:0", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:60001"; }, "--durability=interval:60001", kDurabilityForms},
    {[](RawConfig* c) { c->durability = "interval:5s"; }, "--durability=interval:5s", kDurabilityForms},
    {[](RawConfig* c) { c->cache_mb = 7; }, "--cache_mb=7", "must be between 8 and 1048576"},
    {[](RawConfig* c) { c->cache_mb = 1048577; }, "--cache_mb=1048577", "must be between 8 and 1048576"},
    {[](RawConfig* c) { c->read_threads = 0; }, "--read_threads=0", "must be between 1 and 256"},
    {[](RawConfig* c) { c->read_threads = 257; }, "--read_threads=257", "must be between 1 and 256"},
    {[](RawConfig* c) { c->column_families_max = -1; }, "--column_families_max=-1", "must be between 1 and 10000"},
    {[](RawConfig* c) { c->column_families_max = 10001; }, "--column_families_max=10001",
     "must be between 1 and 10000"},
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

TEST(Config, InsecureAllowsAnyAddress) {
  RawConfig raw = Valid();
  raw.grpc_listen = "0.0.0.0:80";
  raw.insecure = true;
  EXPECT_TRUE(MakeConfig(raw).ok());
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

}  // namespace
}  // namespace armature::daemon
