#include "tools/armature/offline_engine.h"

#include <sys/resource.h>

#include <utility>

#include "absl/synchronization/notification.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "tools/armature/data_place.h"
#include "tools/armature/session.h"

namespace armature::cli {

void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<std::unique_ptr<OfflineEngine>> OfflineEngine::Open(const std::string& data_dir) {
  // The log lines would disturb the output of the command.
  FLAGS_minloglevel = google::GLOG_ERROR;
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<place::Place> place, OpenDataPlace(data_dir));
  // Opening a missing database would create it.
  const absl::StatusOr<bool> is_there = store::HoldsDatabase(place->volume(), place->data_dir());
  if (!is_there.ok()) return UsageError(Sv(is_there.status().message()));
  if (!*is_there) return UsageError(Cat(data_dir, " holds no database of Armature"));
  RaiseDescriptorLimit();
  store::RestrictNewFiles();
  store::DatabaseOptions options;
  options.volume = place->volume();
  options.path = place->data_dir();
  absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
  if (!database.ok()) return UsageError(Cat("cannot open ", data_dir, ": ", Sv(database.status().message())));
  return std::unique_ptr<OfflineEngine>(new OfflineEngine(std::move(place), *std::move(database)));
}

absl::StatusOr<engine::VerifyTableResult> OfflineEngine::Verify(const engine::VerifyTableRequest& request) {
  absl::Notification done;
  absl::StatusOr<engine::VerifyTableResult> result = absl::InternalError("no answer");
  engine_.VerifyTable(request, [&](absl::StatusOr<engine::VerifyTableResult> answer) {
    result = std::move(answer);
    done.Notify();
  });
  done.WaitForNotification();
  return result;
}

}  // namespace armature::cli
