#ifndef ARMATURE_DAEMON_TELEMETRY_RUNNING_REQUESTS_H_
#define ARMATURE_DAEMON_TELEMETRY_RUNNING_REQUESTS_H_

// The requests that run now.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/telemetry/request_facts.h"
#include "engine/request_trace.h"

namespace armature::daemon {

// Each running request has a place, as long as there are some. Places are used again, those of a thread first, so that
// few of them are touched under light load.
//
// Thread-safety: thread-safe. Cost of a request: two atomic changes of a word and two locks for which nobody waits but
// List. Nothing is allocated for a place that was used before.
class RunningRequests {
 public:
  // Requests that begin while this many run have no place.
  static constexpr size_t kPlaces = 2048;

  class Place;

  // `is_timed`: the waits of requests are measured.
  explicit RunningRequests(bool is_timed);
  // For requests that enter from now on.
  void set_timed(bool is_timed) { is_timed_.store(is_timed, std::memory_order_relaxed); }
  ~RunningRequests();
  RunningRequests(const RunningRequests&) = delete;
  RunningRequests& operator=(const RunningRequests&) = delete;

  // Gives a request a place until Leave; null if all are taken. Sets `trace` for the engine; null without a place,
  // unless waits are measured. `operation`: static storage. `peer`: the first 64 bytes are kept.
  Place* Enter(std::string_view operation, Front front, std::string_view peer, int64_t begun_ns,
               std::shared_ptr<engine::RequestTrace>* trace);
  static void Leave(Place* place);

  // The facts of the request in the place; it has no result yet.
  static RequestFacts FactsOf(const Place& place);

  // The running requests, those that began first in front and streams behind them; at most `max`, of those that run for
  // `at_least_ns`.
  std::vector<RequestFacts> List(int64_t at_least_ns, size_t max) const;
  // Number of requests that had no place since the start.
  uint64_t unlisted() const { return unlisted_.load(std::memory_order_relaxed); }

 private:
  struct Group;
  static constexpr size_t kGroupPlaces = 64;
  static constexpr size_t kGroups = kPlaces / kGroupPlaces;

  Place* Take();

  std::atomic<bool> is_timed_;
  std::unique_ptr<std::array<Group, kGroups>> groups_;
  std::atomic<uint64_t> unlisted_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_TELEMETRY_RUNNING_REQUESTS_H_
