#include "daemon/flag_help.h"

#include <string_view>

#include "absl/strings/str_split.h"
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
      {"Addresses",
       {{"grpc_listen", "ADDRESS|off"}, {"http_listen", "ADDRESS|off"}, {"metrics_listen", "ADDRESS|off"}}},
      {"Security",
       {{"credentials_file", "FILE"},
        {"tls_cert", "FILE"},
        {"tls_key", "FILE"},
        {"tls_client_ca", "FILE"},
        {"audit_log", "FILE"},
        {"insecure", ""}}},
      {"Resources",
       {{"cache_mb", "MIB"},
        {"read_threads", "COUNT"},
        {"column_families_max", "COUNT"},
        {"item_collection_mb_max", "MIB"}}},
      {"Waiting and throttling",
       {{"gsi_backlog_max", "CHANGES"},
        {"gsi_backlog_mb_max", "MIB"},
        {"transaction_wait", "DURATION"},
        {"enforce_throughput", ""}}},
      {"Backups",
       {{"backup_dir", "DIRECTORY"},
        {"backup_interval", "DURATION"},
        {"backup_keep", "COUNT"},
        {"backup_mb_per_second", "MIB_PER_SECOND"}}},
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

}  // namespace armature::daemon
