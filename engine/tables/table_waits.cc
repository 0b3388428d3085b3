#include "engine/tables/table_waits.h"

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "storage/base/monotonic_wait.h"

namespace armature::engine {

bool IsInTransition(const model::TableDescriptor& table) {
  return table.state == model::TableState::kCreating || table.state == model::TableState::kDeleting ||
         table.is_being_restored();
}

TableWaits::TableWaits(store::Database* database, TimerQueue* timers) : database_(database), timers_(timers) {
  database_->SetCatalogListener(this, [this] { OnCatalogChange(); });
}

TableWaits::~TableWaits() { Stop(); }

void TableWaits::Await(std::string_view name, std::optional<TableId> wanted, absl::Duration patience,
                       absl::AnyInvocable<void() &&> then) {
  {
    const absl::MutexLock lock(&mutex_);
    // Read under the lock: a change that this snapshot lacks finds the waiter.
    const std::shared_ptr<const store::CatalogSnapshot> catalog = database_->catalog();
    const store::Table* const table = catalog->Find(name);
    const bool may_wait = !ended_ && patience > absl::ZeroDuration() && waiters_.size() < kWaitersMax;
    const bool is_wanted = table != nullptr && (!wanted.has_value() || table->descriptor.id == *wanted);
    if (may_wait && is_wanted && IsInTransition(table->descriptor)) {
      const uint64_t id = next_id_++;
      waiters_.emplace(id, Waiter{.name = std::string(name),
                                  .table = table->descriptor.id,
                                  .timer = timers_->AtMonotonic(MonotonicAfter(patience), [this, id] { Expire(id); }),
                                  .then = std::move(then)});
      return;
    }
  }
  std::move(then)();
}

void TableWaits::OnCatalogChange() {
  const absl::MutexLock lock(&mutex_);
  // Continuations do not run on the thread that creates and drops column families.
  if (!waiters_.empty()) timers_->At(Deadline::Passed(), [this] { RunSettled(); });
}

void TableWaits::RunSettled() {
  std::vector<Waiter> settled;
  {
    const absl::MutexLock lock(&mutex_);
    const std::shared_ptr<const store::CatalogSnapshot> catalog = database_->catalog();
    for (auto it = waiters_.begin(); it != waiters_.end();) {
      const store::Table* const table = catalog->Find(it->second.name);
      const bool waits =
          table != nullptr && table->descriptor.id == it->second.table && IsInTransition(table->descriptor);
      if (!waits) settled.push_back(std::move(it->second));
      it = waits ? std::next(it) : waiters_.erase(it);
    }
  }
  for (Waiter& waiter : settled) {
    timers_->Cancel(waiter.timer);
    std::move(waiter.then)();
  }
}

void TableWaits::Expire(uint64_t id) {
  absl::AnyInvocable<void() &&> then;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = waiters_.find(id);
    if (found == waiters_.end()) return;
    then = std::move(found->second.then);
    waiters_.erase(found);
  }
  std::move(then)();
}

void TableWaits::End() {
  std::map<uint64_t, Waiter> ended;
  {
    const absl::MutexLock lock(&mutex_);
    ended_ = true;
    ended.swap(waiters_);
  }
  for (auto& [id, waiter] : ended) {
    timers_->Cancel(waiter.timer);
    std::move(waiter.then)();
  }
}

void TableWaits::Stop() {
  database_->SetCatalogListener(this, nullptr);
  End();
  // Callbacks of the timers run one after another: those of this object are over when this one runs.
  absl::Notification idle;
  timers_->At(Deadline::Passed(), [&idle] { idle.Notify(); });
  idle.WaitForNotification();
}

}  // namespace armature::engine
