#include "storage/store/commit/committer.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"
#include "storage/store/commit/index_rows.h"
#include "storage/store/commit/unit_batch.h"
#include "storage/store/keyspace.h"
#include "storage/store/log/change_log.h"
#include "storage/store/log/index_backlog.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"
#include "storage/store/stream/stream_log.h"
#include "storage/store/wal/sync_mark.h"

namespace armature::store {
namespace {

// Batch limits, so that the first commit of a batch does not wait for megabytes of others.
constexpr size_t kBatchUnitsMax = 1024;
constexpr size_t kBatchBytesMax = 4 << 20;
constexpr int64_t kThrottleRetryMs = 50;
// Sequences that are reserved at once. A start leaves the rest out.
constexpr uint64_t kReservedSequences = uint64_t{1} << 20;
// Streams that begin between the reservation and its use leave out one sequence each.
constexpr uint64_t kSkippedMeanwhile = 1024;

}  // namespace

// A batch on its way from the queue to its readers. One object per batch, used by the writing thread.
struct Committer::Batch {
  Batch(RocksDb* db, const DatabaseOptions& options, const std::vector<Pending>& pending)
      : Batch(db, options, SizeOf(pending)) {}
  Batch(RocksDb* db, const DatabaseOptions& options, std::pair<size_t, size_t> size)
      : units(db, size.first, size.second), index_rows(options.index_updates == IndexUpdates::kWithItem) {}

  // Bytes and rows of the units, without the rows of indexes.
  static std::pair<size_t, size_t> SizeOf(const std::vector<Pending>& pending) {
    std::pair<size_t, size_t> size;
    for (const Pending& p : pending) {
      for (const WriteUnit& unit : p.units) {
        size.first += unit.batch_bytes();
        size.second += unit.ops().size();
      }
    }
    return size;
  }

  // Adds all units of one commit except the records, or nothing on error.
  absl::Status Add(std::vector<WriteUnit>* added, uint64_t counter_max) {
    ARM_RETURN_IF_ERROR(units.AddCounters(*added, counter_max));
    for (WriteUnit& unit : *added) {
      units.Add(unit);
      if (unit.has_sequence()) ++sequences;
      has_stream_records = has_stream_records || unit.has_stream_record();
      if (unit.has_record() && index_rows.Add(unit, &units)) unit.LeaveOutChangeRecord();
    }
    is_empty = is_empty && added->empty();
    return absl::OkStatus();
  }

  // Adds the records of a unit.
  void AddRecords(const WriteUnit& unit, ChangeSequence sequence, const ColumnFamily& log) {
    if (unit.has_stream_record()) {
      streams->Add(unit.stream(), unit.stream_hash(), sequence, unit.stream_record(), &units.records());
    }
    if (!unit.has_record()) return;
    units.records().Put(log.handle(), LogKey(unit.record_table(), sequence), unit.record());
    if (tables.empty() || tables.back() != unit.record_table()) tables.push_back(unit.record_table());
    for (const WriteUnit::IndexOp& op : unit.index_ops()) {
      Waiting& waiting = backlogs[op.backlog];
      waiting.last = sequence;
      ++waiting.load.records;
      waiting.load.bytes += op.bytes;
    }
  }

  // Adds the written batch's records to the backlogs of their indexes. Called before readers of the log may see them.
  void CountBacklogs() const {
    if (backlogs.empty()) return;
    const int64_t now_ms = absl::ToUnixMillis(absl::Now());
    for (const auto& [backlog, waiting] : backlogs) backlog->Append(waiting.last, now_ms, waiting.load);
  }

  struct Waiting {
    ChangeSequence last;
    BacklogLoad load;
  };

