#ifndef ARMATURE_ENGINE_TABLES_TABLE_WAITS_H_
#define ARMATURE_ENGINE_TABLES_TABLE_WAITS_H_

// Requests that wait for the end of a table's creation or deletion.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/strong_type.h"
#include "storage/base/timer_queue.h"
#include "storage/store/database.h"

namespace armature::engine {

// True if a client sees the table as CREATING or DELETING.
bool IsInTransition(const model::TableDescriptor& table);

// Parks requests as continuations, so that no thread waits.
//
// Thread-safety: thread-safe. Lifetime: `database` and `timers` must outlive it.
class TableWaits {
 public:
  // Further requests do not wait.
  static constexpr size_t kWaitersMax = 1024;

  TableWaits(store::Database* database, TimerQueue* timers);
  ~TableWaits();
  TableWaits(const TableWaits&) = delete;
  TableWaits& operator=(const TableWaits&) = delete;

  // Calls `then` when the table that is called `name` now is in no transition (also if it is gone), after `patience`,
  // or at End. Calls it at once if there is nothing to wait for. `then` runs on the caller's or the timer's thread, or
  // on the thread that calls End, and must be short.
  void WhenSettled(std::string_view name, absl::Duration patience, absl::AnyInvocable<void() &&> then) {
    Await(name, std::nullopt, patience, std::move(then));
  }
  // WhenSettled for the table with this name and id only: another one that has got the name meanwhile is not waited
  // for.
  void WhenSettled(std::string_view name, TableId table, absl::Duration patience, absl::AnyInvocable<void() &&> then) {
    Await(name, table, patience, std::move(then));
  }

  // Ends all waits, present and future.
  void End();
  // Ends all waits, present and future. No continuation is running when it returns. Idempotent.
  void Stop();

 private:
  struct Waiter {
    std::string name;
    TableId table;
    TimerQueue::TimerId timer;
    absl::AnyInvocable<void() &&> then;
  };

  void Await(std::string_view name, std::optional<TableId> wanted, absl::Duration patience,
             absl::AnyInvocable<void() &&> then);
  void OnCatalogChange();
  void RunSettled();
  void Expire(uint64_t id);

  store::Database* const database_;
  TimerQueue* const timers_;
  absl::Mutex mutex_;
  std::map<uint64_t, Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_TABLE_WAITS_H_
