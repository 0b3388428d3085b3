#include "daemon/flag_forms.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "daemon/http/site_rules.h"
#include "daemon/net/listening_socket.h"
#include "storage/base/strings.h"
#include "storage/model/table_settings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kInterval = "interval:";
constexpr int64_t kSyncIntervalMaxMs = 60'000;

bool SetDurability(std::string_view text, Config* config) {
  store::DatabaseOptions& options = config->database;
  if (text == "sync" || text == "os") {
    options.durability = text == "os" ? store::Durability::kOs : store::Durability::kSync;
    return true;
  }
  if (!text.starts_with(kInterval)) return false;
  const std::optional<int64_t> time = ParseTime(text.substr(kInterval.size()), kMillisecond);
  if (!time.has_value() || *time % kMillisecond != 0) return false;
  options.durability = store::Durability::kInterval;
  options.sync_interval_ms = *time / kMillisecond;
  return options.sync_interval_ms >= 1 && options.sync_interval_ms <= kSyncIntervalMaxMs;
}

std::string DurabilityText(const Config& config) {
  switch (config.database.durability) {
    case store::Durability::kSync:
      return "sync";
    case store::Durability::kOs:
      return "os";
    case store::Durability::kInterval:
      break;
  }
  return Cat(kInterval, config.database.sync_interval_ms);
}

// An absolute number, or a share of the disk, or the smaller of both.
constexpr store::DiskReserve kAutoReserve = {.bytes = uint64_t{1} << 30, .percent = 5};
constexpr uint32_t kReservePercentMax = 50;

bool SetDiskReserve(std::string_view text, Config* config) {
  store::DiskReserve& reserve = config->database.disk_reserve;
  if (text == "auto") {
    reserve = kAutoReserve;
    return true;
  }
  if (text.ends_with('%')) {
    reserve = {.bytes = UINT64_MAX, .percent = 0};
    const char* const end = text.data() + text.size() - 1;
    const auto [rest, error] = std::from_chars(text.data(), end, reserve.percent);
    return error == std::errc() && rest == end && reserve.percent <= kReservePercentMax;
  }
  const std::optional<int64_t> bytes = ParseSize(text, 1);
  if (!bytes.has_value() || *bytes < 0 || *bytes == std::numeric_limits<int64_t>::max()) return false;
  reserve = {.bytes = static_cast<uint64_t>(*bytes), .percent = 100};
  return true;
}

std::string DiskReserveText(const Config& config) {
  const store::DiskReserve& reserve = config.database.disk_reserve;
  if (reserve.bytes == kAutoReserve.bytes && reserve.percent == kAutoReserve.percent) return "auto";
  return reserve.bytes == UINT64_MAX ? Cat(reserve.percent, "%") : SizeText(reserve.bytes);
}

bool SetIndexUpdates(std::string_view text, Config* config) {
  config->database.index_updates = text == "logged" ? store::IndexUpdates::kLogged : store::IndexUpdates::kWithItem;
  return text == "logged" || text == "with_item";
}

std::string IndexUpdatesText(const Config& config) {
  return config.database.index_updates == store::IndexUpdates::kLogged ? "logged" : "with_item";
}

bool SetIndexReads(std::string_view text, Config* config) {
  config->settles_index_reads = text == "settled";
  return text == "settled" || text == "eventual";
}

std::string IndexReadsText(const Config& config) { return config.settles_index_reads ? "settled" : "eventual"; }

// Reads a list separated by commas.
bool SetList(std::string_view text, std::optional<std::string> (*parse)(std::string_view),
             std::vector<std::string>* list) {
  list->clear();
  for (const std::string& entry : std::vector<std::string>(absl::StrSplit(Av(text), ',', absl::SkipWhitespace()))) {
    std::optional<std::string> parsed = parse(Sv(absl::StripAsciiWhitespace(entry)));
    if (!parsed.has_value()) return false;
    list->push_back(*std::move(parsed));
  }
  return true;
}

bool SetHttpHosts(std::string_view text, Config* config) { return SetList(text, ParseHostName, &config->http_hosts); }

std::string HttpHostsText(const Config& config) { return absl::StrJoin(config.http_hosts, ","); }

bool SetCorsOrigins(std::string_view text, Config* config) { return SetList(text, ParseOrigin, &config->cors_origins); }

