#include "storage/store/log/change_log.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/store/commit/unit_batch.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr uint64_t kIdMax = std::numeric_limits<uint64_t>::max();

}  // namespace

void IndexProgress::Advance(ChangeSequence applied) {
  std::vector<Waiter> ready;
  {
    const absl::MutexLock lock(&mutex_);
    if (applied <= applied_) return;
    applied_ = applied;
    const auto first_waiting = waiters_.upper_bound({applied, kIdMax});
    for (auto it = waiters_.begin(); it != first_waiting; ++it) ready.push_back(std::move(it->second));
    waiters_.erase(waiters_.begin(), first_waiting);
  }
  for (Waiter& waiter : ready) {
    timers_->Cancel(waiter.timer);
    std::move(waiter.then)(absl::OkStatus());
  }
}

void IndexProgress::WhenApplied(ChangeSequence sequence, Deadline deadline,
                                absl::AnyInvocable<void(absl::Status) &&> then) {
  absl::Status status;
  {
    const absl::MutexLock lock(&mutex_);
    status = closed_;
    if (applied_ < sequence && status.ok()) {
      const WaiterKey key(sequence, next_id_++);
      const TimerQueue::TimerId timer = timers_->At(deadline, [weak = weak_from_this(), key] {
        if (const std::shared_ptr<IndexProgress> self = weak.lock()) self->Expire(key);
      });
      waiters_.emplace(key, Waiter{timer, std::move(then)});
      return;
    }
  }
  std::move(then)(status);
}

void IndexProgress::Close(const absl::Status& status) {
  absl::btree_map<WaiterKey, Waiter> ended;
  {
    const absl::MutexLock lock(&mutex_);
    closed_ = status;
    ended.swap(waiters_);
  }
  for (auto& [key, waiter] : ended) {
    timers_->Cancel(waiter.timer);
    std::move(waiter.then)(status);
  }
}

void IndexProgress::Expire(const WaiterKey& key) {
  absl::AnyInvocable<void(absl::Status) &&> then;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = waiters_.find(key);
    if (found == waiters_.end()) return;
    then = std::move(found->second.then);
    waiters_.erase(found);
  }
  std::move(then)(DeadlineExceededError("The index did not reach the requested change sequence within the deadline"));
}

ChangeSequence SequenceTickets::Take(uint64_t count) {
  const absl::MutexLock lock(&mutex_);
  const uint64_t first = next_;
  next_ += count;
  out_.insert(first);
  return ChangeSequence(first);
}

void SequenceTickets::Release(ChangeSequence first) {
  const absl::MutexLock lock(&mutex_);
  out_.erase(first.value());
}

void SequenceTickets::Skip(ChangeSequence last) {
  const absl::MutexLock lock(&mutex_);
  next_ = std::max(next_, last.value() + 1);
}

ChangeSequence SequenceTickets::watermark() const {
  const absl::MutexLock lock(&mutex_);
  return ChangeSequence((out_.empty() ? next_ : *out_.begin()) - 1);
}

ChangeSequence SequenceTickets::last_taken() const {
  const absl::MutexLock lock(&mutex_);
  return ChangeSequence(next_ - 1);
}

absl::StatusOr<ChangeLog::ReadOutcome> ChangeLog::Read(
    TableId table, ChangeSequence after, ChangeSequence up_to, size_t records_max, size_t bytes_max,
    absl::FunctionRef<absl::StatusOr<size_t>(ChangeSequence, std::string_view)> fn) const {
  const std::string lower = LogKey(table, ChangeSequence(after.value() + 1));
  const std::string upper = LogKey(table, ChangeSequence(up_to.value() + 1));
  const rocksdb::Slice lower_slice(lower);
  const rocksdb::Slice upper_slice(upper);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.iterate_lower_bound = &lower_slice;
  options.iterate_upper_bound = &upper_slice;
  ReadOutcome outcome;
  outcome.read_through = after;
  const std::unique_ptr<rocksdb::Iterator> it(db_->db()->NewIterator(options, db_->log()->handle()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (outcome.records == records_max || outcome.bytes >= bytes_max) return outcome;
    const std::optional<ChangeSequence> sequence = SequenceOfLogKey(ToView(it->key()));
    if (!sequence.has_value()) return DataLossError("log: a key is not 12 bytes long");
    ARM_ASSIGN_OR_RETURN(const size_t made, fn(*sequence, ToView(it->value())));
    outcome.read_through = *sequence;
    ++outcome.records;
    outcome.bytes += made;
  }
  ARM_RETURN_IF_ERROR(FromRocks(it->status(), Cat("read change log of table ", table.value())));
  outcome.read_through = std::max(up_to, after);
  outcome.drained = true;
  return outcome;
}

absl::Status ChangeLog::CommitConsumed(const WriteUnit& unit, TableId table,
                                       const std::vector<std::pair<IndexId, ChangeSequence>>& cursors) {
  UnitBatch batch(db_, unit.batch_bytes() + 32 * cursors.size(), unit.ops().size());
  batch.Add(unit);
  ARM_RETURN_IF_ERROR(batch.MakeFamilies());
  for (const auto& [index, cursor] : cursors) {
    batch.records().Put(db_->meta()->handle(), CursorKey(table, index), EncodeU64(cursor.value()));
  }
  ARM_FAULT_POINT("applier.before_write");
  absl::Status written = batch.Write(/*sync=*/false, Cat("apply index changes of table ", table.value()));
  ARM_FAULT_POINT("applier.after_write");
  return written;
}

absl::Status ChangeLog::Trim(TableId table, ChangeSequence through) {
  rocksdb::WriteBatch batch;
  batch.DeleteRange(db_->log()->handle(), LogKey(table, ChangeSequence(0)),
                    LogKey(table, ChangeSequence(through.value() + 1)));
  return db_->Write(&batch, /*sync=*/false, Cat("trim change log of table ", table.value()));
}

void ChangeLog::SetConsumer(ChangeConsumer* consumer) {
  const absl::MutexLock lock(&mutex_);
  consumer_ = consumer;
}

void ChangeLog::NotifyAppended(const std::vector<TableId>& tables) {
  const absl::MutexLock lock(&mutex_);
  if (consumer_ != nullptr) consumer_->OnAppended(tables);
}

}  // namespace armature::store