  UnitBatch units;
  IndexRows index_rows;
  bool is_empty = true;
  uint64_t sequences = 0;               // that the units take
  std::optional<ChangeSequence> first;  // of the sequences that were taken
  bool has_stream_records = false;
  std::optional<StreamLog::Batch> streams;
  std::vector<TableId> tables;                           // with records in the log
  absl::flat_hash_map<IndexBacklog*, Waiting> backlogs;  // of the indexes with records in the log
};

Committer::Committer(const DatabaseOptions& options, RocksDb* db, SequenceTickets* tickets, ChangeLog* log,
                     StreamLog* streams)
    : options_(options), db_(db), tickets_(tickets), log_(log), streams_(streams), reserved_(tickets->last_taken()) {
  callback_thread_ = std::thread([this] { CallbackLoop(); });
  write_thread_ = std::thread([this] { WriteLoop(); });
  db_->SetResumeListener([this] {
    const absl::MutexLock lock(&mutex_);
    is_resumed_ = true;
    work_.Signal();
  });
  if (options_.durability == Durability::kInterval) {
    sync_worker_.Start(Worker::Next::WhenWoken(absl::Milliseconds(options_.sync_interval_ms)));
  }
}

Committer::~Committer() {
  db_->SetResumeListener(nullptr);
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    work_.SignalAll();
  }
  write_thread_.join();
  callback_thread_.join();
}

absl::Status Committer::CheckQueue(const Load& load, size_t bytes, size_t bytes_max) const {
  if (stopping_) return ServiceUnavailableError("The server is shutting down");
  if (load.count >= options_.commit_queue_units_max || (load.bytes + bytes > bytes_max && load.count > 0)) {
    return ThrottlingError("The server has more writes waiting than it can commit; slow down", kThrottleRetryMs);
  }
  return absl::OkStatus();
}

absl::Status Committer::CheckEpoch(std::optional<CommitEpoch> decided_on) const {
  return decided_on.has_value() && *decided_on != epoch_ ? failure_ : absl::OkStatus();
}

void Committer::Push(Load* load, Pending pending) {
  pending.load = load;
  ++load->count;
  load->bytes += pending.bytes;
  queue_.push_back(std::move(pending));
  if (writer_idle_) work_.Signal();
}

absl::Status Committer::Queue(std::vector<WriteUnit>* units, CommitCallback* done, const CommitTerms& terms) {
  const size_t unit_bytes = ByteSize(*units);
  const size_t bytes = unit_bytes + terms.held_bytes;
  ARM_RETURN_IF_ERROR(CheckEpoch(terms.decided_on));
  ARM_RETURN_IF_ERROR(CheckQueue(commits_, bytes, options_.commit_queue_bytes_max));
  if (absl::Status full = db_->space()->CheckClients(); !full.ok()) {
    db_->space()->CountRefused();
    return full;
  }
  Push(&commits_, Pending{std::move(*units), std::move(*done), bytes, unit_bytes});
  return absl::OkStatus();
}

std::optional<CommitEpoch> Committer::CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                                const CommitTerms& terms) {
  absl::Status refused;
  {
    const absl::MutexLock lock(&mutex_);
    refused = Queue(&units, &done, terms);
    if (refused.ok()) return epoch_;
  }
  std::move(done)(refused);
  return std::nullopt;
}

std::vector<std::optional<CommitEpoch>> Committer::CommitEach(std::vector<Commitment> commitments) {
  std::vector<std::optional<CommitEpoch>> queued(commitments.size());
  std::vector<std::pair<CommitCallback, absl::Status>> refusals;
  {
    const absl::MutexLock lock(&mutex_);
    for (size_t i = 0; i < commitments.size(); ++i) {
      Commitment& each = commitments[i];
      std::vector<WriteUnit> units;
      units.push_back(std::move(each.unit));
      absl::Status refused = Queue(&units, &each.done, each.terms);
      if (refused.ok()) {
        queued[i] = epoch_;
      } else {
        each.unit = std::move(units.front());  // let go outside the lock
        refusals.emplace_back(std::move(each.done), std::move(refused));
      }
    }
  }
  for (auto& [done, refused] : refusals) std::move(done)(std::move(refused));
  return queued;
}

void Committer::WhenDurable(CommitEpoch decided_on, size_t held_bytes, CommitCallback done) {
  absl::Status refused;
  {
    const absl::MutexLock lock(&mutex_);
    refused = CheckEpoch(decided_on);
    if (refused.ok()) refused = CheckQueue(answers_, held_bytes, options_.commit_queue_bytes_max / 2);
    if (refused.ok()) return Push(&answers_, Pending{{}, std::move(done), held_bytes});
  }
  std::move(done)(refused);
}

