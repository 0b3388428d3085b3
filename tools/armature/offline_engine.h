#ifndef ARMATURE_TOOLS_ARMATURE_OFFLINE_ENGINE_H_
#define ARMATURE_TOOLS_ARMATURE_OFFLINE_ENGINE_H_

// Opens a data directory without a daemon.

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/check/index_check.h"
#include "engine/engine.h"
#include "storage/place/place.h"
#include "storage/store/database.h"

namespace armature::cli {

// Raises the limit of open files to its maximum, because the database keeps its files open.
void RaiseDescriptorLimit();

// The daemon's engine in this process. Like a start of the daemon, opening recovers the database after a crash and
// continues its background work.
//
// Thread-safety: thread-compatible.
class OfflineEngine {
 public:
  // Errors: UsageError for a directory without a database, or with a running daemon; DataLoss.
  static absl::StatusOr<std::unique_ptr<OfflineEngine>> Open(const std::string& data_dir);
  OfflineEngine(const OfflineEngine&) = delete;
  OfflineEngine& operator=(const OfflineEngine&) = delete;

  store::Database* database() { return database_.get(); }
  // VerifyTable of the admin service.
  absl::StatusOr<engine::VerifyTableResult> Verify(const engine::VerifyTableRequest& request);

 private:
  OfflineEngine(std::unique_ptr<place::Place> place, std::unique_ptr<store::Database> database)
      : place_(std::move(place)), database_(std::move(database)), engine_(database_.get(), engine::EngineOptions()) {}

  const std::unique_ptr<place::Place> place_;
  const std::unique_ptr<store::Database> database_;
  engine::Engine engine_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_OFFLINE_ENGINE_H_
