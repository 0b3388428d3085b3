#ifndef ARMATURE_TOOLS_ARMATURE_OFFLINE_ENGINE_H_
#define ARMATURE_TOOLS_ARMATURE_OFFLINE_ENGINE_H_

// A data directory without its daemon.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/check/index_check.h"

namespace armature::store {
class Database;
}  // namespace armature::store

namespace armature::cli {

// The engine of the daemon in this process. As a start of the daemon would, it recovers what a kill has left and goes
// on with what was under way.
//
// Thread-safety: thread-compatible.
class OfflineEngine {
 public:
  // Errors: usage errors for a directory that holds no database, or whose daemon runs; DataLoss.
  static absl::StatusOr<std::unique_ptr<OfflineEngine>> Open(const std::string& data_dir);
  ~OfflineEngine();
  OfflineEngine(const OfflineEngine&) = delete;
  OfflineEngine& operator=(const OfflineEngine&) = delete;

  // All tables, by name.
  std::vector<std::string> TableNames() const;
  store::Database* database();
  // As the admin service does.
  absl::StatusOr<engine::VerifyTableResult> Verify(const engine::VerifyTableRequest& request);

 private:
  struct Impl;
  explicit OfflineEngine(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_OFFLINE_ENGINE_H_
