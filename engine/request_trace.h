#ifndef ARMATURE_ENGINE_REQUEST_TRACE_H_
#define ARMATURE_ENGINE_REQUEST_TRACE_H_

// Records where a request spends its time.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
  // Starts a wait. The result is to be passed to End. Cheap for a request without trace.
  static int64_t Begin(const std::shared_ptr<RequestTrace>& trace) { return trace == nullptr ? 0 : MonotonicNs(); }
  static void End(const std::shared_ptr<RequestTrace>& trace, WaitFor what, int64_t begin_ns) {
    if (trace == nullptr) return;
    trace->waits_ns_[static_cast<size_t>(what)].fetch_add(MonotonicNs() - begin_ns, std::memory_order_relaxed);
  }
  // Must be called before the operation starts.
  void set_table(std::string_view table) { table_ = IsName(table) ? table : "?"; }
  const std::string& table() const { return table_; }

  int64_t wait_ns(WaitFor what) const { return waits_ns_[static_cast<size_t>(what)].load(std::memory_order_relaxed); }

 private:
  // True for a printable name or ARN. The text comes from the client unchecked, and goes into a log line.
  static bool IsName(std::string_view text) {
    constexpr size_t kMax = 512;
    return text.size() <= kMax && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  }

  std::string table_;
  std::array<std::atomic<int64_t>, kWaitCount> waits_ns_ = {};
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_REQUEST_TRACE_H_
