#include "engine/backup/table_restore.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/backup/loaded_chunks.h"
#include "engine/parts.h"
#include "glog/logging.h"
#include "index/index_delta.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"

namespace armature::engine {
namespace {

constexpr absl::Duration kAbandonEvery = absl::Seconds(1);
// Rows committed together: enough to make the fsync cheap, few enough not to delay clients' writes.
constexpr size_t kChunkRows = 500;
constexpr size_t kChunkBytes = 1 << 20;

absl::Status StoppingError() { return absl::CancelledError("the server is about to stop"); }

absl::StatusOr<PinnedTable> Pin(const Parts& parts, TableId id) {
  PinnedTable pinned{parts.database->catalog()->Hold(id)};
  if (pinned.table == nullptr) return absl::NotFoundError("the table is gone");
  return pinned;
}

bool IsThrottling(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->type == ApiErrorType::kThrottling;
}

// Changes of rows behind a base, the last one of each row; nullopt: the row is gone.
using RowChanges = std::map<std::string, std::optional<std::string>, std::less<>>;
// Limit on the bytes of these, with what each takes in the map. Rows that are written often cost one write then.
constexpr size_t kChangesBytes = size_t{32} << 20;
constexpr size_t kChangeOverhead = 128;

size_t SizeOf(const std::optional<std::string>& value) { return value.has_value() ? value->size() : 0; }

// Collects rows of one table and commits them. Used by one thread.
class RowLoader {
 public:
  RowLoader(Parts* parts, PinnedTable pinned, StopSignal* stopping)
      : parts_(parts), pinned_(std::move(pinned)), stopping_(stopping) {}

  // `value` is the row as stored. Errors: DataLoss; those of Commits::CommitAll.
  absl::Status Add(std::string_view key, std::string_view value) {
    return AddChange({.key = std::string(key), .before = {}, .after = std::string(value)});
  }

  // Writes changes of rows. `may_be_there`: the table may have some of the rows already.
  absl::Status Apply(const RowChanges& changes, bool may_be_there) {
    ARM_RETURN_IF_ERROR(Flush());
    for (const auto& [key, after] : changes) {
      std::optional<std::string> before;
      if (may_be_there) {
        ARM_ASSIGN_OR_RETURN(before, Find(key));
      }
      if (!before.has_value() && !after.has_value()) continue;
      ARM_RETURN_IF_ERROR(AddChange({.key = key, .before = std::move(before), .after = after}));
    }
    return Flush();
  }

  absl::Status Flush() {
    if (rows_.empty()) return absl::OkStatus();
    absl::StatusOr<ChangeSequence> committed = Commit();
    // The commit queue is full of clients' writes.
    while (IsThrottling(committed.status())) {
      if (stopping_->WaitFor(kLoadPatience)) return StoppingError();
      committed = Commit();
    }
    if (!committed.ok()) return committed.status();
    rows_.clear();
    bytes_ = 0;
    // Pins the table anew, because an index that is removed meanwhile is dropped when no one holds the earlier state.
    ARM_ASSIGN_OR_RETURN(pinned_, Pin(*parts_, pinned_.table->descriptor.id));
    return chunks_.Add(*pinned_.table, *committed);
  }

  // Waits until the indexes contain all rows.
  absl::Status AwaitIndexes() { return chunks_.AwaitAll(*pinned_.table); }

 private:
  // A row before and after its change; nullopt: there is none.
  struct Change {
    std::string key;
    std::optional<std::string> before;
    std::optional<std::string> after;
  };

  absl::StatusOr<std::optional<std::string>> Find(std::string_view key) const {
    std::string value;
    ARM_ASSIGN_OR_RETURN(const store::GetResult found,
                         parts_->database->rows().Get(pinned_.table->data, key, store::ReadMode::kMayBlock, &value));
    return found == store::GetResult::kFound ? std::optional(std::move(value)) : std::nullopt;
  }

  absl::Status AddChange(Change change) {
    bytes_ += change.key.size() + SizeOf(change.before) + SizeOf(change.after);
    rows_.push_back(std::move(change));
    return rows_.size() < kChunkRows && bytes_ < kChunkBytes ? absl::OkStatus() : Flush();
  }

  // The image of a row as stored, and what it counts for.
  static absl::StatusOr<std::optional<index::ItemImage>> ImageOf(const std::optional<std::string>& value, int sign,
                                                                 store::StatsDelta* delta) {
    if (!value.has_value()) return std::nullopt;
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, codec::ParseStoredItem(*value));
    delta->items += sign;
    delta->bytes += sign * static_cast<int64_t>(stored.api_size);
    return index::ItemImage(stored.item, {stored.api_size, stored.compact_numbers});
  }

