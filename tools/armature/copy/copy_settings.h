#ifndef ARMATURE_TOOLS_ARMATURE_COPY_COPY_SETTINGS_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_COPY_SETTINGS_H_

// Settings and surroundings that the parts of a copy share.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tools/armature/copy/rate_limit.h"
#include "tools/armature/copy/remote.h"
#include "tools/armature/copy/stop_signal.h"
#include "tools/armature/copy/value_hash.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {

struct CopySettings {
  size_t segments = 8;       // of each table, and threads
  double rate = 0;           // items per second that are written; 0: no limit
  double read_share = 0;     // percent of the provisioned read capacity; 0: no limit
  bool is_eventual = false;  // reads need not be consistent
  bool into_existing = false;
  bool enable_stream = false;
  bool follow = false;
  std::optional<double> until_lag{};  // seconds; a follow ends at this lag
  bool mend = false;
  int64_t differences_max = 100;
};

// Lifetime: all members outlive it.
struct CopySides {
  const Session& session;
  Remote& source;
  Remote& target;
  const ValueHash& hash;
  StopSignal& stop;
  RateLimit& write_rate;
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_COPY_SETTINGS_H_
