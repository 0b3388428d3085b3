#include "engine/items/early_release.h"

#include <algorithm>
#include <utility>

#include "engine/items/expressions.h"

namespace armature::engine {

absl::StatusOr<store::GetResult> ReadLocked(const Parts& parts, const store::Table& table, std::string_view key,
                                            store::ReadMode mode, std::string* stored, DecidedOn* decided_on) {
  const std::shared_ptr<const store::QueuedRow> queued = parts.queued_rows.Find(table.descriptor.id, key);
  if (queued == nullptr) return parts.database->Get(table.data, key, mode, stored);
  *decided_on = std::min(decided_on->value_or(queued->epoch()), queued->epoch());
  if (!queued->value().has_value()) return store::GetResult::kMissing;
  *stored = *queued->value();
  return store::GetResult::kFound;
}

size_t AnswerBytes(std::string_view stored) { return IsLongToAnswer(stored) ? kInlineBytesMax + 1 : stored.size(); }

void AfterQueued(Parts* parts, UnwrittenAnswer answer, absl::Status outcome,
                 absl::AnyInvocable<void(absl::Status) &&> then) {
  if (!answer.decided_on.has_value()) {
    answer.guard.Release(store::LockTable::NextWaiter::kOnPool);
    return std::move(then)(std::move(outcome));
  }
  const int64_t begin_ns = RequestTrace::Begin(answer.trace);
  parts->database->WhenDurable(
      *answer.decided_on, answer.bytes,
      [parts, bytes = answer.bytes, trace = std::move(answer.trace), begin_ns, outcome = std::move(outcome),
       then = std::move(then)](const absl::StatusOr<ChangeSequence>& durable) mutable {
        RequestTrace::End(trace, WaitFor::kCommit, begin_ns);
        if (!durable.ok()) return std::move(then)(durable.status());
        if (bytes <= kInlineBytesMax) return std::move(then)(std::move(outcome));
        // The answers of other requests must not wait while this one is encoded.
        parts->holder_pool.RunAdmitted(
            [outcome = std::move(outcome), then = std::move(then)]() mutable { std::move(then)(std::move(outcome)); });
      });
  // The last act: the next waiter may continue behind it.
  answer.guard.Release(answer.next);
}

}  // namespace armature::engine
