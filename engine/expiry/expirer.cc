#include "engine/expiry/expirer.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/items/expiry_change.h"
#include "engine/items/row_commit.h"
#include "engine/items/row_mutation.h"
#include "engine/items/row_write.h"
#include "engine/parts.h"
#include "glog/logging.h"
#include "storage/base/deadline.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/codec/stored_item.h"
#include "storage/store/meta_keys.h"

namespace armature::engine {
namespace {

// A page holds the old images of its items until they are durable.
constexpr size_t kPageRows = 64;
constexpr size_t kScanRows = 512;
constexpr size_t kScanBytes = size_t{512} << 10;
// Share of time that the worker works, so that clients hardly notice it.
constexpr double kShare = 0.25;
constexpr absl::Duration kGiveWayMax = absl::Milliseconds(200);
constexpr absl::Duration kLockPatience = absl::Seconds(1);
// A sweep in this many begins at the oldest time: a row may become visible long after its write noted its time.
constexpr int kSweepsBetweenWhole = 64;

// The deletion of an item that has expired.
class ExpiredItem final : public RowMutation {
 public:
  ExpiredItem() : RowMutation(WriteKind::kDelete, {}) {}

  bool is_expiry() const override { return true; }
  absl::StatusOr<std::string> EncodeKey(const store::Table&) const override {
    return InternalError("expiry: the key of the row is known");
  }
  absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>&,
                                                    codec::CanonicalItem*) const override {
    return nullptr;
  }
};

bool IsOn(const store::Table& table) { return table.expiry.family != nullptr; }

uint32_t GenerationOf(const store::Table& table) { return table.descriptor.settings.time_to_live_generation; }

bool IsOpen(const store::Table& table) { return table.lease != nullptr && !table.descriptor.is_being_restored(); }

}  // namespace

// The rows of a page that are being deleted.
struct Expirer::Page {
  absl::Mutex mutex;
  size_t running ABSL_GUARDED_BY(mutex) = 0;
  uint64_t expired ABSL_GUARDED_BY(mutex) = 0;
  uint64_t done ABSL_GUARDED_BY(mutex) = 0;  // rows that are gone from the index
  int64_t least_left_ms ABSL_GUARDED_BY(mutex) = store::DueMark::kNone;
};

struct Expirer::Deletion final : RowJob {
  using RowJob::RowJob;

  std::shared_ptr<Page> page;
  int64_t due_ms = 0;
  RowWrite row;
  bool deletes_item = false;  // false: only the row of the index goes

  void Answer(absl::StatusOr<ChangeSequence> outcome) override {
    if (!outcome.ok()) {
      LOG_EVERY_N(WARNING, 1000) << "expiry: an item stays for now table=" << row.table().descriptor.name
                                 << " status=" << outcome.status();
    }
    const absl::MutexLock lock(&page->mutex);
    --page->running;
    if (!outcome.ok()) {
      page->least_left_ms = std::min(page->least_left_ms, due_ms);
      return;
    }
    ++page->done;
    if (deletes_item) ++page->expired;
  }
};

void Expirer::Start() {
  parts_->database->SetCatalogListener(this, [this] { worker_.Wake(); });
  worker_.Start();
}

void Expirer::Stop() {
  parts_->database->SetCatalogListener(this, nullptr);
  worker_.Stop();
}

ExpiryStats Expirer::stats() const {
  const absl::MutexLock lock(&mutex_);
  return stats_;
}

int64_t Expirer::NowMs() const {
  return parts_->options.unix_ms != nullptr ? parts_->options.unix_ms() : absl::ToUnixMillis(absl::Now());
}

Worker::Next Expirer::Work() {
  const bool has_more = RunOnce();
  PublishStats();
  return has_more ? Worker::Next::Share(kShare, kGiveWayMax) : Worker::Next::WhenWoken(parts_->live.expiry_interval());
}

