#include "daemon/flags.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

struct FlagOfGroup {
  std::string_view name;
  std::string_view unit;  // stands for the value; empty for a flag that is on or off
};

struct FlagGroup {
  std::string_view title;
  std::vector<FlagOfGroup> flags;
};

const std::vector<FlagGroup>& Groups() {
  static const auto& groups = *new std::vector<FlagGroup>{
      {"Data", {{"data_dir", "DIRECTORY"}, {"durability", "MODE"}, {"disk_reserve", "BYTES|PERCENT%|auto"}}},
      {"Data in Ceph RADOS",
       {{"store", "rados://POOL/NAMESPACE"},
        {"rados_conf", "FILE"},
        {"rados_user", "NAME"},
        {"lease_seconds", "SECONDS"},
        {"rados_timeout_seconds", "SECONDS"},
        {"sst_cache_dir", "DIRECTORY"},
        {"sst_cache_mb", "MIB"},
        {"advertise", "HOST"},
        {"forward", ""}}},
      {"Addresses",
       {{"listen", "ADDRESS"},
        {"grpc_listen", "ADDRESS|off"},
        {"http_listen", "ADDRESS|off"},
        {"metrics_listen", "ADDRESS|off"}}},
      {"Security",
       {{"credentials_file", "FILE"},
        {"tls_cert", "FILE"},
        {"tls_key", "FILE"},
        {"tls_client_ca", "FILE"},
        {"audit_log", "FILE"},
        {"http_hosts", "NAMES"},
        {"cors_origins", "ORIGINS"},
        {"insecure", ""}}},
      {"Resources",
       {{"cache_mb", "MIB"},
        {"memtables_mb", "MIB"},
        {"wal_max_mb", "MIB"},
        {"background_threads", "COUNT"},
        {"read_threads", "COUNT"},
        {"applier_threads", "COUNT"},
        {"connections_max", "COUNT"},
        {"connections_per_address_max", "COUNT"},
        {"connection_max_age", "DURATION"},
        {"request_memory_mb", "MIB"},
        {"column_families_max", "COUNT"},
        {"item_collection_mb_max", "MIB"},
        {"stream_retention", "DURATION"},
        {"stream_mb_max", "MIB"},
        {"stream_shards", "COUNT"},
        {"watch_max", "WATCHES"},
        {"ttl_interval", "DURATION"}}},
      {"Waiting and throttling",
       {{"gsi_backlog_max", "CHANGES"},
        {"gsi_backlog_mb_max", "MIB"},
        {"transaction_wait", "DURATION"},
        {"describe_wait", "DURATION"},
        {"table_wait", "DURATION"},
        {"index_updates", "MODE"},
        {"index_reads", "MODE"},
        {"index_read_wait", "DURATION"},
        {"enforce_throughput", ""}}},
      {"Backups",
       {{"backup_dir", "DIRECTORY"},
        {"backup_interval", "DURATION"},
        {"backup_keep", "COUNT"},
        {"backup_mb_per_second", "MIB_PER_SECOND"}}},
      {"Exports and imports", {{"export_dir", "DIRECTORY"}, {"import_dir", "DIRECTORY"}}},
      {"Service", {{"slow_request_ms", "MILLISECONDS"}, {"drain_seconds", "SECONDS"}}},
      {"Configuration", {{"config", "FILE"}, {"print_config", ""}, {"print_metrics_doc", ""}}},
  };
  return groups;
}

// Lines of at most `columns` characters, each behind `indent`.
std::string Wrapped(std::string_view text, std::string_view indent, size_t columns) {
  std::string lines;
  std::string line;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(Av(text), ' ', absl::SkipEmpty()))) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > columns) {
      lines += Cat(indent, line, "\n");
      line.clear();
    }
    line += Cat(line.empty() ? "" : " ", word);
  }
  return line.empty() ? lines : Cat(lines, indent, line, "\n");
}

std::string Entry(const FlagOfGroup& flag, const FlagText& text) {
  constexpr size_t kColumns = 100;
  std::string head = Cat("  --", flag.name);
  if (!flag.unit.empty()) head += Cat("=", flag.unit);
  if (!text.default_value.empty()) head += Cat("  (default ", text.default_value, ")");
  return Cat(head, "\n", Wrapped(text.help, "      ", kColumns));
}

constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";

std::string_view Strip(std::string_view text) { return Sv(absl::StripAsciiWhitespace(Av(text))); }

absl::Status LineError(int number, std::string_view what) {
  return absl::InvalidArgumentError(Cat("line ", number, ": ", what));
}

}  // namespace

std::string FlagHelp(const std::map<std::string, FlagText>& flags) {
  std::map<std::string, FlagText> rest = flags;
  std::string help;
  for (const FlagGroup& group : Groups()) {
    std::string entries;
    for (const FlagOfGroup& flag : group.flags) {
      const auto text = rest.find(std::string(flag.name));
      if (text == rest.end()) continue;
      entries += Entry(flag, text->second);
      rest.erase(text);
    }
    if (!entries.empty()) help += Cat("\n", group.title, ":\n", entries);
  }
  if (!rest.empty()) help += "\nOthers:\n";
  for (const auto& [name, text] : rest) help += Entry({name, ""}, text);
  return help;
}

absl::StatusOr<std::vector<ConfigLine>> ParseConfigText(std::string_view text) {
  std::vector<ConfigLine> lines;
  std::set<std::string, std::less<>> names;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Strip(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return LineError(number, "expected 'name = value'");
    const std::string_view name = Strip(line.substr(0, equals));
    if (name.empty() || name.find_first_not_of(kNameLetters) != std::string_view::npos) {
      return LineError(number, Cat("'", name, "' is not the name of a flag; write it without dashes"));
    }
    if (!names.emplace(name).second) return LineError(number, Cat("'", name, "' comes for the second time"));
    lines.push_back({std::string(name), std::string(Strip(line.substr(equals + 1))), number});
  }
  return lines;
}

absl::StatusOr<std::vector<ConfigLine>> ReadConfigFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file is valid, although it sets the failure bit.
  if (!file.is_open() || (!(text << file.rdbuf()) && file.bad())) {
    return absl::InvalidArgumentError(Cat("cannot read ", path, ": ", std::strerror(errno)));
  }
  absl::StatusOr<std::vector<ConfigLine>> lines = ParseConfigText(text.str());
  if (!lines.ok()) return absl::InvalidArgumentError(Cat(path, ": ", Sv(lines.status().message())));
  return lines;
}

}  // namespace armature::daemon