std::string CorsOriginsText(const Config& config) { return absl::StrJoin(config.cors_origins, ","); }

struct ConsoleName {
  std::string_view name;
  ConsoleMode mode = ConsoleMode::kAuto;
};
constexpr ConsoleName kConsoleNames[] = {{"auto", ConsoleMode::kAuto},
                                         {"on", ConsoleMode::kOn},
                                         {"off", ConsoleMode::kOff},
                                         {"read-only", ConsoleMode::kReadOnly}};

bool SetConsole(std::string_view text, Config* config) {
  const auto* const found =
      std::find_if(std::begin(kConsoleNames), std::end(kConsoleNames), [&](auto& each) { return each.name == text; });
  if (found == std::end(kConsoleNames)) return false;
  config->console = found->mode;
  return true;
}

std::string ConsoleText(const Config& config) {
  const auto* const found = std::find_if(std::begin(kConsoleNames), std::end(kConsoleNames),
                                         [&](auto& each) { return each.mode == config.console; });
  return std::string(found->name);
}

bool SetStreamShards(std::string_view text, Config* config) {
  uint32_t& shards = config->database.streams.shards;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), shards);
  return error == std::errc() && rest == text.data() + text.size() && model::IsShardCount(shards);
}

std::string StreamShardsText(const Config& config) { return std::to_string(config.database.streams.shards); }

// The levels that may be asked for, in their order.
constexpr std::string_view kLogLevels[] = {"info", "warning", "error"};

bool SetLogLevel(std::string_view text, Config* config) {
  const auto* const found = std::find(std::begin(kLogLevels), std::end(kLogLevels), text);
  if (found == std::end(kLogLevels)) return false;
  config->log.level = static_cast<LogLevel>(found - std::begin(kLogLevels));
  return true;
}

std::string LogLevelText(const Config& config) {
  return std::string(kLogLevels[static_cast<size_t>(config.log.level)]);
}

bool SetLogFormat(std::string_view text, Config* config) {
  config->log.format = text == "json" ? LogFormat::kJson : LogFormat::kText;
  return text == "json" || text == "text";
}

std::string LogFormatText(const Config& config) { return config.log.format == LogFormat::kJson ? "json" : "text"; }

bool HasPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  uint32_t port = 0;
  const std::string_view digits = address.substr(colon + 1);
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc() && rest == digits.data() + digits.size() && port <= 65'535;
}

}  // namespace

bool IsSocketOrOff(std::string_view text) { return text.starts_with(kUnixPrefix) || IsAddressOrOff(text); }
bool IsAddressOrOff(std::string_view text) { return text == kOff || HasPort(text); }
bool IsAddressOrEmpty(std::string_view text) { return text.empty() || HasPort(text); }
bool IsHostOrEmpty(std::string_view text) { return text.empty() || ParseHostName(text).has_value(); }
bool IsPathOrEmpty(std::string_view text) { return text.empty() || text.front() == '/'; }

const Form kDurabilityForm = {SetDurability, DurabilityText,
                              "must be sync, os, or interval:<1 to 60000 milliseconds, or a time such as 2s>"};
const Form kDiskReserveForm = {SetDiskReserve, DiskReserveText,
                               "must be auto, a percentage from 0% to 50%, or bytes such as 500M or 2G"};
const Form kIndexUpdatesForm = {SetIndexUpdates, IndexUpdatesText, "must be with_item or logged"};
const Form kIndexReadsForm = {SetIndexReads, IndexReadsText, "must be eventual or settled"};
const Form kHttpHostsForm = {SetHttpHosts, HttpHostsText, "must be host names without ports, separated by commas"};
const Form kCorsOriginsForm = {
    SetCorsOrigins, CorsOriginsText,
    "must be origins of web pages, such as https://app.example.org:8443, separated by commas"};
const Form kConsoleForm = {SetConsole, ConsoleText, "must be auto, on, off or read-only"};
const Form kStreamShardsForm = {SetStreamShards, StreamShardsText, "must be 1, 2, 4, 8, 16, 32 or 64"};
const Form kLogLevelForm = {SetLogLevel, LogLevelText, "must be info, warning or error"};
const Form kLogFormatForm = {SetLogFormat, LogFormatText, "must be text or json"};

}  // namespace armature::daemon
