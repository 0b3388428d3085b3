#include "storage/store/committer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/thread_pool.h"
#include "storage/model/wire.h"
#include "storage/store/change_log.h"
#include "storage/store/column_family.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"
#include "storage/store/sequence_tickets.h"

namespace armature::store {
namespace {

// A batch takes no more than this, so that the first in it does not wait for megabytes of others.
constexpr size_t kBatchUnitsMax = 1024;
constexpr size_t kBatchBytesMax = 4 << 20;
constexpr int64_t kThrottleRetryMs = 50;

size_t ByteSize(const std::vector<WriteUnit>& units) {
  size_t bytes = 0;
  for (const WriteUnit& unit : units) bytes += unit.byte_size();
  return bytes;
}

}  // namespace

// Merges write units into one engine batch. One per batch, used by the writing thread.
class Committer::BatchBuilder {
 public:
  BatchBuilder(RocksDb* db, SequenceTickets* tickets) : db_(db), tickets_(tickets) {}

  absl::Status Add(const WriteUnit& unit) {
    for (const WriteUnit::Op& op : unit.ops()) {
      const rocksdb::Slice key = ToSlice(unit.key(op));
      switch (op.kind) {
        case WriteUnit::OpKind::kPut:
          batch_.Put(op.family->handle(), key, ToSlice(unit.value(op)));
          break;
        case WriteUnit::OpKind::kDelete:
          batch_.Delete(op.family->handle(), key);
          break;
        case WriteUnit::OpKind::kCounter:
          ARM_RETURN_IF_ERROR(AddCounter(op.family, unit.key(op), op.delta));
          break;
      }
    }
    for (const WriteUnit::StatsOp& op : unit.stats()) {
      StatsDelta& total = stats_[op.stats];
      total.items += op.delta.items;
      total.bytes += op.delta.bytes;
    }
    return absl::OkStatus();
  }

  void AddRecord(const WriteUnit& unit, ChangeSequence sequence) {
    batch_.Put(db_->log()->handle(), LogKey(unit.record_table(), sequence), unit.record());
    if (tables_.empty() || tables_.back() != unit.record_table()) tables_.push_back(unit.record_table());
  }

  // Adds what belongs to the batch as a whole. After this, RollBack undoes the totals in memory.
  void Finish(bool has_records) {
    for (const auto& [family_and_key, value] : counters_) {
      const auto& [family, key] = family_and_key;
      if (value == 0) {
        batch_.Delete(family->handle(), key);
      } else {
        std::string encoded;
        model::AppendVarint(value, &encoded);
        batch_.Put(family->handle(), key, encoded);
      }
    }
    for (const auto& [stats, delta] : stats_) {
      stats->Add(delta);
      batch_.Put(db_->meta()->handle(), StatsKey(stats->family_name()),
                 EncodeStats(StatsDelta{stats->items(), stats->bytes()}));
    }
    if (has_records) {
      batch_.Put(db_->meta()->handle(), ToSlice(kSequenceKey), EncodeU64(tickets_->last_taken().value()));
    }
  }

  void RollBack() {
    for (const auto& [stats, delta] : stats_) stats->Add(StatsDelta{-delta.items, -delta.bytes});
  }

  rocksdb::WriteBatch* batch() { return &batch_; }
  const std::vector<TableId>& tables() const { return tables_; }

 private:
  absl::Status AddCounter(ColumnFamily* family, std::string_view key, int64_t delta) {
    const auto [entry, is_new] = counters_.try_emplace({family, std::string(key)}, 0);
    if (is_new) {
      ARM_ASSIGN_OR_RETURN(const std::optional<std::string> stored, db_->Get(*family, key));
      std::string_view bytes = stored.has_value() ? std::string_view(*stored) : std::string_view();
      if (stored.has_value() && !model::TakeVarint(&bytes, &entry->second)) {
        return DataLossError(Cat("counter in ", family->name(), ": expected a varint"));
      }
    }
    const int64_t value = static_cast<int64_t>(entry->second) + delta;
    entry->second = static_cast<uint64_t>(std::max<int64_t>(value, 0));
    return absl::OkStatus();
  }

  RocksDb* const db_;
  SequenceTickets* const tickets_;
  rocksdb::WriteBatch batch_;
  std::map<std::pair<ColumnFamily*, std::string>, uint64_t> counters_;
  absl::flat_hash_map<KeyspaceStats*, StatsDelta> stats_;
  std::vector<TableId> tables_;
};

Committer::Committer(const DatabaseOptions& options, RocksDb* db, SequenceTickets* tickets, ChangeLog* log)
    : options_(options), db_(db), tickets_(tickets), log_(log) {
  callback_thread_ = std::thread([this] { CallbackLoop(); });
  write_thread_ = std::thread([this] { WriteLoop(); });
  if (options_.durability == Durability::kInterval) sync_thread_ = std::thread([this] { SyncLoop(); });
}

Committer::~Committer() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    work_.SignalAll();
    sync_stop_.SignalAll();
  }
  write_thread_.join();
  callback_thread_.join();
  if (sync_thread_.joinable()) sync_thread_.join();
}

