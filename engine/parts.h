#ifndef ARMATURE_ENGINE_PARTS_H_
#define ARMATURE_ENGINE_PARTS_H_

// Shared state of all operations of the engine. Inside the engine only.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/backup/table_restore.h"
#include "engine/engine.h"
#include "engine/expiry/expirer.h"
#include "engine/expr/parse_cache.h"
#include "engine/items/request.h"
#include "engine/items/request_tokens.h"
#include "engine/live_options.h"
#include "engine/request_queue.h"
#include "engine/tables/resource_policies.h"
#include "engine/tables/table_waits.h"
#include "engine/transfer/transfer_jobs.h"
#include "engine/watch/watch_hub.h"
#include "engine/write_gate.h"
#include "index/gsi_applier.h"
#include "index/index_builder.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"
#include "storage/store/commit/lock_table.h"
#include "storage/store/commit/queued_rows.h"
#include "storage/store/database.h"

namespace armature::engine {

// Enough for some thousand expressions, more than most applications have.
inline constexpr size_t kParseCacheBytes = 8 << 20;
// Bytes that a request reads, evaluates or writes on the caller's thread: about a millisecond. Beyond, it continues on
// a pool: of lock holders if it holds row locks, else the read pool.
inline constexpr size_t kInlineBytesMax = 1 << 20;
// Limit on queued pages of checks, and on queued operations on backups.
inline constexpr size_t kChecksWaitingMax = 64;

// Counts the requests that wait for row locks, commits or indexes. Their continuations run on threads of the engine, of
// its database and of timers, and use the engine's parts, so the engine ends only after them.
//
// Thread-safety: thread-safe.
class WaitingRequests {
 public:
  // Counts one request until it is destroyed. A request destroys it last.
  class Token {
   public:
    Token() = default;
    Token(Token&& other) noexcept : all_(std::exchange(other.all_, nullptr)) {}
    Token& operator=(Token&& other) noexcept {
      std::swap(all_, other.all_);
      return *this;
    }
    ~Token() {
      if (all_ != nullptr) all_->Add(-1);
    }

   private:
    friend class WaitingRequests;
    explicit Token(WaitingRequests* all) : all_(all) {}
    WaitingRequests* all_ = nullptr;
  };

  Token Enter() {
    Add(1);
    return Token(this);
  }
  void AwaitNone() {
    const absl::MutexLock lock(&mutex_);
    const auto is_none = [this] {
      mutex_.AssertHeld();
      return count_ == 0;
    };
    mutex_.Await(absl::Condition(&is_none));
  }

 private:
  void Add(int64_t delta) {
    const absl::MutexLock lock(&mutex_);
    count_ += delta;
  }

  absl::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Members are declared in construction order; destroyed in reverse.
struct Parts {
  Parts(store::Database* db, const EngineOptions& engine_options)
      : database(db),
        options(engine_options),
        live(engine_options),
        read_pool("arm-read", options.read_threads, options.read_queue_max, options.monotonic_ns),
        plan_pool("arm-plans", options.read_threads, options.pool_queue_max, options.monotonic_ns),
        holder_pool("arm-locks", options.read_threads, options.pool_queue_max),
        table_pool("arm-tables", 2, options.pool_queue_max),
        backup_pool("arm-backup-ops", 2, kChecksWaitingMax),
        table_waits(db, &timers),
        locks(options.lock_stripes, &holder_pool, &timers, options.transaction_wait),
        queued_rows(db->commits().queue_bytes_max() / 8),
        applier(db, options.applier_threads),
        builder(db, &applier, options.index_build),
        backups(db, options.backup) {}

  store::Database* const database;
  const EngineOptions options;
  LiveOptions live;  // in place of the members of `options` that it has
  WaitingRequests waiting;
  WatchHub watches{this};  // the timers call it, and the next one
  WriteGate write_gate{this};
  TimerQueue timers;
  RequestQueue read_pool;
  // Parses and plans statements, which may take milliseconds each.
  RequestQueue plan_pool;
  std::atomic<uint64_t> plans = 0;
  // For requests that hold row locks: those that were handed a lock, and those that read their row from disk. Others
  // may wait for the same rows, so scans and other long work must not occupy these threads.
  ThreadPool holder_pool;
  // For work that waits for locks and indexes. It must not occupy threads of the other pools, which release both.
  ThreadPool check_pool{"arm-check", 1, kChecksWaitingMax};
  ThreadPool export_pool{"arm-export", 1, kChecksWaitingMax};
  // Operations on tables, which wait for the disk.
  ThreadPool table_pool;
  // Operations on backups. Their place may be in a cluster that is slow, or another process's for some time.
  ThreadPool backup_pool;
  TableWaits table_waits;
  std::atomic<int> exports = 0;  // number of open exports
  store::LockTable locks;
  store::QueuedRows queued_rows;
  index::GsiApplier applier;
  index::IndexBuilder builder;
  RequestTokens tokens;
  expr::ParseCache parse_cache{kParseCacheBytes};
  ResourcePolicies policies{database};
  std::atomic<bool> refreshes_policies = false;  // true while a Refresh is queued
  BackupJobs backups;
  TableRestores restores{this};
  Expirer expirer{this};
  TransferJobs transfers{this};
};

// A table whose items may be read and written. It holds this state of the table, and nothing of other tables: they can
// be deleted and changed meanwhile.
struct PinnedTable {
  std::shared_ptr<const store::Table> table;
};

// The monotonic clock of the options, in nanoseconds.
int64_t NowNs(const Parts& parts);

// Finds a table by name or ARN, which has passed model::CheckTableReference. Errors: ResourceNotFound for a table that
// is missing, being created, or being deleted; DataLoss for one whose files are damaged.
absl::StatusOr<PinnedTable> FindTable(const store::Database& database, std::string_view name_or_arn);

// FindTable for operations on tables, which find tables that are being created or deleted, too. Errors:
// TableNotFoundError.
absl::StatusOr<PinnedTable> FindTableInAnyState(const store::Database& database, std::string_view name_or_arn);
// FindTableInAnyState for operations on settings, which do not find a table that is being restored (HasSettings).
absl::StatusOr<PinnedTable> FindTableWithSettings(const store::Database& database, std::string_view name_or_arn);

// ResourceNotFoundException with the text of the operations on tables.
absl::Status NoSuchTableError(std::string_view name_or_arn);

// Runs `task` on `pool`. If its queue is full, calls `refused` with a ThrottlingException on this thread.
void RunOnPool(ThreadPool* pool, Task task, absl::AnyInvocable<void(absl::Status) &&> refused);
// Runs `task` on the read pool, or calls `refused` with a ThrottlingException: on this thread, or later on another one
// (RequestQueue).
void RunOnReadPool(Parts* parts, Task task, absl::AnyInvocable<void(absl::Status) &&> refused);
// Runs `task`, of a request that holds row locks, on the pool of lock holders. If its queue is full, calls `refused`
// with a ThrottlingException on this thread.
void RunHolder(Parts* parts, Task task, absl::AnyInvocable<void(absl::Status) &&> refused);

// Calls `start` with a callback, and blocks until the callback was called. Returns its argument.
template <class T>
T Await(absl::FunctionRef<void(absl::AnyInvocable<void(T) &&>)> start) {
  absl::Notification done;
  std::optional<T> result;
  start([&](T value) {
    result = std::move(value);
    done.Notify();
  });
  done.WaitForNotification();
  return *std::move(result);
}

// DeadlineExceeded or Cancelled if the client no longer waits for the answer.
absl::Status CheckStillWanted(const RequestContext& context);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_PARTS_H_
