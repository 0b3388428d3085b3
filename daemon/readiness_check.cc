#include "daemon/readiness_check.h"

#include <optional>

#include "storage/store/database.h"

namespace armature::daemon {

Readiness ReadinessCheck::Now() const {
  if (stopping_) return {.is_ready = false, .text = "stopping"};
  // Another daemon may be ready.
  if (const std::optional<rados::VolumeStats> stats = place_->stats(); stats.has_value() && stats->lease_left_s <= 0) {
    return {.is_ready = false, .text = "the lease of the database is uncertain"};
  }
  const bool is_read_only = engine_->database()->disk_report().is_read_only();
  return {.is_ready = true, .text = is_read_only ? "ready, read-only" : "ready"};
}

}  // namespace armature::daemon
