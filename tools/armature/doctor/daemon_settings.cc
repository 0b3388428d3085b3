#include "tools/armature/doctor/daemon_settings.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;

// A whole number with K, M, G or T, or without one of them in units of `plain`.
std::optional<uint64_t> ParseBytes(std::string_view text, uint64_t plain) {
  constexpr std::string_view kSuffixes = "KMGT";
  uint64_t unit = plain;
  if (!text.empty() && kSuffixes.find(text.back()) != std::string_view::npos) {
    unit = uint64_t{1} << (10 * (kSuffixes.find(text.back()) + 1));
    text.remove_suffix(1);
  }
  uint64_t number = 0;
  if (!absl::SimpleAtoi(Av(text), &number)) return std::nullopt;
  return number * unit;
}

using Lines = std::map<std::string, std::string, std::less<>>;

absl::StatusOr<Lines> ReadLines(std::string_view text) {
  Lines lines;
  int number = 0;
  for (const absl::string_view each : absl::StrSplit(Av(text), '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(each);
    if (line.empty() || line[0] == '#') continue;
    const size_t equals = line.find('=');
    if (equals == absl::string_view::npos) {
      return absl::InvalidArgumentError(Cat("line ", number, ": expected 'name = value'"));
    }
    const std::string name(absl::StripAsciiWhitespace(line.substr(0, equals)));
    if (!lines.emplace(name, absl::StripAsciiWhitespace(line.substr(equals + 1))).second) {
      return absl::InvalidArgumentError(Cat("line ", number, ": '", name, "' is there twice"));
    }
  }
  return lines;
}

void AddListener(std::string_view address, DaemonSettings* settings) {
  if (address.empty() || address == "off" || address.starts_with("unix:") || address.ends_with(":0")) return;
  settings->listen.emplace_back(address);
}

}  // namespace

absl::StatusOr<DaemonSettings> ParseDaemonSettings(std::string_view text) {
  ARM_ASSIGN_OR_RETURN(const Lines lines, ReadLines(text));
  DaemonSettings settings;
  const auto value = [&lines](std::string_view name, std::string initial = "") {
    const auto found = lines.find(name);
    return found == lines.end() ? initial : found->second;
  };
  settings.data_dir = value("data_dir");
  settings.store = value("store");
  settings.tls_cert = value("tls_cert");
  settings.tls_key = value("tls_key");
  settings.tls_client_ca = value("tls_client_ca");
  settings.credentials_file = value("credentials_file");
  settings.backup_dir = value("backup_dir");
  settings.disk_reserve = value("disk_reserve", settings.disk_reserve);
  const std::string one_port = value("listen");
  AddListener(one_port, &settings);
  if (one_port.empty()) {
    AddListener(value("grpc_listen", "127.0.0.1:7700"), &settings);
    AddListener(value("http_listen", "127.0.0.1:7701"), &settings);
  }
  AddListener(value("metrics_listen", "off"), &settings);
  struct Number {
    std::string_view name;
    uint64_t plain;
    uint64_t* bytes;
  };
  const Number numbers[] = {{"cache_mb", kMib, &settings.cache_bytes},
                            {"memtables_mb", kMib, &settings.memtables_bytes},
                            {"request_memory_mb", kMib, &settings.request_memory_bytes},
                            {"column_families_max", 1, &settings.column_families_max}};
  for (const auto& [name, plain, bytes] : numbers) {
    const std::string given = value(name);
    if (given.empty()) continue;
    const std::optional<uint64_t> parsed = ParseBytes(given, plain);
    if (!parsed.has_value()) return absl::InvalidArgumentError(Cat("'", given, "' is no value of ", name));
    *bytes = *parsed;
  }
  return settings;
}

uint64_t DiskReserveBytes(std::string_view disk_reserve, uint64_t disk_bytes) {
  constexpr uint64_t kAutoBytes = uint64_t{1} << 30;
  constexpr uint64_t kAutoPart = 20;
  if (disk_reserve == "auto") return std::min(kAutoBytes, disk_bytes / kAutoPart);
  if (!disk_reserve.ends_with('%')) return ParseBytes(disk_reserve, 1).value_or(0);
  disk_reserve.remove_suffix(1);
  uint64_t percent = 0;
  return absl::SimpleAtoi(Av(disk_reserve), &percent) ? disk_bytes / 100 * percent : 0;
}

}  // namespace armature::cli
