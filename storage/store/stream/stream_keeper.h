#ifndef ARMATURE_STORAGE_STORE_STREAM_STREAM_KEEPER_H_
#define ARMATURE_STORAGE_STORE_STREAM_STREAM_KEEPER_H_

// The thread that begins and trims the segments of the streams.

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/worker.h"
#include "storage/store/options.h"
#include "storage/store/stream/stream_log.h"

namespace armature::store {

// A segment lasts a sixth of the retention, or until it has a sixteenth of `bytes_max`. It is trimmed when it has ended
// for longer than the retention, or, with a warning, when all segments together exceed `bytes_max`.
//
// Thread-safety: thread-safe.
class StreamKeeper {
 public:
  static constexpr int64_t kSegmentsPerRetention = 6;
  static constexpr uint64_t kSegmentsPerSpace = 16;

  // `log` must outlive the keeper. `unix_ms`: wall clock; null: the system's.
  StreamKeeper(StreamLog* log, const StreamOptions& options, std::function<int64_t()> unix_ms = nullptr);
  ~StreamKeeper();
  StreamKeeper(const StreamKeeper&) = delete;
  StreamKeeper& operator=(const StreamKeeper&) = delete;

  // Does the work that is due. Called by the thread every second and when the streams have grown, and by tests.
  absl::Status RunOnce();

  const StreamOptions& options() const { return options_; }
  // Number of segments that were trimmed before their time, since the start.
  uint64_t trimmed_early() const { return trimmed_early_.load(std::memory_order_relaxed); }

 private:
  Worker::Next Work();
  absl::Status TrimOld(int64_t now_ms);
  absl::Status TrimToSpace();
  absl::Status RemoveOldStreams(int64_t now_ms);

  StreamLog* const log_;
  const StreamOptions options_;
  const std::function<int64_t()> unix_ms_;
  std::atomic<uint64_t> trimmed_early_ = 0;
  absl::Mutex run_mutex_;  // one RunOnce at a time
  Worker worker_{"arm-streams", [this] { return Work(); }};
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_STREAM_STREAM_KEEPER_H_
