#include "tools/armature/offline_engine.h"

#include <sys/resource.h>

#include <utility>

#include "absl/synchronization/notification.h"
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
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<place::Place> place, OpenDataPlace(data_dir));
  // Opening a missing database would create it.
  const absl::Status is_there = store::CheckHoldsDatabase(place->volume(), place->data_dir());
  if (!is_there.ok()) return PlaceError(data_dir, is_there);
  RaiseDescriptorLimit();
  store::RestrictNewFiles();
  store::DatabaseOptions options;
  options.volume = place->volume();
  options.path = place->data_dir();
  absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
  if (!database.ok()) return PlaceError(data_dir, WithContext(database.status(), Cat("cannot open ", data_dir)));
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
