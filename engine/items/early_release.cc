#include "engine/items/early_release.h"

#include <algorithm>
#include <utility>

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

bool ReleasesEarly(absl::Span<const store::WriteUnit> units, store::LockTable::Guard* guard) {
  // A unit that may be refused alone keeps its locks: the writes decided on it would have to fail for its reason.
  return guard->TakeEarlyRelease() &&
         std::none_of(units.begin(), units.end(), [](const store::WriteUnit& unit) { return unit.has_counters(); });
}

void AfterQueued(const Parts& parts, const DecidedOn& decided_on, size_t held_bytes, absl::Status outcome,
                 absl::AnyInvocable<void(absl::Status) &&> then) {
  if (!decided_on.has_value()) return std::move(then)(std::move(outcome));
  parts.database->WhenDurable(
      *decided_on, held_bytes,
      [outcome = std::move(outcome), then = std::move(then)](const absl::StatusOr<ChangeSequence>& durable) mutable {
        std::move(then)(durable.ok() ? std::move(outcome) : durable.status());
      });
}

}  // namespace armature::engine
