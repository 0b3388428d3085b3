#ifndef ARMATURE_ENGINE_ITEMS_EARLY_RELEASE_H_
#define ARMATURE_ENGINE_ITEMS_EARLY_RELEASE_H_

// Early lock release: the lock of a contended row is released when its write is decided and queued, not when it is
// durable. The next holder of the lock decides on the queued value (store::QueuedRows). Nothing that was decided on it
// is answered before it is durable, and all of it fails if its batch fails.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/parts.h"
#include "engine/request_trace.h"
#include "storage/store/commit/committer.h"
#include "storage/store/commit/lock_table.h"
#include "storage/store/commit/queued_rows.h"
#include "storage/store/database.h"

namespace armature::engine {

// Epoch of the earliest queued value that a request was decided on, or nullopt if it saw durable rows only.
using DecidedOn = std::optional<store::CommitEpoch>;

// Reads a row whose lock the caller holds, as Database::Get does: the last value, which need not be durable. Notes in
// `decided_on` if it is not.
absl::StatusOr<store::GetResult> ReadLocked(const Parts& parts, const store::Table& table, std::string_view key,
                                            store::ReadMode mode, std::string* stored, DecidedOn* decided_on);

// An answer without a write.
struct UnwrittenAnswer {
  DecidedOn decided_on;
  size_t bytes = 0;               // estimate of its memory
  store::LockTable::Guard guard;  // the locks of its rows
  std::shared_ptr<RequestTrace> trace;
  // Thread of the next waiter, if the answer waits.
  store::LockTable::NextWaiter next = store::LockTable::NextWaiter::kBehindThis;
};

// Estimate of the memory of an answer with an item. `stored`: the item as stored.
size_t AnswerBytes(std::string_view stored);

// Releases the locks, and calls `then` when the values are durable that the answer was decided on: at once if they are,
// otherwise on the thread of commit callbacks, or on the pool of lock holders for more than kInlineBytesMax. The
// argument is `outcome`, or the error of a batch that failed. The caller owns a token of WaitingRequests, and returns
// after it.
void AfterQueued(Parts* parts, UnwrittenAnswer answer, absl::Status outcome,
                 absl::AnyInvocable<void(absl::Status) &&> then);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_EARLY_RELEASE_H_