  absl::StatusOr<store::WriteUnit> UnitOf(const Change& change) const {
    const store::Table& table = *pinned_.table;
    store::StatsDelta delta{0, 0};
    ARM_ASSIGN_OR_RETURN(const std::optional<index::ItemImage> before, ImageOf(change.before, -1, &delta));
    ARM_ASSIGN_OR_RETURN(const std::optional<index::ItemImage> after, ImageOf(change.after, 1, &delta));
    store::WriteUnit unit(pinned_.table);
    if (change.after.has_value()) {
      unit.Put(table.data, change.key, *change.after);
    } else {
      unit.Delete(table.data, change.key);
    }
    unit.AddStats(table.data, delta);
    if (!table.has_indexes()) return unit;
    const index::ItemDelta changes(table.descriptor.key, before, after);
    index::AddLocalIndexChanges(table, change.key, delta, changes.ChangesOf(table.local_indexes), &unit);
    index::RecordGlobalIndexChanges(table, change.key, absl::ToUnixMillis(absl::Now()),
                                    changes.ChangesOf(table.global_indexes), &unit);
    return unit;
  }

  absl::StatusOr<ChangeSequence> Commit() const {
    std::vector<store::WriteUnit> units;
    for (const Change& change : rows_) {
      ARM_ASSIGN_OR_RETURN(store::WriteUnit unit, UnitOf(change));
      units.push_back(std::move(unit));
    }
    return Await<absl::StatusOr<ChangeSequence>>(
        [&](auto then) { parts_->database->commits().CommitAll(std::move(units), std::move(then)); });
  }

  Parts* const parts_;
  PinnedTable pinned_;
  StopSignal* const stopping_;
  std::vector<Change> rows_;  // of the next chunk; each row once
  size_t bytes_ = 0;
  LoadedChunks chunks_{parts_, [this] { return stopping_->is_stopped(); }};
};

// Rests between segments while clients write, as index builds do. Used by one thread.
class SegmentPace {
 public:
  SegmentPace(const Parts* parts, StopSignal* stopping) : parts_(parts), stopping_(stopping) {}

  // False: the server stops.
  bool Rest() {
    const double share = parts_->options.index_build.share_under_load;
    const uint64_t units = parts_->database->commits().counters().units;
    const bool is_loaded = std::exchange(units_seen_, units) != units;
    const absl::Duration worked = absl::Nanoseconds(MonotonicNs() - begin_ns_);
    const bool is_stopped =
        is_loaded ? stopping_->WaitFor(std::min(worked * ((1 - share) / share), kRestMax)) : stopping_->is_stopped();
    begin_ns_ = MonotonicNs();
    return !is_stopped;
  }

 private:
  static constexpr absl::Duration kRestMax = absl::Milliseconds(200);

  const Parts* const parts_;
  StopSignal* const stopping_;
  uint64_t units_seen_ = 0;
  int64_t begin_ns_ = MonotonicNs();
};

}  // namespace

void TableRestores::Start(Restore restore) {
  pool_.RunAdmitted([this, restore = std::move(restore)]() mutable { Run(std::move(restore)); });
}

void TableRestores::Run(Restore restore) {
  const int64_t start_ns = MonotonicNs();
  absl::Status status = Fill(restore);
  if (restore.place != nullptr) status = store::ErrorIn(*restore.place, status);
  if (stopping_.is_stopped()) return;
  // Before the table becomes visible: clients may delete the backup then.
  restore.backup.reset();
  restore.place.reset();
  restore.past.reset();
  if (status.ok()) status = parts_->database->tables().FinishRestore(restore.target);
  if (status.ok()) {
    LOG(INFO) << "restore: done table=" << restore.target.value()
              << " took_ms=" << (MonotonicNs() - start_ns) / 1'000'000;
    return;
  }
  LOG(ERROR) << "restore: failed, deleting the table table=" << restore.target.value() << " status=" << status;
  // Retried until it succeeds: the table's rows may be what fills the disk.
  absl::Status abandoned = parts_->database->tables().AbandonRestore(restore.target);
  while (!abandoned.ok()) {
    LOG_EVERY_N(ERROR, 60) << "restore: cannot delete the table yet status=" << abandoned;
    if (stopping_.WaitFor(kAbandonEvery)) return;
    abandoned = parts_->database->tables().AbandonRestore(restore.target);
  }
}

