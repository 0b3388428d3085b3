#include "index/gsi_applier.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/thread_pool.h"
#include "storage/codec/change_codec.h"

namespace armature::index {
namespace {

constexpr size_t kRunRecordsMax = 4096;
constexpr size_t kRunBytesMax = 4 << 20;
// Trimming is a range delete: rare enough to cost nothing, often enough to keep the log short.
constexpr size_t kTrimRecordsWhenDrained = 256;
constexpr size_t kTrimRecordsWhenBusy = 16'384;
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

struct RowChange {
  bool is_delete = false;
  std::string value;
};

// The changes of one run, collapsed.
struct Run {
  std::map<std::pair<IndexId, std::string>, RowChange> rows;
  std::map<IndexId, store::StatsDelta> totals;
};

absl::Status Collapse(const std::vector<store::Index>& indexes, ChangeSequence sequence, std::string_view bytes,
                      Run* run) {
  ARM_ASSIGN_OR_RETURN(const codec::ChangeRecord record, codec::ParseChangeRecord(bytes));
  for (const codec::IndexRowChange& change : record.index_changes) {
    const auto index = std::find_if(indexes.begin(), indexes.end(), [&](const store::Index& candidate) {
      return candidate.descriptor.id == change.index;
    });
    // An index that was dropped since, or one that is ahead of the others.
    if (index == indexes.end() || sequence <= index->progress->applied()) continue;
    RowChange& row = run->rows[{change.index, std::string(change.key)}];
    row.is_delete = change.is_delete;
    row.value.assign(change.value);
    store::StatsDelta& total = run->totals[change.index];
    total.items += change.item_delta;
    total.bytes += change.byte_delta;
  }
  return absl::OkStatus();
}

store::WriteUnit ToWriteUnit(const std::vector<store::Index>& indexes, const Run& run,
                             std::shared_ptr<const void> pin) {
  store::WriteUnit unit(std::move(pin));
  for (const store::Index& index : indexes) {
    const IndexId id = index.descriptor.id;
    for (auto row = run.rows.lower_bound({id, {}}); row != run.rows.end() && row->first.first == id; ++row) {
      if (row->second.is_delete) {
        unit.Delete(index.keyspace, row->first.second);
      } else {
        unit.Put(index.keyspace, row->first.second, row->second.value);
      }
    }
    if (const auto total = run.totals.find(id); total != run.totals.end()) {
      unit.AddStats(index.keyspace, total->second);
    }
  }
  return unit;
}

}  // namespace

GsiApplier::GsiApplier(store::Database* database) : database_(database) {}

GsiApplier::~GsiApplier() { Stop(); }

void GsiApplier::Start() {
  database_->change_log().SetConsumer(this);
  {
    const absl::MutexLock lock(&mutex_);
    const std::shared_ptr<const store::CatalogSnapshot> catalog = database_->catalog();
    for (const auto& [name, table] : catalog->tables()) {
      if (!table->global_indexes.empty()) Enqueue(table->descriptor.id);
    }
  }
  thread_ = std::thread([this] { Work(); });
}

void GsiApplier::Stop() {
  database_->change_log().SetConsumer(nullptr);
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    wake_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

void GsiApplier::OnAppended(const std::vector<TableId>& tables) {
  const absl::MutexLock lock(&mutex_);
  for (const TableId table : tables) Enqueue(table);
}

void GsiApplier::Enqueue(TableId table) {
  if (!queued_.try_emplace(table, true).second) return;
  queue_.push_back(table);
  wake_.Signal();
}

void GsiApplier::Work() {
  SetThreadName("arm-gsi");
  while (true) {
    TableId table;
    {
      const absl::MutexLock lock(&mutex_);
      while (queue_.empty() && !stopping_) wake_.Wait(&mutex_);
      if (stopping_) return;
      table = queue_.front();
      queue_.pop_front();
      queued_.erase(table);
    }
    const absl::StatusOr<bool> drained = RunOnce(table);
    const absl::MutexLock lock(&mutex_);
    if (!drained.ok()) {
      LOG_EVERY_N(ERROR, 60) << "gsi: run failed table=" << table.value() << " status=" << drained.status();
      if (!stopping_) wake_.WaitWithTimeout(&mutex_, kRetryAfter);
    }
    if (!drained.ok() || !*drained) Enqueue(table);
  }
}

absl::StatusOr<bool> GsiApplier::RunOnce(TableId table_id) {
  const std::shared_ptr<const store::CatalogSnapshot> snapshot = database_->catalog();
  const store::Table* const table = snapshot->Find(table_id);
  if (table == nullptr || table->lease == nullptr || table->global_indexes.empty()) {
    untrimmed_.erase(table_id);
    return true;
  }
  const std::vector<store::Index>& indexes = table->global_indexes;
  ChangeSequence from = indexes.front().progress->applied();
  for (const store::Index& index : indexes) from = std::min(from, index.progress->applied());

  store::ChangeLog& log = database_->change_log();
  Run run;
  ARM_ASSIGN_OR_RETURN(const store::ChangeLog::ReadOutcome outcome,
                       log.Read(table_id, from, log.watermark(), kRunRecordsMax, kRunBytesMax,
                                [&](ChangeSequence sequence, std::string_view record) {
                                  return Collapse(indexes, sequence, record, &run);
                                }));
  if (outcome.records > 0) {
    std::vector<std::pair<IndexId, ChangeSequence>> cursors;
    cursors.reserve(indexes.size());
    for (const store::Index& index : indexes) {
      cursors.emplace_back(index.descriptor.id, std::max(outcome.read_through, index.progress->applied()));
    }
    ARM_RETURN_IF_ERROR(database_->CommitConsumed(ToWriteUnit(indexes, run, snapshot), table_id, cursors));
  }
  for (const store::Index& index : indexes) index.progress->Advance(outcome.read_through);
  ARM_RETURN_IF_ERROR(MaybeTrim(table_id, outcome.read_through, outcome.records, outcome.drained));
  return outcome.drained;
}

absl::Status GsiApplier::MaybeTrim(TableId table, ChangeSequence through, size_t records, bool drained) {
  size_t& untrimmed = untrimmed_[table];
  untrimmed += records;
  if (untrimmed < (drained ? kTrimRecordsWhenDrained : kTrimRecordsWhenBusy)) return absl::OkStatus();
  untrimmed = 0;
  return database_->change_log().Trim(table, through);
}

}  // namespace armature::index
