#include "index/gsi_applier.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/thread_pool.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/store/log/index_backlog.h"

namespace armature::index {
namespace {

constexpr size_t kRunRecordsMax = 4096;
constexpr size_t kRunBytesMax = 4 << 20;
// Number of applied records, or the bytes of their rows, after which the log is trimmed. Trimming is a range delete:
// frequent enough to keep the log short, and rare enough to be cheap, since the reads after it sort the ranges that
// were deleted from a memtable.
constexpr size_t kTrimRecordsWhenDrained = 4096;
constexpr size_t kTrimRecordsWhenBusy = 16'384;
constexpr size_t kTrimBytes = 4 << 20;
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

using Indexes = std::vector<const store::Index*>;

// The collapsed changes of one run for one group of indexes. Rows point into the records of the run.
class Run {
 public:
  explicit Run(const Indexes& indexes) {
    targets_.reserve(indexes.size());
    for (const store::Index* const index : indexes) targets_.push_back({index, index->progress->applied()});
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Adds the changes of a record. Returns the bytes of their rows, or those that it keeps if they are more: a record
  // may have one item for many rows, and rows of indexes that are not in the group. Errors: DataLoss.
  absl::StatusOr<size_t> Add(ChangeSequence sequence, std::string_view bytes) {
    Record& record = records_.emplace_back();
    record.bytes.assign(bytes);
    ARM_ASSIGN_OR_RETURN(codec::ChangeRecord parsed, codec::ParseChangeRecord(record.bytes));
    record.joined = std::move(parsed.joined);
    size_t row_bytes = 0;
    bool is_used = false;
    for (const codec::IndexRowChange& change : parsed.index_changes) {
      if (!AddRow(sequence, change)) continue;
      is_used = true;
      row_bytes += codec::RowBytes(change);
    }
    const size_t kept_bytes = bytes.size() + (record.joined == nullptr ? 0 : record.joined->size());
    if (!is_used) records_.pop_back();
    return std::max(row_bytes, kept_bytes);
  }

  // Recomputes the totals from the stored rows. For a run of one index, which is under construction: it may hold
  // entries that are newer than the applied changes, so the recorded deltas do not fit.
  absl::Status CountByRows(const store::Database& database) {
    Target& target = targets_.front();
    target.total = {};
    std::string old_value;
    for (const auto& [key, row] : target.rows) {
      ARM_ASSIGN_OR_RETURN(const store::GetResult got,
                           database.rows().Get(target.index->keyspace, key, store::ReadMode::kMayBlock, &old_value));
      if (got == store::GetResult::kFound) {
        ARM_ASSIGN_OR_RETURN(const codec::StoredItemView old, codec::ParseStoredItem(old_value));
        --target.total.items;
        target.total.bytes -= static_cast<int64_t>(old.api_size);
      }
      if (row.is_delete) continue;
      // The head alone holds the size, except in records of earlier formats.
      const std::string_view head = row.head.empty() ? row.value : row.head;
      ARM_ASSIGN_OR_RETURN(const codec::StoredItemView item, codec::ParseStoredItem(head));
      ++target.total.items;
      target.total.bytes += static_cast<int64_t>(item.api_size);
    }
    return absl::OkStatus();
  }

  store::WriteUnit ToWriteUnit(std::shared_ptr<const void> pin) const {
    store::WriteUnit unit(std::move(pin));
    size_t rows = 0;
    uint64_t bytes = 0;
    for (const Target& target : targets_) {
      rows += target.rows.size();
      bytes += target.load.bytes;
    }
    unit.Reserve(rows, bytes);
    for (const Target& target : targets_) {
      const store::Keyspace& keyspace = target.index->keyspace;
      for (const auto& [key, row] : target.rows) {
        if (row.is_delete) {
          unit.Delete(keyspace, key);
        } else {
          unit.Put(keyspace, key, row.head, row.value);
        }
      }
      unit.AddStats(keyspace, target.total);
    }
    return unit;
  }

  // Tells the indexes that they have applied all changes up to `through`.
  void Applied(ChangeSequence through) const {
    for (const Target& target : targets_) {
      target.index->progress->backlog().Applied(through, target.load);
      target.index->progress->Advance(through);
    }
  }

 private:
  struct Record {
    std::string bytes;
    std::unique_ptr<const std::string> joined;
  };
  struct Row {
    bool is_delete = false;
    std::string_view head;
    std::string_view value;
  };
  struct Target {
    const store::Index* index;
    ChangeSequence applied;
    std::map<std::string_view, Row> rows = {};
    store::StatsDelta total = {};
    ChangeSequence last = {};
    store::BacklogLoad load = {};
  };

  // Returns false if the run has no index for the row.
  bool AddRow(ChangeSequence sequence, const codec::IndexRowChange& change) {
    const auto target = std::find_if(targets_.begin(), targets_.end(), [&](const Target& candidate) {
      return candidate.index->descriptor.id == change.index;
    });
    // Skips indexes that were dropped, belong to another group, or have applied this record already.
    if (target == targets_.end() || sequence <= target->applied) return false;
    target->rows[change.key] = {change.is_delete, change.value_head, change.value};
    if (target->last != sequence) ++target->load.records;
    target->last = sequence;
    target->load.bytes += codec::RowBytes(change);
    target->total.items += change.item_delta;
    target->total.bytes += change.byte_delta;
    return true;
  }

  std::deque<Record> records_;
  std::vector<Target> targets_;
};

// Indexes that are run together. Indexes under construction, and indexes that lag behind the others, form groups of
// their own, so that up-to-date indexes never wait. Groups that drain the log end at the same cursor, and merge.
std::vector<Indexes> GroupsOf(const store::Table& table, bool with_stalled) {
  std::map<ChangeSequence, Indexes> level;
  std::vector<Indexes> groups;
  for (const store::Index& index : table.global_indexes) {
    if (!index.is_maintained() || (index.progress->is_stalled() && !with_stalled)) continue;
    if (index.build == nullptr) {
      level[index.progress->applied()].push_back(&index);
    } else if (index.build->phase() == store::BuildPhase::kCatchingUp) {
      groups.push_back({&index});
    }
  }
  for (auto& [applied, group] : level) groups.push_back(std::move(group));
  return groups;
}

// Sequence up to which the log may be trimmed. Nullopt if the position of some index is not known yet.
std::optional<ChangeSequence> AppliedByAll(const store::Table& table) {
  std::optional<ChangeSequence> through;
  for (const store::Index& index : table.global_indexes) {
    if (!index.is_maintained()) continue;
    if (index.build != nullptr && index.build->phase() == store::BuildPhase::kWaiting) return std::nullopt;
    const ChangeSequence applied = index.progress->applied();
    through = std::min(through.value_or(applied), applied);
  }
  return through;
}

}  // namespace

GsiApplier::GsiApplier(store::Database* database, size_t threads)
    : database_(database), threads_count_(std::max<size_t>(threads, 1)) {}

GsiApplier::~GsiApplier() { Stop(); }

void GsiApplier::Start() {
  database_->change_log().SetConsumer(this);
  {
    const absl::MutexLock lock(&mutex_);
    const std::shared_ptr<const store::CatalogSnapshot> catalog = database_->catalog();
    for (const auto& [name, table] : catalog->tables()) {
      if (!table->global_indexes.empty()) Enqueue(table->descriptor.id, Wake::kWorker);
    }
  }
  for (size_t i = 0; i < threads_count_; ++i) threads_.emplace_back([this] { Work(); });
}

void GsiApplier::Stop() {
  database_->change_log().SetConsumer(nullptr);
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    wake_.Notify();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void GsiApplier::OnAppended(const std::vector<TableId>& tables) {
  const absl::MutexLock lock(&mutex_);
  for (const TableId table : tables) Enqueue(table, Wake::kWorker);
}

int64_t GsiApplier::EnqueueDue() {
  int64_t next_ns = kMonotonicNever;
  if (retry_at_ns_.empty()) return next_ns;
  const int64_t now_ns = MonotonicNs();
  for (auto it = retry_at_ns_.begin(); it != retry_at_ns_.end();) {
    if (it->second > now_ns) {
      next_ns = std::min(next_ns, it->second);
      ++it;
      continue;
    }
    Enqueue(it->first, Wake::kWorker);
    retry_at_ns_.erase(it++);
  }
  return next_ns;
}

void GsiApplier::Enqueue(TableId table, Wake wake) {
  const auto [state, is_new] = states_.try_emplace(table, State::kQueued);
  if (!is_new) {
    if (state->second == State::kRunning) state->second = State::kRunsAgain;
    return;
  }
  queue_.push_back(table);
  if (wake == Wake::kWorker) wake_.NotifyOne();
}

std::optional<GsiApplier::Taken> GsiApplier::Take() {
  const absl::MutexLock lock(&mutex_);
  int64_t next_ns = EnqueueDue();
  while (queue_.empty() && !stopping_) {
    wake_.Until(&mutex_, next_ns);
    next_ns = EnqueueDue();
  }
  if (stopping_) return std::nullopt;
  const TableId table = queue_.front();
  queue_.pop_front();
  states_[table] = State::kRunning;
  return Taken{table, !retry_at_ns_.contains(table)};
}

void GsiApplier::Finish(TableId table, const Turn& turn) {
  const absl::MutexLock lock(&mutex_);
  if (!turn.failed.ok()) {
    LOG_EVERY_N(ERROR, 60) << "gsi: changes cannot be applied, global indexes of the table stand still table="
                           << table.value() << " status=" << turn.failed;
    retry_at_ns_[table] = MonotonicAfter(kRetryAfter);
  }
  const auto state = states_.find(table);
  const bool again = state->second == State::kRunsAgain || !turn.drained;
  states_.erase(state);
  if (again) Enqueue(table, Wake::kNone);
}

void GsiApplier::Work() {
  SetThreadName("arm-gsi");
  while (const std::optional<Taken> taken = Take()) Finish(taken->table, RunTable(taken->table, taken->retries));
}

absl::StatusOr<bool> GsiApplier::RunOnce(TableId table) {
  const Turn turn = RunTable(table, /*retries=*/true);
  ARM_RETURN_IF_ERROR(turn.failed);
  return turn.drained;
}

GsiApplier::Turn GsiApplier::RunTable(TableId table_id, bool retries) {
  Turn turn;
  const std::shared_ptr<const store::CatalogSnapshot> snapshot = database_->catalog();
  const store::Table* const table = snapshot->Find(table_id);
  if (table == nullptr || table->lease == nullptr || table->global_indexes.empty()) {
    const absl::MutexLock lock(&mutex_);
    trims_.erase(table_id);
    return turn;
  }
  const ChangeSequence up_to = database_->change_log().watermark();
  size_t records = 0;
  size_t bytes = 0;
  for (const Indexes& group : GroupsOf(*table, retries)) {
    const absl::StatusOr<store::ChangeLog::ReadOutcome> outcome = RunGroup(snapshot, table_id, group, up_to);
    for (const store::Index* const index : group) index->progress->set_stalled(!outcome.ok());
    if (!outcome.ok()) {
      turn.failed.Update(outcome.status());
      continue;
    }
    turn.drained = turn.drained && outcome->drained;
    records += outcome->records;
    bytes += outcome->bytes;
  }
  turn.failed.Update(MaybeTrim(*table, records, bytes, turn.drained && turn.failed.ok()));
  return turn;
}

absl::StatusOr<store::ChangeLog::ReadOutcome> GsiApplier::RunGroup(
    const std::shared_ptr<const store::CatalogSnapshot>& snapshot, TableId table, const Indexes& indexes,
    ChangeSequence up_to) {
  const ChangeSequence from = indexes.front()->progress->applied();
  store::ChangeLog& log = database_->change_log();
  // A run contains records of this process or of earlier ones, never both, because they are counted apart.
  const bool ends_early = from < log.opened_at() && log.opened_at() < up_to;
  Run run(indexes);
  ARM_ASSIGN_OR_RETURN(
      store::ChangeLog::ReadOutcome outcome,
      log.Read(table, from, ends_early ? log.opened_at() : up_to, kRunRecordsMax, kRunBytesMax,
               [&run](ChangeSequence sequence, std::string_view record) { return run.Add(sequence, record); }));
  outcome.drained = outcome.drained && !ends_early;
  if (outcome.records > 0) {
    if (indexes.front()->build != nullptr) ARM_RETURN_IF_ERROR(run.CountByRows(*database_));
    std::vector<std::pair<IndexId, ChangeSequence>> cursors;
    cursors.reserve(indexes.size());
    for (const store::Index* const index : indexes) {
      cursors.emplace_back(index->descriptor.id, outcome.read_through);
    }
    ARM_RETURN_IF_ERROR(database_->change_log().CommitConsumed(run.ToWriteUnit(snapshot), table, cursors));
  }
  run.Applied(outcome.read_through);
  return outcome;
}

absl::Status GsiApplier::MaybeTrim(const store::Table& table, size_t records, size_t bytes, bool drained) {
  std::optional<ChangeSequence> through;
  {
    const absl::MutexLock lock(&mutex_);
    Trims& trims = trims_[table.descriptor.id];
    trims.records += records;
    trims.bytes += bytes;
    const size_t records_max = drained ? kTrimRecordsWhenDrained : kTrimRecordsWhenBusy;
    if (trims.records < records_max && trims.bytes < kTrimBytes) return absl::OkStatus();
    through = AppliedByAll(table);
    if (!through.has_value() || *through <= trims.through) return absl::OkStatus();
    trims = {.through = *through};
  }
  return database_->change_log().Trim(table.descriptor.id, *through);
}

}  // namespace armature::index
