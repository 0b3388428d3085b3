#include "daemon/live_settings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/flag_row.h"
#include "daemon/flag_table.h"
#include "daemon/flags.h"
#include "daemon/log_lines.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/engine.h"
#include "glog/logging.h"
#include "storage/archive/shipper.h"
#include "storage/base/strings.h"
#include "storage/store/database.h"

namespace armature::daemon {

void LiveSettings::Reread(const std::function<void(const Config& changed)>& apply) {
  const auto refuse = [](const absl::Status& status) {
    LOG(ERROR) << "server: the settings stay as they are: " << Sv(status.message());
  };
  const absl::StatusOr<Config> read = ReadFlags(arguments_);
  if (!read.ok()) return refuse(read.status());
  Config given = given_;
  std::vector<std::string> changes;
  std::vector<std::string> waiting;
  for (const FlagRow& row : FlagTable()) {
    const std::string before = FlagText(row, given_);
    const std::string after = FlagText(row, *read);
    if (before == after) continue;
    std::string change = Cat("--", row.name, "=", after, " was=", before);
    if (!row.is_live) {
      waiting.push_back(std::move(change));
      continue;
    }
    if (const absl::Status set = SetFlag(row, after, &given); !set.ok()) return refuse(set);
    // Where the value comes from, for those who look at the settings.
    const auto source = read->command_line.given.find(row.name);
    given.command_line.given.erase(std::string(row.name));
    if (source != read->command_line.given.end()) given.command_line.given.insert(*source);
    changes.push_back(std::move(change));
  }
  const absl::StatusOr<Config> completed = MakeConfig(given);
  if (!completed.ok()) return refuse(completed.status());
  if (!changes.empty()) apply(*completed);
  // A change of the level is logged, whichever way it goes.
  SetLogLevel(std::min(given_.log.level, given.log.level));
  for (const std::string& each : changes) LOG(INFO) << "server: setting changed " << each;
  for (const std::string& each : waiting) {
    LOG(WARNING) << "server: a setting takes effect at the next start " << each;
  }
  SetLogLevel(given.log.level);
  given_ = std::move(given);
}

void ApplyLiveSettings(const Config& config, uint64_t descriptors, const LiveParts& parts) {
  constexpr int64_t kNsPerMs = 1'000'000;
  parts.requests->set_slow_ns(config.slow_request_ms * kNsPerMs);
  parts.connections->ChangeLimits(WithinDescriptors(config.connections, descriptors));
  parts.database->ChangeDiskReserve(config.database.disk_reserve);
  parts.database->ChangeCacheBytes(config.database.cache_bytes);
  if (parts.archive != nullptr) parts.archive->ChangeOptions(config.archive);
  parts.engine->ChangeOptions(config.engine);
}

}  // namespace armature::daemon