CommitterCounters Committer::counters() const {
  const absl::MutexLock lock(&mutex_);
  CommitterCounters counters = counters_;
  counters.write_times = write_times_.counts();
  counters.index_changes_with_item = index_changes_with_item_.load(std::memory_order_relaxed);
  counters.index_changes_logged = index_changes_logged_.load(std::memory_order_relaxed);
  counters.queue_commits = queue_.size();
  counters.queue_bytes = commits_.bytes + answers_.bytes;
  return counters;
}

std::vector<Committer::Pending> Committer::TakeBatch() {
  std::vector<Pending> batch;
  const absl::MutexLock lock(&mutex_);
  while (queue_.empty() && !stopping_) {
    // A resumption has flushed what is valid, and left the log with the failed batch behind.
    if (std::exchange(is_resumed_, false) && db_->space()->CheckEngine().ok()) ReleaseKeptBack();
    writer_idle_ = true;
    work_.Wait(&mutex_);
    writer_idle_ = false;
  }
  size_t units = 0;
  size_t bytes = 0;
  while (!queue_.empty() && std::max(units, batch.size()) < kBatchUnitsMax && bytes < kBatchBytesMax) {
    Pending& next = queue_.front();
    --next.load->count;
    next.load->bytes -= next.bytes;
    units += next.units.size();
    bytes += next.unit_bytes;
    batch.push_back(std::move(next));
    queue_.pop_front();
  }
  if (units == 0) return batch;
  ++counters_.batches;
  counters_.units += units;
  counters_.bytes += bytes;
  const auto bucket = static_cast<size_t>(std::bit_width(units - 1));
  ++counters_.sizes[std::min(bucket, CommitterCounters::kSizeBounds)];
  return batch;
}

absl::Status Committer::ReserveSequences(uint64_t count) {
  if (count == 0) return absl::OkStatus();
  const ChangeSequence last(tickets_->last_taken().value() + count + kSkippedMeanwhile);
  if (last <= reserved_) return absl::OkStatus();
  const ChangeSequence reserved(last.value() + kReservedSequences);
  rocksdb::WriteBatch batch;
  batch.Put(db_->meta()->handle(), ToSlice(kSequenceKey), EncodeU64(reserved.value()));
  ARM_FAULT_POINT("committer.before_reserve");
  // Whatever the durability of the batches is: a power cut may take them away, but clients know their sequences.
  ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/true, "reserve change sequences"));
  ARM_FAULT_POINT("committer.after_reserve");
  reserved_ = reserved;
  return absl::OkStatus();
}

ChangeSequence Committer::TakeSequences(uint64_t count) {
  return count > 0 ? tickets_->Take(count) : ChangeSequence(tickets_->last_taken().value() + 1);
}

void Committer::KeepBack(std::optional<ChangeSequence> first) {
  if (!first.has_value()) return;
  // The first one keeps readers from all that follow.
  if (kept_back_.has_value()) return tickets_->Release(*first);
  kept_back_ = first;
}

void Committer::ReleaseKeptBack() {
  if (kept_back_.has_value()) tickets_->Release(*kept_back_);
  kept_back_.reset();
}

void Committer::WriteBatch(std::vector<Pending>& pending) {
  Batch batch(db_, options_, pending);
  absl::Status status = Build(pending, &batch);
  if (batch.is_empty) return AnswerUnwritten(pending);
  if (status.ok()) status = Write(&batch);
  status.ok() ? Publish(&batch) : Fail(status, batch.first, &pending);
}

absl::Status Committer::Build(std::vector<Pending>& pending, Batch* batch) {
  if (options_.durability != Durability::kSync) {
    batch->units.records().PutLogData(EncodeSyncMark({db_->synced_log(), /*is_unsynced_acknowledged=*/true}));
  }
  for (Pending& p : pending) {
    const absl::Status added = batch->Add(&p.units, options_.item_collection_bytes_max);
    if (!added.ok()) p.answer = added;
  }
  if (batch->is_empty) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(ReserveSequences(batch->sequences));
  // Before the sequences are taken: the changes of streams and segments need to know which records are theirs.
  if (batch->has_stream_records) batch->streams.emplace(streams_);
  uint64_t next = TakeSequences(batch->sequences).value();
  if (batch->sequences > 0) batch->first = ChangeSequence(next);
  for (Pending& p : pending) {
    if (!p.answer.ok()) continue;
    for (const WriteUnit& unit : p.units) {
      if (unit.has_sequence()) batch->AddRecords(unit, ChangeSequence(next++), *db_->log());
    }
    p.answer = ChangeSequence(next - 1);
  }
  return absl::OkStatus();
}

