#ifndef ARMATURE_ENGINE_REQUEST_TRACE_H_
#define ARMATURE_ENGINE_REQUEST_TRACE_H_

// Records what a request works on and where it spends its time.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/time_histogram.h"

namespace armature::engine {

// Kinds of waits. Batches and transactions add up the waits of their members, so the sum may exceed the duration of the
// request.
enum class WaitFor : uint8_t {
  kQueue,   // for a thread of a pool
  kLock,    // for a row lock
  kRead,    // for reads of rows
  kCommit,  // for the commit of its writes, including the fsync
  kIndex,   // for a global index to reach the requested sequence
};
inline constexpr size_t kWaitCount = 5;

// Thread-safety: thread-safe. Lifetime: shared by the front end and the operation.
class RequestTrace {
 public:
  // `is_timed`: its waits are measured, which costs two reads of the clock for each.
  explicit RequestTrace(bool is_timed) : is_timed_(is_timed) {}

  // Starts a wait. The result is to be passed to End. Cheap for a request whose waits are not measured.
  static int64_t Begin(const std::shared_ptr<RequestTrace>& trace) {
    return trace == nullptr || !trace->is_timed_ ? 0 : MonotonicNs();
  }
  static void End(const std::shared_ptr<RequestTrace>& trace, WaitFor what, int64_t begin_ns) {
    if (begin_ns == 0) return;
    trace->waits_ns_[static_cast<size_t>(what)].fetch_add(MonotonicNs() - begin_ns, std::memory_order_relaxed);
  }

  // The table, or the last one, that the request names: a text of the client, unchecked.
  void set_table(std::string_view table) {
    const absl::MutexLock lock(&mutex_);
    table_.assign(table.substr(0, kTableBytesMax + 1));
  }
  // The name or ARN; "?" for what is none, since it goes into log lines; empty if the request names no table.
  std::string table() const {
    const absl::MutexLock lock(&mutex_);
    return IsName(table_) ? table_ : "?";
  }

  // For another request. Nobody else may hold the trace.
  void Restart(bool is_timed) {
    is_timed_ = is_timed;
    const absl::MutexLock lock(&mutex_);
    table_.clear();
    for (std::atomic<int64_t>& each : waits_ns_) each.store(0, std::memory_order_relaxed);
  }

  bool is_timed() const { return is_timed_; }
  int64_t wait_ns(WaitFor what) const { return waits_ns_[static_cast<size_t>(what)].load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kTableBytesMax = 512;

  static bool IsName(std::string_view text) {
    return text.size() <= kTableBytesMax &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  }

  bool is_timed_;
  mutable absl::Mutex mutex_;
  std::string table_ ABSL_GUARDED_BY(mutex_);
  std::array<std::atomic<int64_t>, kWaitCount> waits_ns_ = {};
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_REQUEST_TRACE_H_
