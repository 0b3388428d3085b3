#ifndef ARMATURE_ENGINE_PARTS_H_
#define ARMATURE_ENGINE_PARTS_H_

// Shared state of all operations of the engine. Inside the engine only.

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/backup/table_restore.h"
#include "engine/engine.h"
#include "engine/expr/parse_cache.h"
#include "engine/items/request.h"
#include "engine/items/request_tokens.h"
#include "engine/tables/table_waits.h"
#include "index/gsi_applier.h"
#include "index/index_builder.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"
#include "storage/store/commit/lock_table.h"
#include "storage/store/database.h"

namespace armature::engine {

// Enough for some thousand expressions, more than most applications have.
inline constexpr size_t kParseCacheBytes = 8 << 20;
// Bytes that a request reads, evaluates or writes on the caller's thread: about a millisecond. Beyond, it continues on
// the read pool.
inline constexpr size_t kInlineBytesMax = 1 << 20;
// Limit on queued pages of checks.
inline constexpr size_t kChecksWaitingMax = 64;

// Members are declared in construction order; destroyed in reverse.
struct Parts {
  Parts(store::Database* db, const EngineOptions& engine_options)
      : database(db),
        options(engine_options),
        read_pool("arm-read", options.read_threads, options.read_queue_max),
        table_waits(db, &timers),
        locks(options.lock_stripes, &read_pool, &timers, options.transaction_wait),
        applier(db),
        builder(db, &applier, options.index_build),
        backups(db, options.backup) {}

  store::Database* const database;
  const EngineOptions options;
  TimerQueue timers;
  ThreadPool read_pool;
  // For work that waits for locks and indexes. It must not occupy threads of the read pool, which release both.
  ThreadPool check_pool{"arm-check", 1, kChecksWaitingMax};
  TableWaits table_waits;
  std::atomic<int> exports = 0;  // number of open exports
  store::LockTable locks;
  index::GsiApplier applier;
  index::IndexBuilder builder;
  RequestTokens tokens;
  expr::ParseCache parse_cache{kParseCacheBytes};
  BackupJobs backups;
  TableRestores restores{this};
};

// A table whose items may be read and written, and the snapshot that keeps it alive.
struct PinnedTable {
  std::shared_ptr<const store::CatalogSnapshot> snapshot;
  const store::Table* table = nullptr;
};

// Finds a table by name or ARN, which has passed model::CheckTableReference. Errors: ResourceNotFound for a table that
// is missing, being created, or being deleted.
absl::StatusOr<PinnedTable> FindTable(const store::Database& database, std::string_view name_or_arn);

// The same for operations on tables, which include those being created or deleted. Errors: TableNotFoundError.
absl::StatusOr<PinnedTable> FindTableInAnyState(const store::Database& database, std::string_view name_or_arn);

// ResourceNotFoundException with the text of the operations on tables.
absl::Status NoSuchTableError(std::string_view name_or_arn);

// Runs `task` on `pool`. If its queue is full, calls `refused` with a ThrottlingException on this thread.
void RunOnPool(ThreadPool* pool, Task task, absl::AnyInvocable<void(absl::Status) &&> refused);
// The same with the read pool.
void RunOnReadPool(Parts* parts, Task task, absl::AnyInvocable<void(absl::Status) &&> refused);
// The same for a request that holds row locks: it runs ahead of requests without locks; see ThreadPool.
void RunHolderOnReadPool(Parts* parts, Task task, absl::AnyInvocable<void(absl::Status) &&> refused);

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