absl::Status Committer::Write(Batch* batch) {
  ARM_FAULT_POINT("committer.before_write");
  const int64_t start_ns = MonotonicNs();
  absl::Status written = batch->units.Write(options_.durability == Durability::kSync, "commit");
  write_times_.Add(MonotonicNs() - start_ns);
  ARM_FAULT_POINT("committer.after_write");
  return written;
}

void Committer::Publish(Batch* batch) {
  if (batch->streams.has_value()) batch->streams->Written();
  batch->CountBacklogs();
  index_changes_with_item_.fetch_add(batch->index_rows.added(), std::memory_order_relaxed);
  index_changes_logged_.fetch_add(batch->index_rows.logged(), std::memory_order_relaxed);
  ReleaseKeptBack();
  if (batch->first.has_value()) tickets_->Release(*batch->first);
  if (batch->streams.has_value()) batch->streams->Readable();
  if (!batch->tables.empty()) log_->NotifyAppended(batch->tables);
}

void Committer::Fail(const absl::Status& status, std::optional<ChangeSequence> first, std::vector<Pending>* pending) {
  LOG_EVERY_N(ERROR, 100) << "committer: batch failed units=" << pending->size() << " status=" << status;
  // The state of the disk holds the text that clients may see.
  const absl::Status known = db_->space()->CheckEngine();
  const absl::Status& failure = known.ok() ? status : known;
  for (Pending& p : *pending) {
    if (p.answer.ok()) p.answer = failure;
  }
  FailQueue(failure, pending);
  KeepBack(first);
}

absl::StatusOr<ChangeSequence> Committer::CommitNothing() const {
  ARM_RETURN_IF_ERROR(db_->space()->CheckEngine());
  return tickets_->watermark();
}

void Committer::AnswerUnwritten(std::vector<Pending>& pending) const {
  for (Pending& p : pending) {
    if (p.answer.ok()) p.answer = CommitNothing();
  }
}

void Committer::FailQueue(const absl::Status& failure, std::vector<Pending>* pending) {
  const absl::MutexLock lock(&mutex_);
  epoch_ = CommitEpoch(epoch_.value() + 1);
  failure_ = failure;
  for (Pending& p : queue_) {
    p.answer = failure;
    pending->push_back(std::move(p));
  }
  queue_.clear();
  commits_ = {};
  answers_ = {};
}

void Committer::WriteLoop() {
  SetThreadName("arm-commit");
  while (true) {
    std::vector<Pending> batch = TakeBatch();
    if (batch.empty()) break;
    WriteBatch(batch);
    const absl::MutexLock lock(&mutex_);
    finished_.push_back(std::move(batch));
    finished_work_.Signal();
  }
  const absl::MutexLock lock(&mutex_);
  writer_done_ = true;
  finished_work_.SignalAll();
}

void Committer::CallbackLoop() {
  SetThreadName("arm-answer");
  while (true) {
    std::vector<Pending> finished;
    {
      const absl::MutexLock lock(&mutex_);
      while (finished_.empty() && !writer_done_) finished_work_.Wait(&mutex_);
      if (finished_.empty()) return;
      finished = std::move(finished_.front());
      finished_.pop_front();
    }
    for (Pending& pending : finished) {
      std::move(pending.done)(std::move(pending.answer));
      // Frees what it holds, perhaps a lock, before the others are answered.
      pending.done = nullptr;
    }
  }
}

Worker::Next Committer::Sync() {
  const absl::Status status = db_->SyncLog();
  if (!status.ok()) {
    LOG_EVERY_N(ERROR, 100) << "committer: sync failed status=" << status;
  }
  return Worker::Next::WhenWoken(absl::Milliseconds(options_.sync_interval_ms));
}

}  // namespace armature::store
