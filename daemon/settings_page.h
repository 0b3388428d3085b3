#ifndef ARMATURE_DAEMON_SETTINGS_PAGE_H_
#define ARMATURE_DAEMON_SETTINGS_PAGE_H_

// The daemon's settings with their sources, for the web console.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/config.h"
#include "storage/place/place.h"

namespace armature::daemon {

// True for flags whose value nobody may read, by their names: those of passwords, secrets and tokens. A flag that names
// a file with a secret is none.
bool IsSecretFlag(std::string_view name);

// The configuration that a daemon has now. Thread-safety: thread-safe.
class PresentConfig {
 public:
  void Use(const Config& config) {
    auto copy = std::make_shared<const Config>(config);
    const absl::MutexLock lock(&mutex_);
    config_ = std::move(copy);
  }
  // Null before the first Use.
  std::shared_ptr<const Config> Get() const {
    const absl::MutexLock lock(&mutex_);
    return config_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Config> config_ ABSL_GUARDED_BY(mutex_);
};

// {"Version", "Place", "Config": path, "Flags": [{"Name", "Group", "Value", "Source": "flag" | "file" | "default",
// "Line", "Default", "InEffect", "Help"}], "Owner"}. "Line" is that of the file of flags. "InEffect" is the value that
// MakeConfig has put in place of one that was not given; absent if there is none. "Owner" is there for a database in
// RADOS: {"Epoch", "LeaseLeftSeconds", "Service", "Objects", "LostObjects", "FileBytes"}. Secrets are left out.
//
// `config`: as MakeConfig returned it. `place`: of the database. `service`: where other daemons find this one.
std::string SettingsJson(const Config& config, const place::Place& place, std::string_view service);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_SETTINGS_PAGE_H_