absl::Status TableRestores::Fill(const Restore& restore) {
  while (!parts_->database->tables().AwaitOpen(restore.target, kLoadPatience)) {
    if (stopping_.is_stopped()) return StoppingError();
  }
  return restore.past != nullptr ? FillFromPast(restore) : FillFromBackup(restore);
}

absl::Status TableRestores::FillFromPast(const Restore& restore) {
  SegmentPace pace(parts_, &stopping_);
  const auto goes_on = [&pace] { return pace.Rest(); };
  // Before anything is written.
  ARM_RETURN_IF_ERROR(restore.past->CheckAll(goes_on));
  ARM_ASSIGN_OR_RETURN(PinnedTable pinned, Pin(*parts_, restore.target));
  RowLoader loader(parts_, std::move(pinned), &stopping_);
  RowChanges changes;
  size_t bytes = 0;
  bool has_base = false;
  // The rows of the base are written without those that have changed since, as far as the changes are known then.
  const auto load_base = [&]() -> absl::Status {
    absl::Status loaded;
    ARM_RETURN_IF_ERROR(restore.past->ReadBase([&](std::string_view key, std::string_view value) {
      if (stopping_.is_stopped()) {
        loaded = StoppingError();
      } else if (!changes.contains(key)) {
        loaded = loader.Add(key, value);
      }
      return loaded.ok() ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
    }));
    return loaded;
  };
  const auto write = [&]() -> absl::Status {
    const bool is_first = !std::exchange(has_base, true);
    if (is_first) ARM_RETURN_IF_ERROR(load_base());
    ARM_RETURN_IF_ERROR(loader.Apply(changes, /*may_be_there=*/!is_first));
    changes.clear();
    bytes = 0;
    return absl::OkStatus();
  };
  const auto collect = [&](std::string_view key, std::optional<std::string_view> value) -> absl::Status {
    const auto [at, is_new] = changes.try_emplace(std::string(key));
    std::optional<std::string>& change = at->second;
    if (is_new) bytes += key.size() + kChangeOverhead;
    bytes += value.value_or("").size();
    bytes -= SizeOf(change);
    change = value.has_value() ? std::optional<std::string>(*value) : std::nullopt;
    return bytes < kChangesBytes ? absl::OkStatus() : write();
  };
  ARM_RETURN_IF_ERROR(restore.past->ReadChanges(collect, goes_on));
  ARM_RETURN_IF_ERROR(write());
  return loader.AwaitIndexes();
}

absl::Status TableRestores::FillFromBackup(const Restore& restore) {
  ARM_ASSIGN_OR_RETURN(PinnedTable pinned, Pin(*parts_, restore.target));
  RowLoader loader(parts_, std::move(pinned), &stopping_);
  absl::Status loaded;
  ARM_RETURN_IF_ERROR(restore.backup->ReadTable(restore.source, [&](std::string_view key, std::string_view value) {
    loaded = stopping_.is_stopped() ? StoppingError() : loader.Add(key, value);
    return loaded.ok() ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
  }));
  ARM_RETURN_IF_ERROR(loaded);
  ARM_RETURN_IF_ERROR(loader.Flush());
  // The table is complete when its indexes are.
  return loader.AwaitIndexes();
}

absl::Status CheckRestoreTarget(const Parts& parts, std::string_view name) {
  const std::shared_ptr<const store::Table> table = parts.database->catalog()->Hold(name);
  if (table == nullptr) return absl::OkStatus();
  const model::TableDescriptor& descriptor = table->descriptor;
  if (!descriptor.is_being_restored() || descriptor.is_being_imported()) {
    return TableAlreadyExistsError(Cat("Table already exists: ", name));
  }
  const std::string& backup = descriptor.restore->backup_arn;
  return TableInUseError(
      Cat("Table: ", name, " is already being restored", backup.empty() ? "" : " from backup: ", backup));
}

absl::Status TooManyRestoresError() { return LimitExceededError("There are too many restores waiting for each other"); }

absl::StatusOr<TableDescription> StartRestore(Parts* parts, TableRestores::Restore restore,
                                              model::TableDescriptor target) {
  const std::string name = target.name;
  if (!parts->restores.HasRoom()) return TooManyRestoresError();
  absl::StatusOr<model::TableDescriptor> made = parts->database->tables().Create(std::move(target));
  if (!made.ok()) {
    // Another request may have made it meanwhile.
    ARM_RETURN_IF_ERROR(CheckRestoreTarget(*parts, name));
    return made.status();
  }
  restore.target = made->id;
  parts->restores.Start(std::move(restore));
  return DescribeWithoutTotals(*std::move(made));
}

}  // namespace armature::engine