bool Expirer::RunOnce() {
  // Held during the turn only: a table that is held cannot be dropped.
  const std::shared_ptr<const store::CatalogSnapshot> catalog = parts_->database->catalog();
  bool has_more = false;
  for (const auto& [name, table] : catalog->tables()) {
    if (!IsOpen(*table)) continue;
    // Most tables never had time to live.
    if (!IsOn(*table) && GenerationOf(*table) == 0) continue;
    const absl::StatusOr<bool> advanced = Advance(table, &tables_[table->descriptor.id]);
    if (advanced.ok()) {
      has_more = has_more || *advanced;
    } else {
      LOG_EVERY_N(ERROR, 60) << "expiry: failed table=" << name << " status=" << advanced.status();
    }
  }
  std::erase_if(tables_, [&catalog](const auto& entry) { return catalog->Find(entry.first) == nullptr; });
  return has_more;
}

absl::StatusOr<bool> Expirer::Advance(const std::shared_ptr<const store::Table>& table, TableWork* work) {
  if (!work->is_loaded) {
    absl::StatusOr<std::optional<store::ExpiryState>> state =
        parts_->database->expiry().ReadState(table->descriptor.id);
    if (absl::IsDataLoss(state.status())) {
      LOG(ERROR) << "expiry: filled again table=" << table->descriptor.name << " status=" << state.status();
      state = std::nullopt;
    }
    ARM_RETURN_IF_ERROR(state.status());
    work->state = *std::move(state);
    work->is_loaded = true;
  }
  const bool is_current = work->state.has_value() && work->state->generation == GenerationOf(*table);
  if (!IsOn(*table)) {
    work->waiting = 0;
    work->overdue_ms = 0;
    work->is_sweeping = false;
    if (is_current && work->state->phase == store::ExpiryPhase::kCleared) return false;
    return Clear(*table, store::ExpiryPhase::kCleared, work);
  }
  if (!is_current || work->state->phase == store::ExpiryPhase::kCleared) {
    return Clear(*table, store::ExpiryPhase::kScanning, work);
  }
  const bool is_filling = work->state->phase == store::ExpiryPhase::kScanning;
  if (is_filling) ARM_RETURN_IF_ERROR(ScanPage(*table, work));
  ARM_ASSIGN_OR_RETURN(const bool is_sweeping, Sweep(table, work));
  return is_filling || is_sweeping;
}

// Removes the rows of earlier generations, once no request can write any more of them.
absl::StatusOr<bool> Expirer::Clear(const store::Table& table, store::ExpiryPhase next, TableWork* work) {
  const TableId id = table.descriptor.id;
  if (!parts_->database->tables().IsKnownToAll(id)) return false;
  store::ExpiryState state{GenerationOf(table), next, ""};
  ARM_RETURN_IF_ERROR(parts_->database->expiry().Clear(id, state.generation, state));
  *work = TableWork();
  work->is_loaded = true;
  work->state = std::move(state);
  LOG(INFO) << "expiry: " << (next == store::ExpiryPhase::kCleared ? "off" : "filling")
            << " table=" << table.descriptor.name;
  return true;
}

