#include "storage/store/commit/committer.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
#include "storage/model/wire.h"
#include "storage/store/commit/index_rows.h"
#include "storage/store/commit/sorted_rows.h"
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

size_t ByteSize(const std::vector<WriteUnit>& units) {
  size_t bytes = 0;
  for (const WriteUnit& unit : units) bytes += unit.byte_size();
  return bytes;
}

uint64_t RecordsIn(const std::vector<WriteUnit>& units) {
  return static_cast<uint64_t>(
      std::count_if(units.begin(), units.end(), [](const WriteUnit& unit) { return unit.has_sequence(); }));
}

bool HasStreamRecord(const std::vector<WriteUnit>& units) {
  return std::any_of(units.begin(), units.end(), [](const WriteUnit& unit) { return unit.has_stream_record(); });
}

}  // namespace

absl::StatusOr<uint64_t> ParseCounter(std::string_view stored, const ColumnFamily& family) {
  uint64_t value = 0;
  if (!model::TakeVarint(&stored, &value))
    return DataLossError(Cat("counter in ", family.name(), ": expected a varint"));
  return value;
}

// Merges write units into one RocksDB batch. One object per batch, used by the writing thread.
class Committer::BatchBuilder {
 public:
  // How large a batch may become without the rows of indexes.
  struct Size {
    size_t bytes = 0;
    size_t rows = 0;
  };
  static Size SizeOf(const std::vector<Pending>& pending) {
    Size size;
    for (const Pending& p : pending) {
      for (const WriteUnit& unit : p.units) {
        size.bytes += unit.batch_bytes();
        size.rows += unit.ops().size();
      }
    }
    return size;
  }

  // `syncs`: the batch is synced before it is acknowledged. `size`: the room to make, so that it need not grow.
  BatchBuilder(RocksDb* db, const DatabaseOptions& options, bool syncs, Size size)
      : db_(db),
        counter_max_(options.item_collection_bytes_max),
        batch_(size.bytes),
        index_rows_(options.index_updates == IndexUpdates::kWithItem) {
    rows_.Reserve(size.rows);
    if (!syncs) batch_.PutLogData(EncodeSyncMark({db->synced_log(), /*is_unsynced_acknowledged=*/true}));
  }

  // Adds all units of one commit except the change records that are to be logged, or nothing on error.
  absl::Status Add(std::vector<WriteUnit>* units) {
    ARM_RETURN_IF_ERROR(AddToCounters(*units));
    for (WriteUnit& unit : *units) {
      AddRowsAndTotals(unit);
      if (unit.has_record() && index_rows_.Add(unit, &rows_, &stats_)) unit.LeaveOutChangeRecord();
    }
    return absl::OkStatus();
  }

  // `stream_batch`: null if no unit of the batch has a stream record.
  void AddRecords(const WriteUnit& unit, ChangeSequence sequence, StreamLog::Batch* stream_batch) {
    if (unit.has_stream_record()) {
      stream_batch->Add(unit.stream(), unit.stream_hash(), sequence, unit.stream_record(), &batch_);
    }
    if (unit.has_record()) AddRecord(unit, sequence);
  }

  void AddRecord(const WriteUnit& unit, ChangeSequence sequence) {
    batch_.Put(db_->log()->handle(), LogKey(unit.record_table(), sequence), unit.record());
    if (tables_.empty() || tables_.back() != unit.record_table()) tables_.push_back(unit.record_table());
    for (const WriteUnit::IndexOp& op : unit.index_ops()) {
      Waiting& waiting = waiting_[op.backlog];
      waiting.last = sequence;
      ++waiting.load.records;
      waiting.load.bytes += op.bytes;
    }
  }

  // Adds the written batch's records to the backlogs of their indexes. Called before readers of the log may see them.
  void CountBacklogs() {
    if (waiting_.empty()) return;
    const int64_t now_ms = absl::ToUnixMillis(absl::Now());
    for (const auto& [backlog, waiting] : waiting_) backlog->Append(waiting.last, now_ms, waiting.load);
  }

  // Adds the rows, counters and totals of the whole batch. From then on RollBack undoes the totals in memory.
  void Finish() {
    rows_.AddTo(&batch_);
    for (const auto& [place, counter] : counters_) {
      const auto& [family, key] = place;
      if (!counter.changed) continue;
      if (counter.value == 0) {
        batch_.Delete(family->handle(), key);
      } else {
        std::string encoded;
        model::AppendVarint(counter.value, &encoded);
        batch_.Put(family->handle(), key, encoded);
      }
    }
    for (const auto& [stats, delta] : stats_) {
      stats->Add(delta);
      batch_.Put(db_->meta()->handle(), StatsKey(stats->family_name()),
                 EncodeStats(StatsDelta{stats->items(), stats->bytes()}));
    }
  }