void Committer::Commit(WriteUnit unit, CommitCallback done) {
  std::vector<WriteUnit> units;
  units.push_back(std::move(unit));
  CommitAll(std::move(units), std::move(done));
}

void Committer::CommitAll(std::vector<WriteUnit> units, CommitCallback done) {
  const size_t bytes = ByteSize(units);
  absl::Status refused;
  {
    const absl::MutexLock lock(&mutex_);
    if (stopping_) {
      refused = ServiceUnavailableError("The server is shutting down");
    } else if (queue_.size() >= options_.commit_queue_units_max ||
               (queue_bytes_ + bytes > options_.commit_queue_bytes_max && !queue_.empty())) {
      refused = ThrottlingError("The server has more writes waiting than it can commit; slow down", kThrottleRetryMs);
    } else {
      queue_bytes_ += bytes;
      queue_.push_back(Pending{std::move(units), std::move(done), ChangeSequence()});
      if (writer_idle_) work_.Signal();
      return;
    }
  }
  std::move(done)(refused);
}

CommitterCounters Committer::counters() const {
  const absl::MutexLock lock(&mutex_);
  return counters_;
}

std::vector<Committer::Pending> Committer::TakeBatch() {
  std::vector<Pending> batch;
  const absl::MutexLock lock(&mutex_);
  while (queue_.empty() && !stopping_) {
    writer_idle_ = true;
    work_.Wait(&mutex_);
    writer_idle_ = false;
  }
  size_t units = 0;
  size_t bytes = 0;
  while (!queue_.empty() && units < kBatchUnitsMax && bytes < kBatchBytesMax) {
    const size_t size = ByteSize(queue_.front().units);
    units += queue_.front().units.size();
    bytes += size;
    queue_bytes_ -= size;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  counters_.batches += batch.empty() ? 0 : 1;
  counters_.units += units;
  return batch;
}

absl::Status Committer::WriteBatch(std::vector<Pending>& pending) {
  uint64_t records = 0;
  for (const Pending& p : pending) {
    records += static_cast<uint64_t>(
        std::count_if(p.units.begin(), p.units.end(), [](const WriteUnit& u) { return u.has_record(); }));
  }
  BatchBuilder builder(db_, tickets_);
  ChangeSequence first;
  if (records > 0) first = tickets_->Take(records);
  uint64_t next = records > 0 ? first.value() : tickets_->last_taken().value() + 1;
  absl::Status status;
  for (Pending& p : pending) {
    for (const WriteUnit& unit : p.units) {
      if (status.ok()) status = builder.Add(unit);
      if (unit.has_record()) builder.AddRecord(unit, ChangeSequence(next++));
    }
    p.sequence = ChangeSequence(next - 1);
  }
  if (status.ok()) {
    builder.Finish(records > 0);
    ARM_FAULT_POINT("committer.before_write");
    status = db_->Write(builder.batch(), options_.durability == Durability::kSync, "commit");
    ARM_FAULT_POINT("committer.after_write");
    if (!status.ok()) builder.RollBack();
  }
  if (records > 0) tickets_->Release(first);
  if (status.ok() && !builder.tables().empty()) log_->NotifyAppended(builder.tables());
  return status;
}

void Committer::WriteLoop() {
  SetThreadName("arm-commit");
  while (true) {
    std::vector<Pending> batch = TakeBatch();
    if (batch.empty()) break;
    const absl::Status status = WriteBatch(batch);
    if (!status.ok()) {
      LOG_EVERY_N(ERROR, 100) << "committer: batch failed units=" << batch.size() << " status=" << status;
    }
    const absl::MutexLock lock(&mutex_);
    finished_.push_back(Finished{std::move(batch), status});
    finished_work_.Signal();
  }
  const absl::MutexLock lock(&mutex_);
  writer_done_ = true;
  finished_work_.SignalAll();
}

void Committer::CallbackLoop() {
  SetThreadName("arm-answer");
  while (true) {
    Finished finished;
    {
      const absl::MutexLock lock(&mutex_);
      while (finished_.empty() && !writer_done_) finished_work_.Wait(&mutex_);
      if (finished_.empty()) return;
      finished = std::move(finished_.front());
      finished_.pop_front();
    }
    for (Pending& pending : finished.pending) {
      if (finished.status.ok()) {
        std::move(pending.done)(pending.sequence);
      } else {
        std::move(pending.done)(finished.status);
      }
    }
  }
}

void Committer::SyncLoop() {
  SetThreadName("arm-sync");
  const absl::Duration interval = absl::Milliseconds(options_.sync_interval_ms);
  bool stop = false;
  while (!stop) {
    {
      const absl::MutexLock lock(&mutex_);
      if (!stopping_) sync_stop_.WaitWithTimeout(&mutex_, interval);
      stop = stopping_;
    }
    const rocksdb::Status status = db_->db()->SyncWAL();
    if (!status.ok()) {
      LOG_EVERY_N(ERROR, 100) << "committer: sync failed status=" << status.ToString();
    }
  }
}

}  // namespace armature::store
