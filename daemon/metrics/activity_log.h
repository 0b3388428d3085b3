#ifndef ARMATURE_DAEMON_METRICS_ACTIVITY_LOG_H_
#define ARMATURE_DAEMON_METRICS_ACTIVITY_LOG_H_

// The last hour of the daemon's load, for the plots of the web console.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/metrics/metrics_front.h"
#include "daemon/telemetry/request_stats.h"
#include "storage/base/time_histogram.h"
#include "storage/base/worker.h"

namespace armature::daemon {

// State of the daemon at one time.
struct ActivityLevels {
  double lag_s = 0;      // age of the oldest change that a global index has not applied
  uint64_t backlog = 0;  // changes that global indexes have not applied
  uint64_t disk_bytes = 0;
  uint64_t disk_free_bytes = 0;
  uint64_t file_bytes = 0;  // of tables
  uint64_t memory_bytes = 0;
  uint64_t cache_bytes = 0;
  double processor_s = 0;  // used since the start of the process
};

// Reads them from the parts of the daemon.
ActivityLevels ReadActivityLevels(const MetricsSources& sources);

// The duration below which `part` (0 to 1) of the counted ones lie, in seconds, linear within a bucket; the last bound
// for longer ones. Zero without any.
double QuantileOf(const TimeHistogram::Counts& counts, double part);

// Samples of one interval each. They take at most kBytesMax; the oldest go first.
//
// Thread-safety: Json is thread-safe; the rest belongs to one thread. Lifetime: `requests`, and what `levels` reads,
// outlive it, or its Stop.
class ActivityLog {
 public:
  static constexpr absl::Duration kInterval = absl::Seconds(10);
  static constexpr absl::Duration kFirstInterval = absl::Seconds(1);  // a plot should not begin empty
  static constexpr size_t kSamplesMax = 360;
  static constexpr size_t kBytesMax = size_t{1} << 20;

  ActivityLog(const RequestStats* requests, std::function<ActivityLevels()> levels);

  // Records a sample after each interval, on a thread of its own, until Stop.
  void Start();
  void Stop() { worker_.Stop(); }

  // Records the interval since the last call. The first call begins the first interval. `mono_ns`: of MonotonicNs.
  void Record(absl::Time now, int64_t mono_ns);

  // The samples from the oldest on, as an array of objects as console/src/lib/metrics.mjs makes them.
  std::string Json() const;

 private:
  struct Counts {
    uint64_t finished = 0;
    uint64_t errors = 0;
    TimeHistogram::Counts times;
  };
  using Reading = std::array<Counts, kOperationCount>;

  Reading Read() const;

  const RequestStats* const requests_;
  const std::function<ActivityLevels()> levels_;
  Reading last_ = {};
  ActivityLevels last_levels_;
  int64_t last_ns_ = 0;  // 0: there is none
  bool has_samples_ = false;
  mutable absl::Mutex mutex_;
  std::deque<std::string> samples_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  Worker worker_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_METRICS_ACTIVITY_LOG_H_