  void RollBack() {
    for (const auto& [stats, delta] : stats_) stats->Add(StatsDelta{-delta.items, -delta.bytes});
  }

  rocksdb::WriteBatch* batch() { return &batch_; }
  const std::vector<TableId>& tables() const { return tables_; }
  const IndexRows& index_rows() const { return index_rows_; }

 private:
  using CounterPlace = std::pair<ColumnFamily*, std::string>;
  struct Counter {
    uint64_t value = 0;
    bool changed = false;
  };

  struct Waiting {
    ChangeSequence last;
    BacklogLoad load;
  };

  void AddRowsAndTotals(const WriteUnit& unit) {
    rows_.Add(unit);
    for (const WriteUnit::StatsOp& op : unit.stats()) {
      StatsDelta& total = stats_[op.stats];
      total.items += op.delta.items;
      total.bytes += op.delta.bytes;
    }
  }

  // Changes all counters of one commit, or none of them.
  absl::Status AddToCounters(const std::vector<WriteUnit>& units) {
    std::map<CounterPlace, int64_t> growth;
    for (const WriteUnit& unit : units) {
      for (const WriteUnit::Op& op : unit.ops()) {
        if (op.kind == WriteUnit::OpKind::kCounter) growth[{op.family, std::string(unit.key(op))}] += op.delta;
      }
    }
    std::vector<std::pair<Counter*, uint64_t>> changes;
    std::vector<CollectionName> exceeded;
    for (const auto& [place, delta] : growth) {
      ARM_ASSIGN_OR_RETURN(Counter* const counter, FindCounter(place));
      const auto value = static_cast<uint64_t>(std::max<int64_t>(static_cast<int64_t>(counter->value) + delta, 0));
      if (delta > 0 && value > counter_max_) exceeded.push_back({NameOf(Keyspace{place.first}), place.second});
      changes.emplace_back(counter, value);
    }
    if (!exceeded.empty()) return ItemCollectionSizeLimitExceededError(exceeded);
    for (const auto& [counter, value] : changes) *counter = Counter{value, /*changed=*/true};
    return absl::OkStatus();
  }

  // The counter's value after the earlier commits of the batch.
  absl::StatusOr<Counter*> FindCounter(const CounterPlace& place) {
    if (const auto found = counters_.find(place); found != counters_.end()) return &found->second;
    const auto& [family, key] = place;
    Counter counter;
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> stored, db_->Get(*family, key));
    if (stored.has_value()) {
      ARM_ASSIGN_OR_RETURN(counter.value, ParseCounter(*stored, *family));
    }
    return &counters_.emplace(place, counter).first->second;
  }

  RocksDb* const db_;
  const uint64_t counter_max_;
  rocksdb::WriteBatch batch_;
  IndexRows index_rows_;
  SortedRows rows_;
  std::map<CounterPlace, Counter> counters_;
  TotalsChange stats_;
  absl::flat_hash_map<IndexBacklog*, Waiting> waiting_;
  std::vector<TableId> tables_;
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