absl::Status Expirer::ScanPage(const store::Table& table, TableWork* work) {
  const model::TableSettings& settings = table.descriptor.settings;
  store::ExpiryState state = *work->state;
  store::WriteUnit unit(nullptr);
  size_t rows = 0;
  size_t bytes = 0;
  std::string last_key;
  const auto visit = [&](std::string_view key, std::string_view value) {
    const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
    if (stored.ok()) {
      const std::optional<int64_t> due_ms = DueTimeMs(stored->item, settings.time_to_live_attribute);
      if (due_ms.has_value()) {
        unit.Put(table.expiry, store::ExpiryKey(table.descriptor.id, state.generation, *due_ms, key), {});
        table.due_mark->Note(*due_ms);
      }
    } else {
      // A malformed row cannot expire. A check of the table reports it.
      LOG_EVERY_N(ERROR, 100) << "expiry: skipped an unreadable row table=" << table.descriptor.name
                              << " status=" << stored.status();
    }
    bytes += value.size();
    last_key.assign(key);
    return ++rows < kScanRows && bytes < kScanBytes ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
  };
  ARM_ASSIGN_OR_RETURN(
      const store::RangeEnd end,
      parts_->database->rows().ReadRange(table.data, {state.next_key, ""}, store::Direction::kForward, visit));
  // The smallest key behind `last_key`.
  if (!last_key.empty()) state.next_key = last_key + '\0';
  if (end == store::RangeEnd::kReached) {
    state.phase = store::ExpiryPhase::kComplete;
    state.next_key.clear();
    LOG(INFO) << "expiry: filled table=" << table.descriptor.name;
  }
  ARM_RETURN_IF_ERROR(parts_->database->expiry().CommitScanned(unit, table.descriptor.id, state));
  work->state = std::move(state);
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------------------------------------------
// Sweeps.

absl::StatusOr<bool> Expirer::Sweep(const std::shared_ptr<const store::Table>& table, TableWork* work) {
  if (!work->is_sweeping) {
    if (work->sweep_end_ns != 0 &&
        MonotonicNs() - work->sweep_end_ns < absl::ToInt64Nanoseconds(parts_->live.expiry_interval())) {
      return false;
    }
    ARM_RETURN_IF_ERROR(BeginSweep(*table, work));
  }
  ARM_ASSIGN_OR_RETURN(std::vector<DueRow> rows, ReadDueRows(*table, work));
  if (rows.empty()) {
    EndSweep(work);
    return false;
  }
  work->overdue_ms = work->until_ms - std::min(work->least_left_ms, rows.front().due_ms);
  DeleteRows(table, std::move(rows), work);
  return true;
}

absl::Status Expirer::BeginSweep(const store::Table& table, TableWork* work) {
  const int64_t noted_ms = table.due_mark->Take();
  int64_t from_ms = std::min({work->swept_ms, work->noted_ms, noted_ms});
  work->noted_ms = noted_ms;
  if (++work->sweeps % kSweepsBetweenWhole == 0) from_ms = 0;
  work->until_ms = NowMs();
  from_ms = std::max(from_ms, work->until_ms - kExpiryAgeMaxMs);
  work->least_left_ms = store::DueMark::kNone;
  work->next_key = store::ExpiryKey(table.descriptor.id, GenerationOf(table), from_ms, {});
  uint64_t waiting = 0;
  const auto count = [&waiting](std::string_view, std::string_view) {
    return ++waiting < kCountMax ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
  };
  const std::string end = store::ExpiryKey(table.descriptor.id, GenerationOf(table), work->until_ms, {});
  if (work->next_key < end) {
    ARM_RETURN_IF_ERROR(parts_->database->rows()
                            .ReadRange(table.expiry, {work->next_key, end}, store::Direction::kForward, count)
                            .status());
  }
  work->waiting = waiting;
  work->is_sweeping = true;
  return absl::OkStatus();
}

void Expirer::EndSweep(TableWork* work) {
  work->is_sweeping = false;
  work->swept_ms = std::min(work->until_ms, work->least_left_ms);
  work->overdue_ms = work->until_ms - work->swept_ms;
  if (work->overdue_ms == 0) work->waiting = 0;
  work->sweep_end_ns = MonotonicNs();
}

absl::StatusOr<std::vector<Expirer::DueRow>> Expirer::ReadDueRows(const store::Table& table, TableWork* work) const {
  std::vector<DueRow> rows;
  const std::string end = store::ExpiryKey(table.descriptor.id, GenerationOf(table), work->until_ms, {});
  if (work->next_key >= end) return rows;
  std::string last_key;
  absl::Status malformed;
  const auto visit = [&](std::string_view key, std::string_view) {
    const std::optional<store::ExpiryKeyParts> parts = store::ParseExpiryKey(key);
    last_key.assign(key);
    if (!parts.has_value()) {
      malformed = DataLossError("expiry: a malformed key");
      return store::RowVerdict::kContinue;
    }
    rows.push_back({parts->due_ms, std::string(parts->row_key)});
    return rows.size() < kPageRows ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
  };
  ARM_RETURN_IF_ERROR(parts_->database->rows()
                          .ReadRange(table.expiry, {work->next_key, end}, store::Direction::kForward, visit)
                          .status());
  if (!malformed.ok()) {
    LOG_EVERY_N(ERROR, 60) << "expiry: table=" << table.descriptor.name << " status=" << malformed;
  }
  if (!last_key.empty()) work->next_key = last_key + '\0';
  return rows;
}

void Expirer::DeleteRows(const std::shared_ptr<const store::Table>& table, std::vector<DueRow> rows, TableWork* work) {
  const auto page = std::make_shared<Page>();
  {
    const absl::MutexLock lock(&page->mutex);
    page->running = rows.size();
  }
  for (DueRow& due : rows) {
    auto deletion = std::make_shared<Deletion>(parts_);
    deletion->token = parts_->waiting.Enter();
    deletion->rows = {&deletion->row};
    deletion->page = page;
    deletion->due_ms = due.due_ms;
    deletion->row.mutation = std::make_unique<ExpiredItem>();
    deletion->row.pinned.table = table;
    deletion->row.key = std::move(due.row_key);
    parts_->locks.Acquire(LockOf(*parts_, deletion->row), Deadline::After(kLockPatience),
                          [this, deletion](absl::StatusOr<store::LockTable::Guard> guard) {
                            if (!guard.ok()) return deletion->End(guard.status());
                            deletion->guard = *std::move(guard);
                            Delete(deletion);
                          });
  }
  const absl::MutexLock lock(&page->mutex);
  const auto has_ended = [&page] {
    page->mutex.AssertHeld();
    return page->running == 0;
  };
  page->mutex.Await(absl::Condition(&has_ended));
  work->least_left_ms = std::min(work->least_left_ms, page->least_left_ms);
  work->waiting -= std::min(work->waiting, page->done);
  const absl::MutexLock stats_lock(&mutex_);
  stats_.expired += page->expired;
}

void Expirer::Delete(const std::shared_ptr<Deletion>& deletion) {
  const absl::Status decided = Decide(deletion.get());
  if (!decided.ok()) return deletion->End(decided);
  if (deletion->deletes_item) return CommitDecided(deletion, decided);
  // The scan saw the item before it was changed.
  const RowWrite& row = deletion->row;
  const store::Table& table = row.table();
  store::WriteUnit unit(row.pinned.table);
  unit.Delete(table.expiry, store::ExpiryKey(table.descriptor.id, GenerationOf(table), deletion->due_ms, row.key));
  parts_->database->commits().Commit(
      std::move(unit), [deletion](absl::StatusOr<ChangeSequence> outcome) { deletion->End(std::move(outcome)); },
      {row.decided_on});
}

// Runs on the worker's thread or on the pool of lock holders, which may both wait for the disk.
absl::Status Expirer::Decide(Deletion* deletion) {
  RowWrite& row = deletion->row;
  ARM_RETURN_IF_ERROR(ReadBefore(*parts_, store::ReadMode::kMayBlock, /*with_collection=*/false, &row).status());
  std::optional<int64_t> due_ms;
  if (row.before.has_value()) {
    due_ms = DueTimeMs(row.before->item, row.table().descriptor.settings.time_to_live_attribute);
  }
  if (due_ms != deletion->due_ms) return absl::OkStatus();
  if (*due_ms >= NowMs()) return UnavailableError("the clock was set back");
  ARM_RETURN_IF_ERROR(MakeEffect(&row));
  ARM_RETURN_IF_ERROR(CheckBacklogs(*parts_, row));
  deletion->deletes_item = true;
  return absl::OkStatus();
}

void Expirer::PublishStats() {
  const absl::MutexLock lock(&mutex_);
  stats_.waiting = 0;
  stats_.overdue_ms = 0;
  stats_.filling = 0;
  for (const auto& [id, work] : tables_) {
    stats_.waiting += work.waiting;
    stats_.overdue_ms = std::max(stats_.overdue_ms, work.overdue_ms);
    if (work.state.has_value() && work.state->phase == store::ExpiryPhase::kScanning) ++stats_.filling;
  }
}

}  // namespace armature::engine
