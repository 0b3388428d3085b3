#ifndef ARMATURE_ENGINE_REQUEST_TRACE_H_
#define ARMATURE_ENGINE_REQUEST_TRACE_H_

// Where the time of one request went.

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

// What a request waits for. Batches and transactions add up what their members wait, which may be more than the request
// takes.
enum class WaitFor : uint8_t {
  kQueue,   // a thread of the read pool
  kLock,    // the lock of a row
  kRead,    // reading rows
  kCommit,  // the batch of its writes, with the fsync
  kIndex,   // a global index that must get as far as the request demands
};
inline constexpr size_t kWaitCount = 5;

// Thread-safety: thread-safe. Lifetime: shared by who began the request and what carries it out.
class RequestTrace {
 public:
  // Begins a wait; cheap for a request that is not traced. To be handed to End.
  static int64_t Begin(const std::shared_ptr<RequestTrace>& trace) { return trace == nullptr ? 0 : MonotonicNs(); }
  static void End(const std::shared_ptr<RequestTrace>& trace, WaitFor what, int64_t begin_ns) {
    if (trace == nullptr) return;
    trace->waits_ns_[static_cast<size_t>(what)].fetch_add(MonotonicNs() - begin_ns, std::memory_order_relaxed);
  }
  // Before the request is carried out.
  void set_table(std::string_view table) { table_ = IsName(table) ? table : "?"; }
  const std::string& table() const { return table_; }

  int64_t wait_ns(WaitFor what) const { return waits_ns_[static_cast<size_t>(what)].load(std::memory_order_relaxed); }

 private:
  // Of a table or an ARN, judged so early that nobody has looked at it before: it goes into a line of the log.
  static bool IsName(std::string_view text) {
    constexpr size_t kMax = 512;
    return text.size() <= kMax && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  }

  std::string table_;
  std::array<std::atomic<int64_t>, kWaitCount> waits_ns_ = {};
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_REQUEST_TRACE_H_
