#ifndef ARMATURE_ENGINE_LIVE_OPTIONS_H_
#define ARMATURE_ENGINE_LIVE_OPTIONS_H_

// The options of an engine that may change while it serves.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "engine/engine.h"

namespace armature::engine {

// EngineOptions describes the members. A change holds for requests, and for turns of background work, that begin after
// it.
//
// Thread-safety: thread-safe.
class LiveOptions {
 public:
  explicit LiveOptions(const EngineOptions& options) { Take(options); }

  // Takes the members of `options` that may change, and ignores the others.
  void Take(const EngineOptions& options) {
    gsi_backlog_records_max_ = options.gsi_backlog_records_max;
    gsi_backlog_bytes_max_ = options.gsi_backlog_bytes_max;
    enforce_throughput_ = options.enforce_throughput;
    describe_wait_ns_ = absl::ToInt64Nanoseconds(options.describe_wait);
    table_wait_ns_ = absl::ToInt64Nanoseconds(options.table_wait);
    expiry_interval_ns_ = absl::ToInt64Nanoseconds(options.expiry_interval);
    watches_max_ = options.watches_max;
  }

  uint64_t gsi_backlog_records_max() const { return gsi_backlog_records_max_.load(std::memory_order_relaxed); }
  uint64_t gsi_backlog_bytes_max() const { return gsi_backlog_bytes_max_.load(std::memory_order_relaxed); }
  bool enforce_throughput() const { return enforce_throughput_.load(std::memory_order_relaxed); }
  absl::Duration describe_wait() const { return DurationOf(describe_wait_ns_); }
  absl::Duration table_wait() const { return DurationOf(table_wait_ns_); }
  absl::Duration expiry_interval() const { return DurationOf(expiry_interval_ns_); }
  size_t watches_max() const { return watches_max_.load(std::memory_order_relaxed); }

 private:
  static absl::Duration DurationOf(const std::atomic<int64_t>& ns) {
    return absl::Nanoseconds(ns.load(std::memory_order_relaxed));
  }

  std::atomic<uint64_t> gsi_backlog_records_max_;
  std::atomic<uint64_t> gsi_backlog_bytes_max_;
  std::atomic<bool> enforce_throughput_;
  std::atomic<int64_t> describe_wait_ns_;
  std::atomic<int64_t> table_wait_ns_;
  std::atomic<int64_t> expiry_interval_ns_;
  std::atomic<size_t> watches_max_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_LIVE_OPTIONS_H_
