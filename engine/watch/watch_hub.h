#ifndef ARMATURE_ENGINE_WATCH_WATCH_HUB_H_
#define ARMATURE_ENGINE_WATCH_WATCH_HUB_H_

// All watches of an engine: their limit, and the news of streams that wakes them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::engine {

struct Parts;
class TableWatch;
class WatchHub;

struct WatchStats {
  size_t open = 0;
  uint64_t records = 0;      // delivered since the start
  uint64_t fell_behind = 0;  // number of watches that ended because changes were no longer kept
};

// One of the places for watches, given back by the destructor.
class WatchPlace {
 public:
  WatchPlace(WatchHub* hub, std::string client) : hub_(hub), client_(std::move(client)) {}
  WatchPlace(WatchPlace&& other) noexcept
      : hub_(std::exchange(other.hub_, nullptr)), client_(std::move(other.client_)) {}
  WatchPlace& operator=(WatchPlace&&) = delete;
  ~WatchPlace();

 private:
  WatchHub* hub_;
  std::string client_;
};

// Watches are read by threads of their own, in turns of one page. A watch is in the queue at most once, so the number
// of watches bounds its length.
//
// Thread-safety: thread-safe. Lifetime: watches may outlive Stop, but not the hub.
class WatchHub {
 public:
  explicit WatchHub(Parts* parts);
  ~WatchHub() { Stop(); }
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;

  // Errors: LimitExceededException if there are as many watches as may be, or the client has half of them.
  absl::StatusOr<WatchPlace> TakePlace(const std::string& client);

  void Add(StreamId stream, const std::shared_ptr<TableWatch>& watch);
  void Remove(StreamId stream, TableWatch* watch);

  // Runs a turn of a watch.
  void Post(Task turn) { pool_.RunAdmitted(std::move(turn)); }

  void CountRecords(size_t records) { records_.fetch_add(records, std::memory_order_relaxed); }
  void CountFellBehind() { fell_behind_.fetch_add(1, std::memory_order_relaxed); }
  WatchStats stats() const;

  // Ends all watches, present and future, with the error `why`.
  void End(const absl::Status& why);
  // Ends all watches, present and future, and waits for the turns in progress. Idempotent.
  void Stop();

 private:
  friend class WatchPlace;
  using Watches = std::vector<std::shared_ptr<TableWatch>>;

  void GiveBack(const std::string& client);
  // Called when records of a stream may be read. Only takes a note.
  void OnAppended(StreamId stream);
  // Wakes the watches of the streams that have news. Runs on the pool.
  void Dispatch();
  void Tick();
  void ArmTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Watches WatchesOf(StreamId stream);
  Watches AllWatches();

  Parts* const parts_;
  std::atomic<uint64_t> records_ = 0;
  std::atomic<uint64_t> fell_behind_ = 0;
  absl::Mutex news_mutex_;
  std::set<StreamId> news_ ABSL_GUARDED_BY(news_mutex_);
  bool is_dispatching_ ABSL_GUARDED_BY(news_mutex_) = false;  // Dispatch is queued
  mutable absl::Mutex mutex_;
  std::map<StreamId, std::map<TableWatch*, std::weak_ptr<TableWatch>>> watches_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, size_t> places_ ABSL_GUARDED_BY(mutex_);  // taken, by client
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool has_timer_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status ended_ ABSL_GUARDED_BY(mutex_);
  ThreadPool pool_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_WATCH_WATCH_HUB_H_
