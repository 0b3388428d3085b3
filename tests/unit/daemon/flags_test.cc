#include "daemon/flags.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/flag_table.h"
#include "gmock/gmock.h"
#include "storage/base/strings.h"
#include "tests/support/temp_dir.h"

namespace armature::daemon::flag_help_test {

using testing::HasSubstr;

TEST(FlagHelp, HasGroupsWithUnitsDefaultsAndLimits) {
  const std::string help = FlagHelp();
  EXPECT_THAT(help, HasSubstr("\nData:\n  --data_dir=DIRECTORY\n      Directory of the database."));
  EXPECT_THAT(help,
              HasSubstr("\nResources:\n  --cache_mb=MIB  (default 0; 8 to 1048576, or 0; live)\n      Block cache."));
  EXPECT_THAT(help, HasSubstr("\n  --insecure  (default false)\n      Allow"));
  EXPECT_THAT(help, HasSubstr("\n  --ttl_interval=DURATION  (default 5s; 10ms to 24h; live)\n"));
}

TEST(FlagHelp, LinesAreWrapped) {
  std::istringstream lines(FlagHelp());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(FlagsDocument, IsATableForEachGroup) {
  const std::string document = FlagsDocument();
  EXPECT_THAT(document, HasSubstr("\n## Data\n\n| flag | default | limits | meaning |\n| --- | --- | --- | --- |\n"
                                  "| `--data_dir=DIRECTORY` |  |  | Directory of the database. "));
  EXPECT_THAT(document, HasSubstr("\n| `--cache_mb=MIB` | `0` | 8 to 1048576, or 0 | Block cache. "));
  EXPECT_THAT(document, HasSubstr("\n| `--http_listen=ADDRESS\\|off` | `127.0.0.1:7701` |  | Address for "));
}

}  // namespace armature::daemon::flag_help_test

namespace armature::daemon::read_flags_test {

// The value of a flag on this command line, or the error.
std::string Value(std::string_view flag, const std::vector<std::string>& arguments) {
  const absl::StatusOr<Config> config = ReadFlags({arguments.begin(), arguments.end()});
  return config.ok() ? FlagText(*FindFlag(flag), *config) : std::string(config.status().message());
}

TEST(ReadFlags, ValuesStandBehindAnEqualsSignOrApart) {
  EXPECT_EQ(Value("cache_mb", {}), "0");
  EXPECT_EQ(Value("cache_mb", {"--cache_mb=9"}), "9");
  EXPECT_EQ(Value("cache_mb", {"-cache_mb=9"}), "9");
  EXPECT_EQ(Value("cache_mb", {"--cache_mb", "9", "--insecure"}), "9");
  EXPECT_EQ(Value("cache_mb", {"--cache_mb=9", "--cache_mb=10"}), "10");
  EXPECT_EQ(Value("data_dir", {"--data_dir=a=b"}), "a=b");
}

TEST(ReadFlags, SwitchesAreTurnedOnAndOff) {
  EXPECT_EQ(Value("insecure", {"--insecure"}), "true");
  EXPECT_EQ(Value("enforce_throughput", {"--noenforce_throughput"}), "false");
  EXPECT_EQ(Value("enforce_throughput", {"-noenforce_throughput"}), "false");
  for (const char* word : {"true", "True", "T", "yes", "y", "1"}) {
    EXPECT_EQ(Value("insecure", {Cat("--insecure=", word)}), "true") << word;
  }
  for (const char* word : {"false", "FALSE", "f", "no", "n", "0"}) {
    EXPECT_EQ(Value("insecure", {"--insecure", Cat("--insecure=", word)}), "false") << word;
  }
  EXPECT_EQ(Value("insecure", {"--insecure=maybe"}), "--insecure=maybe: must be true or false");
}

TEST(ReadFlags, WrongCommandLinesAreRefused) {
  EXPECT_EQ(Value("insecure", {"--insecure", "surplus"}), "unexpected argument: surplus");
  EXPECT_EQ(Value("insecure", {"--", "--insecure"}), "unexpected argument: --insecure");
  EXPECT_EQ(Value("insecure", {"-"}), "unexpected argument: -");
  EXPECT_EQ(Value("insecure", {"--"}), "false");
  EXPECT_EQ(Value("insecure", {"--data_dir"}), "--data_dir: its value is missing");
  for (const std::string next : {"--insecure", "--noinsecure", "--http_listen=off"}) {
    EXPECT_EQ(Value("insecure", {"--data_dir", next}), "--data_dir: its value is missing");
  }
  EXPECT_EQ(Value("data_dir", {"--data_dir", "--no such flag"}), "--no such flag");
  EXPECT_EQ(Value("insecure", {"--noinsecure=1"}), "unknown flag '--noinsecure'; did you mean 'insecure'?");
  EXPECT_EQ(Value("insecure", {"--nocache_mb"}), "unknown flag '--nocache_mb'; did you mean 'cache_mb'?");
}

TEST(ReadFlags, SizesAndTimesTakeUnits) {
  struct Case {
    std::string_view flag;
    std::string_view given;
    std::string_view value;
  };
  for (const Case& c : {Case{"cache_mb", "4G", "4096"},
                        {"cache_mb", "1T", "1048576"},
                        {"cache_mb", "65536K", "64"},
                        {"backup_mb_per_second", "1G", "1024"},
                        {"drain_seconds", "2m", "120"},
                        {"drain_seconds", "1.5m", "90"},
                        {"drain_seconds", "2000ms", "2"},
                        {"slow_request_ms", "2s", "2000"},
                        {"slow_request_ms", "7", "7"},
                        {"ttl_interval", "90s", "1m30s"},
                        {"disk_reserve", "2048M", "2G"},
                        {"durability", "interval:2s", "interval:2000"}}) {
    EXPECT_EQ(Value(c.flag, {Cat("--", c.flag, "=", c.given)}), c.value) << c.given;
  }
}

constexpr std::string_view kSize =
    "must be a whole number of MiB, or a size such as 512M or 2G, between 8 and 1048576 MiB, or 0";
constexpr std::string_view kSizeLimits = "must be between 8 and 1048576 MiB, or 0";
constexpr std::string_view kTime =
    "must be a whole number of seconds, or a time such as 30s or 2h, between 0 and 3600 seconds";
constexpr std::string_view kTimeLimits = "must be between 0 and 3600 seconds";
constexpr std::string_view kCounts = "must be a whole number between 0 and 256";

struct BadNumber {
  std::string_view flag;
  std::string_view fault;
};
constexpr BadNumber kBadNumbers[] = {
    {"--cache_mb=lots", kSize},
    {"--cache_mb=", kSize},
    {"--cache_mb=64 ", kSize},
    {"--cache_mb=64.5", kSize},
    {"--cache_mb=1.5G", kSize},
    {"--cache_mb=512K", kSize},
    {"--cache_mb=64MB", kSize},
    {"--cache_mb=64X", kSize},
    {"--cache_mb=-64", kSizeLimits},
    {"--cache_mb=17592186044416T", kSizeLimits},
    {"--cache_mb=18446744073709551680", kSizeLimits},
    {"--cache_mb=-18446744073709551680T", kSizeLimits},
    {"--drain_seconds=1.5", kTime},
    {"--drain_seconds=1500ms", kTime},
    {"--drain_seconds=5 s", kTime},
    {"--drain_seconds=-1", kTimeLimits},
    {"--drain_seconds=-1m", kTimeLimits},
    {"--drain_seconds=inf", kTimeLimits},
    {"--drain_seconds=-inf", kTimeLimits},
    {"--drain_seconds=18446744073709551617", kTimeLimits},
    {"--drain_seconds=9999999999h", kTimeLimits},
    {"--read_threads=2.5", kCounts},
    {"--read_threads=2K", kCounts},
    {"--ttl_interval=5", "must be a time such as 30s or 2h between 10ms and 24h"},
    {"--ttl_interval=0", "must be between 10ms and 24h"},
};

TEST(ReadFlags, NumbersThatAreNotWholeOrOutOfRangeAreRefusedWithTheLimits) {
  for (const BadNumber& c : kBadNumbers) {
    EXPECT_EQ(Value("cache_mb", {std::string(c.flag)}), Cat(c.flag, ": ", c.fault));
  }
}

TEST(ReadFlags, AFileIsBelowTheCommandLine) {
  const test::TempDir directory;
  const std::string path = directory.path("flags");
  std::ofstream(path) << "cache_mb = 64\ndrain_seconds = 2m\n";
  const std::string config = "--config=" + path;
  EXPECT_EQ(Value("cache_mb", {config}), "64");
  EXPECT_EQ(Value("drain_seconds", {config}), "120");
  EXPECT_EQ(Value("cache_mb", {"--cache_mb=32", config}), "32");
  std::ofstream(path) << "# a note\ncache_mb = 7M\n";
  EXPECT_EQ(Value("cache_mb", {config}),
            path + ": line 2: '7M' is no value of cache_mb: must be between 8 and 1048576 MiB, or 0");
}

}  // namespace armature::daemon::read_flags_test

namespace armature::daemon::config_file_test {

std::string Shown(std::string_view text) {
  const absl::StatusOr<std::vector<ConfigLine>> lines = ParseConfigText(text);
  if (!lines.ok()) return std::string(lines.status().message());
  std::string shown;
  for (const ConfigLine& line : *lines) {
    shown += std::to_string(line.number) + " [" + line.name + "] [" + line.value + "]\n";
  }
  return shown;
}

TEST(ConfigFile, LinesAreNamesAndValues) {
  EXPECT_EQ(Shown("data_dir = /var/lib/armature\n\n# a note\n  cache_mb=64  \r\nmore = a = b # c"),
            "1 [data_dir] [/var/lib/armature]\n4 [cache_mb] [64]\n5 [more] [a = b # c]\n");
}

TEST(ConfigFile, AValueMayBeEmpty) { EXPECT_EQ(Shown("audit_log =\n"), "1 [audit_log] []\n"); }

TEST(ConfigFile, NothingIsInAnEmptyText) { EXPECT_EQ(Shown(""), ""); }

TEST(ConfigFile, FaultsAreToldWithTheirLine) {
  EXPECT_EQ(Shown("a = 1\nsomething"), "line 2: expected 'name = value'");
  EXPECT_EQ(Shown("--a = 1"), "line 1: '--a' is not the name of a flag; write it without dashes");
  EXPECT_EQ(Shown(" = 1"), "line 1: '' is not the name of a flag; write it without dashes");
  EXPECT_EQ(Shown("a = 1\n\na = 2"), "line 3: 'a' comes for the second time");
}

TEST(ConfigFile, AFileThatIsNotThereIsNamed) {
  const auto lines = ReadConfigFile("/no/such/file");
  ASSERT_FALSE(lines.ok());
  EXPECT_EQ(lines.status().message(), "cannot read /no/such/file: No such file or directory");
}

}  // namespace armature::daemon::config_file_test
