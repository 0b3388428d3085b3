#ifndef ARMATURE_DAEMON_READINESS_CHECK_H_
#define ARMATURE_DAEMON_READINESS_CHECK_H_

// State of a daemon that serves, for /readyz.

#include <atomic>

#include "daemon/http/readiness.h"
#include "engine/engine.h"
#include "storage/place/place.h"

namespace armature::daemon {

// Not ready from the begin of the end on, and while another daemon may own the database. Ready, with a note, while
// writes are refused, because reads still work.
//
// Thread-safety: thread-safe. Lifetime: engine and place outlive it.
class ReadinessCheck {
 public:
  ReadinessCheck(engine::Engine* engine, const place::Place* place) : engine_(engine), place_(place) {}

  Readiness Now() const;
  void SetStopping() { stopping_ = true; }

 private:
  engine::Engine* const engine_;
  const place::Place* const place_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_READINESS_CHECK_H_
