#ifndef ARMATURE_DAEMON_LIVE_SETTINGS_H_
#define ARMATURE_DAEMON_LIVE_SETTINGS_H_

// Settings that change while the daemon serves: the rows of the flag table with `is_live`.

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/config.h"

namespace armature::archive {
class Shipper;
}
namespace armature::store {
class Database;
}

namespace armature::daemon {

class ConnectionLedger;
class RequestStats;

// The configuration of a running daemon, read again on request from its file and its command line.
//
// Thread-safety: owned by one thread.
class LiveSettings {
 public:
  // `arguments`: of the command line, as ReadFlags takes them; the process keeps them. `given`: the flags in force,
  // which MakeConfig has not completed.
  LiveSettings(std::vector<std::string_view> arguments, Config given)
      : arguments_(std::move(arguments)), given_(std::move(given)) {}

  // Reads the flags again, and calls `apply` with the configuration, completed by MakeConfig, if a setting that is live
  // has another value. Then logs each change, and with a warning those that take effect at the next start only. If the
  // file is wrong, or the values do not fit together, all settings stay as they are, with an error in the log.
  void Reread(const std::function<void(const Config& changed)>& apply);

 private:
  std::vector<std::string_view> arguments_;
  Config given_;
};

// The parts of a running daemon that settings reach. `archive` may be null.
struct LiveParts {
  RequestStats* requests;
  ConnectionLedger* connections;
  store::Database* database;
  archive::Shipper* archive;
  engine::Engine* engine;
};

// Applies the settings that are live, but for --drain_seconds, which the caller of Server::Stop has, and --log_level.
// Work that is under way goes on by the old ones. `descriptors`: the limit of open files.
void ApplyLiveSettings(const Config& config, uint64_t descriptors, const LiveParts& parts);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_LIVE_SETTINGS_H_
