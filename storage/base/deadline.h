#ifndef ARMATURE_STORAGE_BASE_DEADLINE_H_
#define ARMATURE_STORAGE_BASE_DEADLINE_H_

// The end of a wait.

#include <cstdint>
#include <limits>

#include "absl/time/time.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/time_histogram.h"

namespace armature {

// A moment of MonotonicNs. It comes when the time has passed, also when the system's clock is set meanwhile.
class Deadline {
 public:
  // A deadline that never comes.
  constexpr Deadline() = default;
  static constexpr Deadline Never() { return {}; }
  static constexpr Deadline Passed() { return Deadline(std::numeric_limits<int64_t>::min()); }
  // `ns`: in MonotonicNs.
  static constexpr Deadline At(int64_t ns) { return Deadline(ns); }
  static Deadline After(absl::Duration time) { return Deadline(MonotonicAfter(time)); }

  bool has_passed() const { return ns_ != kMonotonicNever && MonotonicNs() >= ns_; }
  // The time until the deadline: negative if it has passed, InfiniteDuration if it never comes.
  absl::Duration left() const {
    if (ns_ == kMonotonicNever) return absl::InfiniteDuration();
    return absl::Nanoseconds(ns_) - absl::Nanoseconds(MonotonicNs());
  }
  // The deadline in MonotonicNs; kMonotonicNever if it never comes.
  int64_t ns() const { return ns_; }

  friend bool operator<(const Deadline& a, const Deadline& b) { return a.ns_ < b.ns_; }

 private:
  explicit constexpr Deadline(int64_t ns) : ns_(ns) {}
  int64_t ns_ = kMonotonicNever;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_DEADLINE_H_