std::optional<CommitEpoch> Committer::Commit(WriteUnit unit, CommitCallback done, const CommitTerms& terms) {
  std::vector<WriteUnit> units;
  units.push_back(std::move(unit));
  return CommitAll(std::move(units), std::move(done), terms);
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

absl::Status Committer::CheckRoom(size_t bytes, std::optional<CommitEpoch> decided_on) const {
  ARM_RETURN_IF_ERROR(CheckEpoch(decided_on));
  ARM_RETURN_IF_ERROR(CheckQueue(commits_, bytes, options_.commit_queue_bytes_max));
  if (absl::Status full = db_->space()->CheckClients(); !full.ok()) {
    db_->space()->CountRefused();
    return full;
  }
  return absl::OkStatus();
}

void Committer::Push(Load* load, Pending pending) {
  pending.load = load;
  ++load->count;
  load->bytes += pending.bytes;
  queue_.push_back(std::move(pending));
  if (writer_idle_) work_.Signal();
}

std::optional<CommitEpoch> Committer::CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                                const CommitTerms& terms) {
  const size_t unit_bytes = ByteSize(units);
  const size_t bytes = unit_bytes + terms.held_bytes;
  absl::Status refused;
  {
    const absl::MutexLock lock(&mutex_);
    refused = CheckRoom(bytes, terms.decided_on);
    if (refused.ok()) {
      Push(&commits_, Pending{std::move(units), std::move(done), bytes, unit_bytes});
      return epoch_;
    }
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
      const size_t unit_bytes = each.unit.byte_size();
      const size_t bytes = unit_bytes + each.terms.held_bytes;
      if (absl::Status refused = CheckRoom(bytes, each.terms.decided_on); !refused.ok()) {
        refusals.emplace_back(std::move(each.done), std::move(refused));
        continue;
      }
      queued[i] = epoch_;
      Pending pending{{}, std::move(each.done), bytes, unit_bytes};
      pending.units.push_back(std::move(each.unit));
      Push(&commits_, std::move(pending));
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

void Committer::ReleaseWritten(std::optional<ChangeSequence> first) {
  ReleaseKeptBack();
  if (first.has_value()) tickets_->Release(*first);
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

void Committer::Fail(const absl::Status& status, std::vector<Pending>* pending) {
  LOG_EVERY_N(ERROR, 100) << "committer: batch failed units=" << pending->size() << " status=" << status;
  // The state of the disk holds the text that clients may see.
  const absl::Status known = db_->space()->CheckEngine();
  const absl::Status& failure = known.ok() ? status : known;
  for (Pending& p : *pending) {
    if (p.answer.ok()) p.answer = failure;
  }
  FailQueue(failure, pending);
}

void Committer::WriteBatch(std::vector<Pending>& pending) {
  const bool syncs = options_.durability == Durability::kSync;
  BatchBuilder builder(db_, options_, syncs, BatchBuilder::SizeOf(pending));
  uint64_t records = 0;
  bool any = false;
  bool has_stream_records = false;
  for (Pending& p : pending) {
    if (absl::Status refused = builder.Add(&p.units); !refused.ok()) {
      p.answer = std::move(refused);
      continue;
    }
    any = any || !p.units.empty();
    records += RecordsIn(p.units);
    has_stream_records = has_stream_records || HasStreamRecord(p.units);
  }
  if (!any) return AnswerUnwritten(pending);
  if (const absl::Status reserved = ReserveSequences(records); !reserved.ok()) return Fail(reserved, &pending);
  // Before the sequences are taken: the changes of streams and segments need to know which records are theirs.
  std::optional<StreamLog::Batch> stream_batch;
  if (has_stream_records) stream_batch.emplace(streams_);
  const ChangeSequence first = TakeSequences(records);
  uint64_t next = first.value();
  for (Pending& p : pending) {
    if (!p.answer.ok()) continue;
    for (const WriteUnit& unit : p.units) {
      if (unit.has_sequence()) {
        builder.AddRecords(unit, ChangeSequence(next++), stream_batch.has_value() ? &*stream_batch : nullptr);
      }
    }
    p.answer = ChangeSequence(next - 1);
  }
  builder.Finish();
  ARM_FAULT_POINT("committer.before_write");
  const int64_t start_ns = MonotonicNs();
  const absl::Status status = db_->Write(builder.batch(), syncs, "commit");
  write_times_.Add(MonotonicNs() - start_ns);
  ARM_FAULT_POINT("committer.after_write");
  if (!status.ok()) {
    builder.RollBack();
    Fail(status, &pending);
  }
  if (status.ok() && stream_batch.has_value()) stream_batch->Written();
  if (status.ok()) {
    builder.CountBacklogs();
    index_changes_with_item_.fetch_add(builder.index_rows().added(), std::memory_order_relaxed);
    index_changes_logged_.fetch_add(builder.index_rows().logged(), std::memory_order_relaxed);
  }
  const auto taken = records > 0 ? std::optional(first) : std::nullopt;
  status.ok() ? ReleaseWritten(taken) : KeepBack(taken);
  if (status.ok() && stream_batch.has_value()) stream_batch->Readable();
  if (status.ok() && !builder.tables().empty()) log_->NotifyAppended(builder.tables());
}

void Committer::AnswerUnwritten(std::vector<Pending>& pending) const {
  // After a failed write, the restart decides which writes are there.
  const absl::Status known = db_->space()->CheckEngine();
  for (Pending& p : pending) {
    if (!p.answer.ok()) continue;
    p.answer = tickets_->watermark();
    if (!known.ok()) p.answer = known;
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
